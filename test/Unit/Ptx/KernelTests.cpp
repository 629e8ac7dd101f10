//===- KernelTests.cpp - Whole kernels against references in double
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels are those of test/Ptx/Inputs, each as nvcc and as clang compile
// it. Where a kernel touches each number
// once, the counted bytes have to be exactly those.
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace pipewright::ptx;

namespace {
class PtxKernels : public testing::TestWithParam<const char *> {
protected:
  std::shared_ptr<const Module> load(const std::string &name) {
    return loadModule(std::string(GetParam()) + "/" + name);
  }
};

void expectTraffic(const Counters &counters, const char *buffer,
                   size_t bytesRead, size_t bytesWritten) {
  const Traffic &traffic = counters.traffic.at(buffer);
  EXPECT_EQ(traffic.bytesRead, static_cast<int64_t>(bytesRead)) << buffer;
  EXPECT_EQ(traffic.bytesWritten, static_cast<int64_t>(bytesWritten)) << buffer;
}
} // namespace

TEST_P(PtxKernels, AddScalarsWithABound) {
  Machine machine(load("elementwise"));
  std::vector<float> x = makeNormal(1000, 1), y = makeNormal(1000, 2);
  Address px = machine.upload("x", x), py = machine.upload("y", y);
  Address pz = machine.allocate("z", 4000);
  LaunchResult result = machine.launch(Launch("add", {4}, {256})
                                           .argument(px)
                                           .argument(py)
                                           .argument(pz)
                                           .argument(1000));
  Counters counters = expectClean(result);
  std::vector<float> z = machine.download<float>(pz, 1000);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(z[i], x[i] + y[i]);
  expectTraffic(counters, "x", 4000, 0);
  expectTraffic(counters, "z", 0, 4000);
  // Neighbouring threads have neighbouring numbers.
  EXPECT_EQ(counters.traffic["x"].sectorsRead, 4000 / 32);
  EXPECT_EQ(counters.traffic["z"].sectorsWritten, 4000 / 32);
}

TEST_P(PtxKernels, AddVectors) {
  Machine machine(load("elementwise"));
  std::vector<float> x = makeNormal(1024, 1), y = makeNormal(1024, 2);
  Address px = machine.upload("x", x), py = machine.upload("y", y);
  Address pz = machine.allocate("z", 4096);
  Counters counters = expectClean(machine.launch(
      Launch("add_vec4", {4}, {64}).argument(px).argument(py).argument(pz)));
  std::vector<float> z = machine.download<float>(pz, 1024);
  for (int i = 0; i < 1024; ++i)
    EXPECT_EQ(z[i], x[i] + y[i]);
  expectTraffic(counters, "y", 4096, 0);
  expectTraffic(counters, "z", 0, 4096);
}

TEST_P(PtxKernels, AddInTheCallersMemory) {
  Machine machine(load("elementwise"));
  std::vector<float> x(64, 1.5f), y(64, 2.0f), z(64);
  machine.map("x", x.data(), 256);
  machine.map("y", y.data(), 256);
  machine.map("z", z.data(), 256);
  expectClean(machine.launch(Launch("add", {1}, {64})
                                 .argument(x.data())
                                 .argument(y.data())
                                 .argument(z.data())
                                 .argument(64)));
  EXPECT_EQ(z, std::vector<float>(64, 3.5f));
}

TEST_P(PtxKernels, Gelu) {
  Machine machine(load("elementwise"));
  std::vector<float> x = makeNormal(512, 3);
  Address px = machine.upload("x", x);
  std::vector<double> byTanh, byErf;
  for (double v : x) {
    double inner = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
    byTanh.push_back(0.5 * v * (1 + std::tanh(inner)));
    byErf.push_back(0.5 * v * (1 + std::erf(v * std::sqrt(0.5))));
  }
  auto run = [&](const char *name) {
    Address py = machine.allocate(name, 2048);
    expectClean(machine.launch(
        Launch(name, {2}, {256}).argument(px).argument(py).argument(512)));
    return machine.download<float>(py, 512);
  };
  expectNear(run("gelu_tanh"), byTanh, 3e-6, 1e-6);
  expectNear(run("gelu_erf"), byErf, 3e-6, 1e-6);
}

