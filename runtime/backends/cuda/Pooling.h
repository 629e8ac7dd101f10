//===- Pooling.h - Pooling on cuDNN -----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_POOLING_H
#define PPRT_BACKENDS_CUDA_POOLING_H

namespace pprt::cuda {

#if PPRT_CUDNN
/// Gives back how pooling of all shapes is described.
void forgetPooling();
#else
inline void forgetPooling() {}
#endif

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_POOLING_H
