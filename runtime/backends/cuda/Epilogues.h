//===- Epilogues.h - What follows products ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_EPILOGUES_H
#define PPRT_BACKENDS_CUDA_EPILOGUES_H

namespace pprt::cuda {

/// Forgets what was measured.
void forgetEpilogues();

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_EPILOGUES_H
