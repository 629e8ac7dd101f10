//===- Modules.h - Kernels on the device ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_MODULES_H
#define PPRT_BACKENDS_CUDA_MODULES_H

#include "pprt/Cuda.h"

namespace pprt::cuda {

/// What a device of compute capability \p chip runs best, or null: machine
/// code for it, or for an older one of its generation; else what the driver
/// compiles.
const PprtKernelImage *chooseImage(const PprtKernelModule &module, int chip);

/// Loads the kernels for the device of the calling thread, unless they are
/// there.
void loadModule(const PprtKernelModule &module);

/// Unloads the kernels of all modules.
void unloadModules();

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_MODULES_H
