//===- ConvolutionTests.cpp - Convolutions of the double of cuDNN ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The image [[1, 2, 3], [4, 5, 6]] and the weights [[1, 0], [0, -1]], without
// padding: [1 - 5, 2 - 6].
//
//===----------------------------------------------------------------------===//

#include "Faults.h"
#include "StreamTest.h"

#include <cudnn.h>

using namespace cudadouble;

namespace {
class Convolutions : public StreamTest {
protected:
  Convolutions() {
    cudnnCreate(&handle);
    cudnnSetStream(handle, stream);
    cudnnCreateTensorDescriptor(&x);
    cudnnCreateTensorDescriptor(&y);
    cudnnCreateFilterDescriptor(&w);
    cudnnCreateConvolutionDescriptor(&how);
    setSizes(x, 2, 3);
    setSizes(y, 1, 2);
    const int window[] = {1, 1, 2, 2}, zeros[] = {0, 0}, ones[] = {1, 1};
    cudnnSetFilterNdDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 4,
                               window);
    cudnnSetConvolutionNdDescriptor(how, 2, zeros, ones, ones,
                                    CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT);
    cudnnSetConvolutionMathType(how, CUDNN_FMA_MATH);
    image = upload({1, 2, 3, 4, 5, 6});
    weights = upload({1, 0, 0, -1});
    output = upload({10, 20});
  }
  ~Convolutions() override {
    cudnnDestroyConvolutionDescriptor(how);
    cudnnDestroyFilterDescriptor(w);
    cudnnDestroyTensorDescriptor(x);
    cudnnDestroyTensorDescriptor(y);
    cudnnDestroy(handle);
  }

  void setSizes(cudnnTensorDescriptor_t tensor, int height, int width) {
    const int sizes[] = {1, 1, height, width};
    const int strides[] = {height * width, height * width, width, 1};
    cudnnSetTensorNdDescriptor(tensor, CUDNN_DATA_FLOAT, 4, sizes, strides);
  }

  /// output = alpha (image by weights) + beta output
  cudnnStatus_t convolve(int algorithm, size_t workspace, float alpha = 1,
                         float beta = 0) {
    return cudnnConvolutionForward(
        handle, &alpha, x, image, w, weights, how,
        static_cast<cudnnConvolutionFwdAlgo_t>(algorithm), nullptr, workspace,
        &beta, y, output);
  }

  cudnnHandle_t handle;
  cudnnTensorDescriptor_t x, y;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t how;
  float *image, *weights, *output;
};
} // namespace

TEST_F(Convolutions, AddToWhatIsThere) {
  EXPECT_EQ(convolve(2, 256), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(download(output, 2), (Numbers{-4, -4}));
  EXPECT_EQ(convolve(2, 256, 2, 3), CUDNN_STATUS_SUCCESS);
  EXPECT_EQ(download(output, 2), (Numbers{-20, -20}));
  EXPECT_EQ(getFaults(), Faults());
}

TEST_F(Convolutions, FindGradientsThatAreAddedUpInAnyOrder) {
  cudnnConvolutionBwdDataAlgoPerf_t results[4];
  int count = 0;
  EXPECT_EQ(cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, w, y, how, x, 4,
                                                        &count, results),
            CUDNN_STATUS_SUCCESS);
  ASSERT_EQ(count, 3);
  EXPECT_EQ(results[0].determinism, CUDNN_NON_DETERMINISTIC);
  EXPECT_EQ(results[2].determinism, CUDNN_DETERMINISTIC);
  EXPECT_EQ(convolve(results[0].algo, 256), CUDNN_STATUS_SUCCESS);
  EXPECT_TRUE(has(getFaults(), "a convolution is computed in any order"));
}

TEST_F(Convolutions, WantTheirWorkspace) {
  EXPECT_EQ(convolve(2, 255), CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(convolve(1, 1 << 20), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(Convolutions, RefuseShapesThatDoNotFit) {
  setSizes(y, 1, 3);
  size_t bytes;
  EXPECT_EQ(cudnnGetConvolutionForwardWorkspaceSize(
                handle, x, w, how, y, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
                &bytes),
            CUDNN_STATUS_BAD_PARAM);
  EXPECT_EQ(convolve(2, 256), CUDNN_STATUS_BAD_PARAM);
}

TEST_F(Convolutions, AreNotChosenInAStep) {
  beginSteadyState();
  cudnnConvolutionFwdAlgoPerf_t result;
  int count;
  cudnnGetConvolutionForwardAlgorithm_v7(handle, x, w, how, y, 1, &count,
                                         &result);
  endSteadyState();
  EXPECT_TRUE(has(getFaults(), "is called in a step"));
}

// Each operand is read where it is written, on another stream and without an
// event.
TEST_F(Convolutions, RaceWithOtherStreams) {
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamSynchronize(stream);
  cudaMemsetAsync(weights, 0, 4 * sizeof(float), other);
  EXPECT_EQ(convolve(2, 256), CUDNN_STATUS_SUCCESS);
  cudaDeviceSynchronize();
  EXPECT_TRUE(has(getFaults(), "convolution on stream"));
}
