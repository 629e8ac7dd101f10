//===- StreamTest.h - A stream of the double, and numbers on it -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_UNIT_STREAMTEST_H
#define CUDADOUBLE_UNIT_STREAMTEST_H

#include "CudaDouble/Double.h"

#include "gtest/gtest.h"
#include <cstring>
#include <cuda_runtime_api.h>
#include <vector>

namespace cudadouble {

using Numbers = std::vector<float>;

class StreamTest : public testing::Test {
protected:
  StreamTest() {
    reset({});
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }

  float *upload(const Numbers &numbers) {
    void *pinned, *data;
    size_t bytes = numbers.size() * sizeof(float);
    cudaMallocHost(&pinned, bytes);
    memcpy(pinned, numbers.data(), bytes);
    cudaMalloc(&data, bytes);
    cudaMemcpyAsync(data, pinned, bytes, cudaMemcpyHostToDevice, stream);
    return static_cast<float *>(data);
  }

  Numbers download(const float *data, size_t count) {
    void *pinned;
    cudaMallocHost(&pinned, count * sizeof(float));
    cudaMemcpyAsync(pinned, data, count * sizeof(float), cudaMemcpyDeviceToHost,
                    stream);
    cudaStreamSynchronize(stream);
    auto *begin = static_cast<float *>(pinned);
    return Numbers(begin, begin + count);
  }

  cudaStream_t stream;
};

} // namespace cudadouble

#endif // CUDADOUBLE_UNIT_STREAMTEST_H
