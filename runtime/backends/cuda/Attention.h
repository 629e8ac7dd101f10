//===- Attention.h - Attention on cuDNN -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_ATTENTION_H
#define PPRT_BACKENDS_CUDA_ATTENTION_H

namespace pprt::cuda {

/// Gives back how the calling thread computes attention of all shapes.
void forgetAttention();

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_ATTENTION_H