TEST_P(PtxKernels, AdamWTouchesEachNumberOnce) {
  constexpr int n = 768;
  Machine machine(load("elementwise"));
  std::vector<float> p = makeNormal(n, 1), g = makeNormal(n, 2),
                     m = makeNormal(n, 3), v = makeNormal(n, 4);
  for (float &value : v)
    value *= value;
  Address pp = machine.upload("p", p), pg = machine.upload("g", g);
  Address pm = machine.upload("m", m), pv = machine.upload("v", v);
  machine.protect(pg);
  float rate = 1e-2f, beta1 = 0.9f, beta2 = 0.95f, epsilon = 1e-8f;
  float decay = 0.1f, correction1 = 0.19f, correction2 = 0.0975f;
  Counters counters = expectClean(machine.launch(Launch("adamw", {3}, {256})
                                                     .argument(pp)
                                                     .argument(pg)
                                                     .argument(pm)
                                                     .argument(pv)
                                                     .argument(n)
                                                     .argument(rate)
                                                     .argument(beta1)
                                                     .argument(beta2)
                                                     .argument(epsilon)
                                                     .argument(decay)
                                                     .argument(correction1)
                                                     .argument(correction2)));
  std::vector<double> wantedP, wantedM, wantedV;
  for (int i = 0; i < n; ++i) {
    double gradient = g[i];
    double mean = double(beta1) * m[i] + (1 - double(beta1)) * gradient;
    double square =
        double(beta2) * v[i] + (1 - double(beta2)) * gradient * gradient;
    double step =
        mean / correction1 / (std::sqrt(square / correction2) + epsilon);
    wantedM.push_back(mean);
    wantedV.push_back(square);
    wantedP.push_back(p[i] - rate * (step + double(decay) * p[i]));
  }
  expectNear(machine.download<float>(pp, n), wantedP, 1e-6, 1e-6);
  expectNear(machine.download<float>(pm, n), wantedM, 1e-6, 1e-6);
  expectNear(machine.download<float>(pv, n), wantedV, 1e-6, 1e-6);
  expectTraffic(counters, "p", n * 4, n * 4);
  expectTraffic(counters, "g", n * 4, 0);
  expectTraffic(counters, "m", n * 4, n * 4);
  expectTraffic(counters, "v", n * 4, n * 4);
}

TEST_P(PtxKernels, SoftmaxOfRows) {
  constexpr int rows = 3, columns = 1000;
  Machine machine(load("rows"));
  std::vector<float> x = makeNormal(rows * columns, 5);
  Address px = machine.upload("x", x);
  Address py = machine.allocate("y", x.size() * 4);
  Counters counters =
      expectClean(machine.launch(Launch("softmax", {rows}, {128})
                                     .argument(px)
                                     .argument(py)
                                     .argument(columns)));
  std::vector<double> wanted;
  for (int row = 0; row < rows; ++row) {
    const float *values = x.data() + row * columns;
    double largest = *std::max_element(values, values + columns), sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += std::exp(values[i] - largest);
    for (int i = 0; i < columns; ++i)
      wanted.push_back(std::exp(values[i] - largest) / sum);
  }
  expectNear(machine.download<float>(py, x.size()), wanted, 5e-6);
  // Three passes over the row, and four barriers.
  expectTraffic(counters, "x", 3 * x.size() * 4, 0);
  expectTraffic(counters, "y", 0, x.size() * 4);
  EXPECT_EQ(counters.barriers, rows * 4);
}

/// Layer norm in double, of rows of \p columns.
static std::vector<double> normalize(const std::vector<float> &x,
                                     const std::vector<float> &scale,
                                     const std::vector<float> &bias) {
  std::vector<double> y;
  size_t columns = scale.size();
  for (size_t first = 0; first < x.size(); first += columns) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < columns; ++i)
      mean += x[first + i] / double(columns);
    for (size_t i = 0; i < columns; ++i)
      variance += (x[first + i] - mean) * (x[first + i] - mean) / columns;
    for (size_t i = 0; i < columns; ++i)
      y.push_back((x[first + i] - mean) / std::sqrt(variance + 1e-5) *
                      scale[i] +
                  bias[i]);
  }
  return y;
}

