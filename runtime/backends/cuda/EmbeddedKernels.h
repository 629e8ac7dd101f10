//===- EmbeddedKernels.h - The runtime's own kernels ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_EMBEDDEDKERNELS_H
#define PPRT_BACKENDS_CUDA_EMBEDDEDKERNELS_H

#include "pprt/Cuda.h"

namespace pprt::cuda {

/// Those of Updates.cu and Experts.cu, with numbers by CMakeLists.txt.
extern const PprtKernelModule updateKernels, expertKernels;

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_EMBEDDEDKERNELS_H
