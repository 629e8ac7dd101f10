//===- GeneratedTests.cpp - Kernels by way of MLIR's GPU dialect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace pipewright::ptx;

TEST(PtxGenerated, SoftmaxReadsAndWritesEachByteOnce) {
  constexpr int rows = 8, columns = 1024;
  Machine machine(loadModule("mlir/generated"));
  std::vector<float> x = makeNormal(rows * columns, 1);
  Address px = machine.upload("x", x);
  Address py = machine.allocate("y", x.size() * 4);
  LaunchResult result = machine.launch(
      Launch("softmax", {rows}, {256}).argument(px).argument(py));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<float> y = machine.download<float>(py, x.size());
  for (int row = 0; row < rows; ++row) {
    const float *values = x.data() + row * columns;
    double largest = *std::max_element(values, values + columns), sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += std::exp(values[i] - largest);
    for (int i = 0; i < columns; ++i) {
      double wanted = std::exp(values[i] - largest) / sum;
      ASSERT_NEAR(y[row * columns + i], wanted, 5e-6 * wanted);
    }
  }
  int64_t bytes = rows * columns * 4;
  EXPECT_EQ(result.counters.traffic["x"].bytesRead, bytes);
  EXPECT_EQ(result.counters.traffic["x"].sectorsRead, bytes / 32);
  EXPECT_EQ(result.counters.traffic["y"].bytesWritten, bytes);
  EXPECT_EQ(result.counters.traffic["y"].sectorsWritten, bytes / 32);
}

TEST(PtxGenerated, ScalesBrainFloats) {
  Machine machine(loadModule("mlir/generated"));
  std::vector<uint16_t> x(4096, 0x3F80); // 1.0
  std::vector<float> scale(256);
  for (int i = 0; i < 256; ++i)
    scale[i] = float(i) + 0x1p-9f; // Rounds to i from 1 on.
  Address px = machine.upload("x", x), ps = machine.upload("scale", scale);
  Address py = machine.allocate("y", 8192);
  LaunchResult result = machine.launch(
      Launch("scale", {16}, {32}).argument(px).argument(ps).argument(py));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<uint16_t> y = machine.download<uint16_t>(py, 4096);
  for (int i = 0; i < 4096; ++i) {
    uint32_t bits = uint32_t(y[i]) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    EXPECT_EQ(value, i % 256 ? float(i % 256) : 0x1p-9f) << i;
  }
  EXPECT_EQ(result.counters.traffic["x"].bytesRead, 8192);
}

TEST(PtxGenerated, SumsColumns) {
  Machine machine(loadModule("mlir/generated"));
  std::vector<float> x(64 * 128);
  for (int i = 0; i < 64 * 128; ++i)
    x[i] = float(i % 1000);
  Address px = machine.upload("x", x), py = machine.allocate("y", 512);
  LaunchResult result = machine.launch(
      Launch("column_sums", {4}, {32}).argument(px).argument(py));
  ASSERT_TRUE(result.ok()) << result.describe();
  std::vector<float> y = machine.download<float>(py, 128);
  for (int column = 0; column < 128; ++column) {
    float wanted = 0;
    for (int row = 0; row < 64; ++row)
      wanted += x[row * 128 + column];
    EXPECT_EQ(y[column], wanted);
  }
}

TEST(PtxGenerated, RowsBeyondTheBufferAreFound) {
  Machine machine(loadModule("mlir/generated"));
  Address px = machine.upload("x", makeNormal(8 * 1024, 1));
  Address py = machine.allocate("y", 8 * 4096);
  LaunchResult result =
      machine.launch(Launch("softmax", {9}, {256}).argument(px).argument(py));
  ASSERT_TRUE(result.has(FaultKind::OutOfBounds));
  EXPECT_NE(result.faults[0].message.find("thread (0,0,0) of block (8,0,0)"),
            std::string::npos)
      << result.faults[0].message;
}
