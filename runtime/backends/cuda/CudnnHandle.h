//===- CudnnHandle.h - What a thread has of cuDNN ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_CUDNNHANDLE_H
#define PPRT_BACKENDS_CUDA_CUDNNHANDLE_H

namespace pprt::cuda {

#if PPRT_CUDNN
/// The calling thread has no more work for cuDNN, until it prepares anew.
void closeCudnn();
#else
inline void closeCudnn() {}
#endif

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_CUDNNHANDLE_H
