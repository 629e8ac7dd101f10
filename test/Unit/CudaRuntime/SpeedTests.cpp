//===- SpeedTests.cpp - How fast the runtime's kernels are ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records numbers for gpu-check, which judges them: bytes in a second, those of
// a copy of as many, and multiplications and additions in a second. The
// stand-in runs the same on little, for its checks.
//
//===----------------------------------------------------------------------===//

#include "AttentionWorkspace.h"
#include "DeviceTest.h"
#include "Machine.h"
#include "Timing.h"

#include "Updates.h"
#include "pprt/Cuda.h"

#include <cmath>

using namespace pprt;
using namespace pprt::cuda;

namespace {
class Speed : public DeviceTest {
protected:
  Speed() {
    if (isStandIn)
      return;
    // What products find in a rank.
    to.workspaceBytes = 32 << 20;
    check(cudaFree(to.workspace), "memory");
    check(cudaMalloc(&to.workspace, to.workspaceBytes), "memory");
  }

  template <typename T>
  T *allocateZeros(int64_t count) {
    auto *data = static_cast<T *>(allocate(count * sizeof(T)));
    check(cudaMemsetAsync(data, 0, count * sizeof(T), to.stream), "memory");
    return data;
  }

  template <typename WorkT>
  void recordBytes(const std::string &name, int64_t bytes, WorkT work) {
    RecordProperty(name, std::to_string(bytes / measureSeconds(work)));
    RecordProperty(name + "_copy",
                   std::to_string(bytes / measureCopySeconds(bytes)));
  }

  template <typename WorkT>
  void recordFlops(const std::string &name, double flops, WorkT work) {
    prepare(true);
    work();
    to.preparing = false;
    RecordProperty(name + "_flops",
                   std::to_string(flops / measureSeconds(work)));
  }
};
} // namespace

TEST_F(Speed, OfUpdates) {
  int64_t count = isStandIn ? 1 << 10 : 1 << 27;
  int64_t bytes = count * sizeof(float);
  auto *value = allocateZeros<float>(count);
  auto *gradient = allocateZeros<float>(count);
  auto *mean = allocateZeros<float>(count);
  auto *square = allocateZeros<float>(count);
  uint64_t tableBytes = getUpdateBytes(1);
  UpdateMemory memory = {static_cast<uint8_t *>(allocate(tableBytes)),
                         static_cast<uint8_t *>(allocatePinned(tableBytes)),
                         tableBytes};
  std::vector<ParameterUpdate> parameters = {
      {{value, count, false}, gradient, {mean, square}, 0.01}};
  prepareUpdates();
  UpdateRule adamW = {PPRT_ADAMW, 1e-3, 1, 0, 0.9, 0.95, 1e-8, 1};
  UpdateRule sgd = {PPRT_SGD, 1e-3, 1, 0.9, 0, 0, 0, 0};
  recordBytes("adamw", 7 * bytes, [&] { update(adamW, parameters, memory); });
  recordBytes("sgd", 5 * bytes, [&] { update(sgd, parameters, memory); });
  recordBytes("add", 3 * bytes, [&] { add({value, count, false}, gradient); });
  recordBytes("sum_of_squares", bytes,
              [&] { cuda::sumSquares({{gradient, count, false}}, memory); });
}

TEST_F(Speed, OfProducts) {
  int64_t size = isStandIn ? 16 : 8192;
  auto *a = allocateZeros<uint16_t>(size * size);
  auto *b = allocateZeros<uint16_t>(size * size);
  auto *c = allocateZeros<uint16_t>(size * size);
  double flops = 2.0 * double(size) * double(size) * double(size);
  recordFlops("matmul_bf16", flops, [&] {
    pprtCudaMatmulBF16(a, b, c, 1, size, size, size, 0, 0, 0, 0, 0, 0);
  });
  recordFlops("matmul_bf16_of_transposed", flops, [&] {
    pprtCudaMatmulBF16(a, b, c, 1, size, size, size, 0, 0, 0, 1, 0, 0);
  });
  // What follows is done by the library.
  auto *bias = allocateZeros<uint16_t>(size);
  auto *auxiliary = allocateZeros<uint16_t>(size * size);
  auto follow = [&](int64_t parts) {
    pprtCudaEpilogueBF16(a, b, c, bias, auxiliary, size, size, size, parts, 0,
                         0, 0);
  };
  recordFlops("matmul_bf16_with_gelu", flops, [&] {
    follow(PPRT_EPILOGUE_BIAS | PPRT_EPILOGUE_KEEP | PPRT_EPILOGUE_GELU);
  });
  recordFlops("matmul_bf16_with_gelu_gradient", flops,
              [&] { follow(PPRT_EPILOGUE_GELU_GRADIENT); });
  // All rows are of the first of eight experts.
  int64_t part = size / 8;
  auto *experts = allocateZeros<int64_t>(size);
  recordFlops("experts_bf16", flops / 8, [&] {
    pprtCudaExpertMatmulBF16(a, b, experts, c, nullptr, nullptr, size, 8, size,
                             part, 0);
  });
}

#if PPRT_CUDNN
TEST_F(Speed, OfAttention) {
  struct {
    int64_t batch, heads, groups, queries, keys, size, valueSize;
  } s = {2, 16, 16, 4096, 4096, 128, 128};
  if (isStandIn)
    s = {1, 2, 2, 8, 8, 8, 8};
  int64_t rows = s.batch * s.heads * s.queries;
  std::vector<uint16_t *> arrays(8);
  for (uint16_t *&array : arrays)
    array = allocateZeros<uint16_t>(rows * s.size);
  auto *statistics = allocateZeros<float>(rows);
  int64_t bytes = getAttentionWorkspace(s);
  void *workspace = allocate(bytes);
  // A query sees half of the keys; they are multiplied twice, and five times in
  // the gradient.
  double product = double(rows) * double(s.keys) * double(s.size);
  double scale = 1 / std::sqrt(double(s.size));
  recordFlops("attention_bf16", 2 * product, [&] {
    pprtCudaAttentionBF16(arrays[0], arrays[1], arrays[2], arrays[3],
                          statistics, s.batch, s.heads, s.groups, s.queries,
                          s.keys, s.size, s.valueSize, scale, /*causal=*/1);
  });
  recordFlops("attention_gradient_bf16", 5 * product, [&] {
    pprtCudaAttentionGradientBF16(
        arrays[4], arrays[0], arrays[1], arrays[2], arrays[3], statistics,
        arrays[5], arrays[6], arrays[7], workspace, bytes, s.batch, s.heads,
        s.groups, s.queries, s.keys, s.size, s.valueSize, scale, /*causal=*/1);
  });
}
#endif
