//===- PtxRunnerTests.cpp - Kernels on streams and between ranks ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is written by hand: data[i] = factor * data[i] + 1 for each of 64
// threads a block.
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include "CudaDouble/Double.h"

#include <cstring>
#include <cuda_runtime_api.h>

using namespace cudadouble;

static const char text[] = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry grow(.param .u64 data, .param .f32 factor)
{
  .reg .f32 %f<4>;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.f32 %f1, [factor];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 64, %r2;
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  fma.rn.f32 %f3, %f1, %f2, 0f3F800000;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

namespace {
class PtxRunner : public testing::Test {
protected:
  PtxRunner() {
    reset({});
    setKernelRunner(makePtxRunner());
    for (cudaStream_t *stream : {&first, &second})
      cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr,
                        0);
    cudaLibraryGetKernel(&kernel, library, "grow");
    cudaMalloc(reinterpret_cast<void **>(&data), count * sizeof(float));
    cudaMallocHost(reinterpret_cast<void **>(&pinned), count * sizeof(float));
  }

  void fill() { cudaMemsetAsync(data, 0, count * sizeof(float), first); }
  void grow(float factor, cudaStream_t stream, unsigned blocks = 2) {
    cudaLaunchConfig_t config = {};
    config.gridDim = {blocks, 1, 1};
    config.blockDim = {64, 1, 1};
    config.stream = stream;
    void *arguments[] = {&data, &factor};
    cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel),
                        arguments);
  }
  float read(size_t index) {
    cudaMemcpyAsync(pinned, data, count * sizeof(float), cudaMemcpyDeviceToHost,
                    first);
    cudaStreamSynchronize(first);
    return pinned[index];
  }

  static constexpr size_t count = 128;
  cudaStream_t first, second;
  cudaLibrary_t library;
  cudaKernel_t kernel;
  float *data, *pinned;
};
} // namespace

TEST_F(PtxRunner, ComputesInTheOrderOfAStream) {
  fill();
  grow(2, first);
  grow(3, first);
  EXPECT_EQ(read(0), 4);
  EXPECT_EQ(read(count - 1), 4);
  EXPECT_EQ(getFaults(), Faults());
}

TEST_F(PtxRunner, SeesThatKernelsRace) {
  fill();
  grow(2, first);
  EXPECT_EQ(getFaults(), Faults());
  grow(3, second); // no event
  EXPECT_TRUE(has(getFaults(), "race: kernel 'grow' on stream 1"));
}

TEST_F(PtxRunner, SeesThatAKernelReadsWhatIsNotThere) {
  grow(2, first);
  EXPECT_TRUE(has(getFaults(), "which nothing has written"));
}

TEST_F(PtxRunner, SeesThatAGridIsTooLarge) {
  fill();
  grow(2, first, /*blocks=*/3);
  EXPECT_TRUE(has(getFaults(), "kernel 'grow' on stream 0"));
  EXPECT_TRUE(has(getFaults(), "block"));
}
