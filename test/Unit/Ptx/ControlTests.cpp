//===- ControlTests.cpp - Loops, calls, switches and local memory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of test/Ptx/Inputs/control.cu, also as clang compiles them
// without optimization: then every variable is in local memory.
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace pipewright::ptx;

namespace {
class PtxControlKernels : public testing::TestWithParam<const char *> {
protected:
  std::shared_ptr<const Module> load(const std::string &name) {
    return loadModule(std::string(GetParam()) + "/" + name);
  }
};
} // namespace

TEST_P(PtxControlKernels, LoopsOfDifferentLength) {
  Machine machine(load("control"));
  std::vector<uint32_t> x(100);
  std::iota(x.begin(), x.end(), 1);
  Address px = machine.upload("x", x), py = machine.allocate("y", 400);
  Counters counters = expectClean(machine.launch(
      Launch("collatz", {1}, {128}).argument(px).argument(py).argument(100)));
  std::vector<int> steps = machine.download<int>(py, 100);
  for (int i = 0; i < 100; ++i) {
    int wanted = 0;
    for (uint64_t v = x[i]; v != 1; v = v % 2 ? 3 * v + 1 : v / 2)
      ++wanted;
    EXPECT_EQ(steps[i], wanted) << x[i];
  }
  EXPECT_GT(counters.divergentBranches, 0);
}

TEST_P(PtxControlKernels, CallsOfFunctions) {
  Machine machine(load("control"));
  std::vector<float> x = makeNormal(64, 1), y = makeNormal(64, 2);
  Address px = machine.upload("x", x), py = machine.upload("y", y);
  Address pz = machine.allocate("z", 256);
  expectClean(machine.launch(
      Launch("call", {1}, {64}).argument(px).argument(py).argument(pz)));
  std::vector<double> wanted;
  for (int i = 0; i < 64; ++i) {
    double squares = double(x[i]) * x[i] + double(y[i]) * y[i];
    wanted.push_back(i % 3 == 0 ? squares : std::sqrt(squares));
  }
  expectNear(machine.download<float>(pz, 64), wanted, 1e-6);
}

static int chooseOnHost(int which, int v) {
  switch (which) {
  case 0:
    return v + 7;
  case 1:
    return v * v * 3;
  case 2:
    return v / 5;
  case 3:
    return v ^ 0x55;
  case 4:
    return v ? __builtin_clz(v) : 32;
  case 5:
    return __builtin_popcount(v) << 4;
  case 6:
    return v % 11 - 4;
  default:
    return -1;
  }
}

TEST_P(PtxControlKernels, SwitchesAndLocalArrays) {
  Machine machine(load("control"));
  std::vector<int> which(64), x(64);
  for (int i = 0; i < 64; ++i) {
    which[i] = i * 5 % 9;
    x[i] = (i - 20) * 37;
  }
  Address pw = machine.upload("which", which), px = machine.upload("x", x);
  Address py = machine.allocate("y", 256);
  expectClean(machine.launch(
      Launch("choose", {1}, {64}).argument(pw).argument(px).argument(py)));
  std::vector<int> y = machine.download<int>(py, 64);
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(y[i], chooseOnHost(which[i], x[i])) << i;

  Address sorted = machine.allocate("sorted", 256);
  Counters counters = expectClean(machine.launch(
      Launch("sort_local", {1}, {4}).argument(px).argument(sorted)));
  EXPECT_GE(counters.traffic["local"].bytesWritten, 4 * 16 * 4);
  for (int i = 0; i < 4; ++i)
    std::sort(x.begin() + 16 * i, x.begin() + 16 * (i + 1));
  EXPECT_EQ(machine.download<int>(sorted, 64), x);
}

TEST_P(PtxControlKernels, WideIntegersAndDoubles) {
  Machine machine(load("control"));
  std::vector<int64_t> x = {1ll << 62, -3, 1000000007, 12},
                       y = {1ll << 40, 7, -998244353, 5};
  Address px = machine.upload("x", x), py = machine.upload("y", y);
  Address high = machine.allocate("high", 32),
          quotient = machine.allocate("quotient", 32),
          root = machine.allocate("root", 32);
  expectClean(machine.launch(Launch("long_math", {1}, {4})
                                 .argument(px)
                                 .argument(py)
                                 .argument(high)
                                 .argument(quotient)
                                 .argument(root)));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(machine.download<int64_t>(high, 4)[i],
              static_cast<int64_t>(static_cast<__int128>(x[i]) * y[i] >> 64));
    EXPECT_EQ(machine.download<int64_t>(quotient, 4)[i], x[i] / y[i]);
    EXPECT_EQ(machine.download<double>(root, 4)[i],
              std::sqrt(std::fma(double(x[i]), double(x[i]), double(y[i]))));
  }
}

TEST_P(PtxControlKernels, StructuresByValue) {
  struct Numbers {
    int values[8];
    float factor;
  };
  Machine machine(load("control"));
  Numbers numbers = {{10, 11, 12, 13, 14, 15, 16, 17}, 0.5f};
  Address out = machine.allocate("out", 32 * sizeof(Numbers));
  Address products = machine.allocate("products", 32 * 4);
  expectClean(machine.launch(Launch("by_value", {1}, {32})
                                 .argument(numbers)
                                 .argument(out)
                                 .argument(products)));
  std::vector<Numbers> results = machine.download<Numbers>(out, 32);
  std::vector<float> factors = machine.download<float>(products, 32);
  for (int i = 0; i < 32; ++i) {
    for (int j = 0; j < 8; ++j)
      EXPECT_EQ(results[i].values[j], j == i % 8 ? -i : 10 + j);
    EXPECT_EQ(results[i].factor, 1.0f);
    EXPECT_EQ(factors[i], (10 + i % 8) * 0.5f);
  }
}

INSTANTIATE_TEST_SUITE_P(Ptx, PtxControlKernels,
                         testing::Values("nvcc", "clang", "unoptimized"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