TEST_P(PtxKernels, LayerNorm) {
  constexpr int rows = 2, columns = 768;
  Machine machine(load("rows"));
  std::vector<float> x = makeNormal(rows * columns, 1),
                     scale = makeNormal(columns, 2),
                     bias = makeNormal(columns, 3);
  Address px = machine.upload("x", x), ps = machine.upload("scale", scale),
          pb = machine.upload("bias", bias);
  Address py = machine.allocate("y", x.size() * 4);
  expectClean(machine.launch(Launch("layer_norm_f32", {rows}, {256})
                                 .argument(px)
                                 .argument(ps)
                                 .argument(pb)
                                 .argument(py)
                                 .argument(columns)));
  expectNear(machine.download<float>(py, x.size()), normalize(x, scale, bias),
             2e-6, 2e-6);
}

/// Keeps the upper halves of floats: numbers that bf16 has.
static std::vector<uint16_t> truncateToBrain(std::vector<float> &values) {
  std::vector<uint16_t> halves;
  for (float &value : values) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    halves.push_back(static_cast<uint16_t>(bits >> 16));
    bits &= 0xFFFF0000;
    std::memcpy(&value, &bits, 4);
  }
  return halves;
}

TEST_P(PtxKernels, LayerNormOfBrainFloats) {
  constexpr int rows = 2, columns = 512;
  Machine machine(load("rows"));
  std::vector<float> x = makeNormal(rows * columns, 1),
                     scale = makeNormal(columns, 2),
                     bias = makeNormal(columns, 3);
  Address px = machine.upload("x", truncateToBrain(x)),
          ps = machine.upload("scale", truncateToBrain(scale)),
          pb = machine.upload("bias", truncateToBrain(bias));
  Address py = machine.allocate("y", x.size() * 2);
  expectClean(machine.launch(Launch("layer_norm_bf16", {rows}, {128})
                                 .argument(px)
                                 .argument(ps)
                                 .argument(pb)
                                 .argument(py)
                                 .argument(columns)));
  std::vector<float> y;
  for (uint16_t half : machine.download<uint16_t>(py, x.size())) {
    uint32_t bits = uint32_t(half) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    y.push_back(value);
  }
  // Half of bf16's last place.
  expectNear(y, normalize(x, scale, bias), 0x1.01p-8, 2e-6);
}

TEST_P(PtxKernels, CrossEntropy) {
  constexpr int rows = 4, columns = 333;
  Machine machine(load("rows"));
  std::vector<float> x = makeNormal(rows * columns, 5);
  std::vector<int> labels = {0, 332, 17, 200};
  Address px = machine.upload("x", x), pl = machine.upload("labels", labels);
  Address losses = machine.allocate("losses", rows * 4);
  Address gradient = machine.allocate("gradient", x.size() * 4);
  expectClean(machine.launch(Launch("cross_entropy", {rows}, {64})
                                 .argument(px)
                                 .argument(pl)
                                 .argument(losses)
                                 .argument(gradient)
                                 .argument(columns)));
  std::vector<double> wantedLosses, wantedGradient;
  for (int row = 0; row < rows; ++row) {
    const float *values = x.data() + row * columns;
    double sum = 0;
    for (int i = 0; i < columns; ++i)
      sum += std::exp(double(values[i]));
    for (int i = 0; i < columns; ++i)
      wantedGradient.push_back(std::exp(double(values[i])) / sum -
                               (i == labels[row]));
    wantedLosses.push_back(std::log(sum) - values[labels[row]]);
  }
  expectNear(machine.download<float>(losses, rows), wantedLosses, 2e-6);
  expectNear(machine.download<float>(gradient, x.size()), wantedGradient, 5e-6);
}

TEST_P(PtxKernels, GatherRows) {
  constexpr int columns = 100;
  Machine machine(load("memory"));
  std::vector<float> table = makeNormal(10 * columns, 1);
  std::vector<int> ids = {3, 9, 0, 3};
  Address pt = machine.upload("table", table), pi = machine.upload("ids", ids);
  Address py = machine.allocate("y", ids.size() * columns * 4);
  Counters counters = expectClean(machine.launch(Launch("gather", {4}, {64})
                                                     .argument(pt)
                                                     .argument(pi)
                                                     .argument(py)
                                                     .argument(columns)));
  std::vector<float> y = machine.download<float>(py, ids.size() * columns);
  for (size_t row = 0; row < ids.size(); ++row)
    for (int i = 0; i < columns; ++i)
      EXPECT_EQ(y[row * columns + i], table[ids[row] * columns + i]);
  expectTraffic(counters, "table", ids.size() * columns * 4, 0);
}

