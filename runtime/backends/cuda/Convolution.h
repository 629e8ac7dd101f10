//===- Convolution.h - Convolutions on cuDNN --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_CONVOLUTION_H
#define PPRT_BACKENDS_CUDA_CONVOLUTION_H

namespace pprt::cuda {

#if PPRT_CUDNN
/// Gives back how convolutions of all shapes are computed.
void forgetConvolutions();
#else
inline void forgetConvolutions() {}
#endif

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_CONVOLUTION_H
