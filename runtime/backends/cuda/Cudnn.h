//===- Cudnn.h - The functions of cuDNN that are called -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_CUDNN_H
#define PPRT_BACKENDS_CUDA_CUDNN_H

#include <cstdint>
#include <cudnn.h>

#define PPRT_CUDNN_FUNCTIONS(FUNCTION)                                         \
  FUNCTION(cudnnGetVersion)                                                    \
  FUNCTION(cudnnGetErrorString)                                                \
  FUNCTION(cudnnGetLastErrorString)                                            \
  FUNCTION(cudnnCreate)                                                        \
  FUNCTION(cudnnDestroy)                                                       \
  FUNCTION(cudnnSetStream)                                                     \
  FUNCTION(cudnnCreateTensorDescriptor)                                        \
  FUNCTION(cudnnDestroyTensorDescriptor)                                       \
  FUNCTION(cudnnSetTensorNdDescriptor)                                         \
  FUNCTION(cudnnCreateFilterDescriptor)                                        \
  FUNCTION(cudnnDestroyFilterDescriptor)                                       \
  FUNCTION(cudnnSetFilterNdDescriptor)                                         \
  FUNCTION(cudnnCreateConvolutionDescriptor)                                   \
  FUNCTION(cudnnDestroyConvolutionDescriptor)                                  \
  FUNCTION(cudnnSetConvolutionNdDescriptor)                                    \
  FUNCTION(cudnnSetConvolutionGroupCount)                                      \
  FUNCTION(cudnnSetConvolutionMathType)                                        \
  FUNCTION(cudnnGetConvolutionForwardAlgorithm_v7)                             \
  FUNCTION(cudnnGetConvolutionForwardWorkspaceSize)                            \
  FUNCTION(cudnnConvolutionForward)                                            \
  FUNCTION(cudnnGetConvolutionBackwardDataAlgorithm_v7)                        \
  FUNCTION(cudnnGetConvolutionBackwardDataWorkspaceSize)                       \
  FUNCTION(cudnnConvolutionBackwardData)                                       \
  FUNCTION(cudnnGetConvolutionBackwardFilterAlgorithm_v7)                      \
  FUNCTION(cudnnGetConvolutionBackwardFilterWorkspaceSize)                     \
  FUNCTION(cudnnConvolutionBackwardFilter)                                     \
  FUNCTION(cudnnCreatePoolingDescriptor)                                       \
  FUNCTION(cudnnDestroyPoolingDescriptor)                                      \
  FUNCTION(cudnnSetPoolingNdDescriptor)                                        \
  FUNCTION(cudnnPoolingForward)                                                \
  FUNCTION(cudnnPoolingBackward)                                               \
  FUNCTION(cudnnBackendCreateDescriptor)                                       \
  FUNCTION(cudnnBackendDestroyDescriptor)                                      \
  FUNCTION(cudnnBackendSetAttribute)                                           \
  FUNCTION(cudnnBackendGetAttribute)                                           \
  FUNCTION(cudnnBackendFinalize)                                               \
  FUNCTION(cudnnBackendExecute)

namespace pprt::cuda {

/// Programs without convolutions, pooling and attention run where there is no
/// cuDNN, so that nothing is linked with it.
struct Cudnn {
#define PPRT_CUDNN_FUNCTION(NAME) decltype(&::NAME) NAME;
  PPRT_CUDNN_FUNCTIONS(PPRT_CUDNN_FUNCTION)
#undef PPRT_CUDNN_FUNCTION
};

/// Loads the library at the first call, which is made while tasks are prepared;
/// ends the process, with what to do, where there is none.
const Cudnn &getCudnn();

/// For the stream of the calling thread, from its first use on.
cudnnHandle_t getCudnnHandle();

/// Device memory for a run on that stream: its own or, if that is too little,
/// what is allocated here, which is while tasks are prepared.
void *getCudnnWorkspace(uint64_t bytes);

/// Ends the process with \p what and the status's own text, unless it is
/// success.
void check(cudnnStatus_t status, const char *what);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_CUDNN_H