TEST_P(PtxKernels, ScatterAddWithAtomics) {
  constexpr int columns = 100;
  Machine machine(load("memory"));
  std::vector<float> dy = makeNormal(4 * columns, 1);
  std::vector<int> ids = {3, 9, 0, 3};
  Address pd = machine.upload("dy", dy), pi = machine.upload("ids", ids);
  Address pt = machine.upload("table", std::vector<float>(10 * columns));
  Counters counters =
      expectClean(machine.launch(Launch("scatter_add", {4}, {64})
                                     .argument(pd)
                                     .argument(pi)
                                     .argument(pt)
                                     .argument(columns)));
  std::vector<double> wanted(10 * columns);
  for (size_t row = 0; row < ids.size(); ++row)
    for (int i = 0; i < columns; ++i)
      wanted[ids[row] * columns + i] += dy[row * columns + i];
  expectNear(machine.download<float>(pt, 10 * columns), wanted, 1e-6);
  EXPECT_EQ(counters.traffic["table"].atomics, 4 * columns);
}

TEST_P(PtxKernels, TiledMatmul) {
  constexpr int m = 32, n = 48, k = 64;
  Machine machine(load("memory"));
  std::vector<float> a = makeNormal(m * k, 1), b = makeNormal(k * n, 2);
  Address pa = machine.upload("a", a), pb = machine.upload("b", b);
  Address pc = machine.allocate("c", m * n * 4);
  Counters counters =
      expectClean(machine.launch(Launch("matmul", {n / 16, m / 16}, {16, 16})
                                     .argument(pa)
                                     .argument(pb)
                                     .argument(pc)
                                     .argument(m)
                                     .argument(n)
                                     .argument(k)));
  std::vector<double> wanted(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        wanted[i * n + j] += double(a[i * k + l]) * b[l * n + j];
  expectNear(machine.download<float>(pc, m * n), wanted, 1e-5, 1e-5);
  // Each block reads its rows and columns once.
  expectTraffic(counters, "a", m * k * 4 * (n / 16), 0);
  expectTraffic(counters, "b", k * n * 4 * (m / 16), 0);
  EXPECT_EQ(counters.barriers, 2 * (k / 16) * (m / 16) * (n / 16));
}

TEST_P(PtxKernels, SumByShufflesDown) {
  constexpr int n = 5000;
  Machine machine(load("memory"));
  std::vector<float> x = makeNormal(n, 1);
  Address px = machine.upload("x", x);
  Address py = machine.upload("y", std::vector<float>(1));
  Counters counters = expectClean(machine.launch(Launch("sum_down", {3}, {256})
                                                     .shared(8 * 4)
                                                     .argument(px)
                                                     .argument(py)
                                                     .argument(n)));
  double wanted = std::accumulate(x.begin(), x.end(), 0.0);
  EXPECT_NEAR(machine.download<float>(py, 1)[0], wanted, 1e-4);
  expectTraffic(counters, "x", n * 4, 0);
}

TEST_P(PtxKernels, ReverseByAsynchronousCopies) {
  Machine machine(load("memory"));
  std::vector<float> x = makeNormal(512, 1);
  Address px = machine.upload("x", x), py = machine.allocate("y", 2048);
  expectClean(machine.launch(
      Launch("reverse_async", {2}, {256}).argument(px).argument(py)));
  std::vector<float> y = machine.download<float>(py, 512);
  for (int i = 0; i < 512; ++i)
    EXPECT_EQ(y[i], x[i / 256 * 256 + 255 - i % 256]);
}

TEST_P(PtxKernels, MatrixUnits) {
  Machine machine(load("matrices"));
  std::vector<float> a = makeNormal(256, 1), b = makeNormal(128, 2);
  Address pa = machine.upload("a", truncateToBrain(a)),
          pb = machine.upload("b", truncateToBrain(b));
  Address pc = machine.allocate("c", 512);
  expectClean(machine.launch(
      Launch("mma", {1}, {32}).argument(pa).argument(pb).argument(pc)));
  std::vector<double> wanted(128);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j)
      for (int l = 0; l < 16; ++l)
        wanted[i * 8 + j] += double(a[i * 16 + l]) * b[l * 8 + j];
  expectNear(machine.download<float>(pc, 128), wanted, 1e-7, 0);
}

INSTANTIATE_TEST_SUITE_P(Ptx, PtxKernels, testing::Values("nvcc", "clang"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
