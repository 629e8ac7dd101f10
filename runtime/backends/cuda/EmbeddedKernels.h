//===- EmbeddedKernels.h - The runtime's own kernels ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_EMBEDDEDKERNELS_H
#define PPRT_BACKENDS_CUDA_EMBEDDEDKERNELS_H

#include "pprt/Cuda.h"

namespace pprt::cuda {

/// Of Updates.cu, by the numbers that CMakeLists.txt gives them.
extern const PprtKernelModule updateKernels;

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_EMBEDDEDKERNELS_H
