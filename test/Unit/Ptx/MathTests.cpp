//===- MathTests.cpp - CUDA's mathematical library
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library's functions are long sequences of all kinds of arithmetic. Their
// results have to be the host's, to the errors that CUDA documents.
//
//===----------------------------------------------------------------------===//

#include "KernelFile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace pipewright::ptx;

namespace {
struct Function {
  const char *name;
  double (*reference)(double);
};

constexpr Function functions[] = {
    {"sin", std::sin},
    {"cos", std::cos},
    {"exp", std::exp},
    {"exp2", std::exp2},
    {"expm1", std::expm1},
    {"log", std::log},
    {"log1p", std::log1p},
    {"tanh", std::tanh},
    {"erf", std::erf},
    {"erfc", std::erfc},
    {"atan", std::atan},
    {"cbrt", std::cbrt},
    {"sqrt", std::sqrt},
    {"floor", std::floor},
    {"ceil", std::ceil},
    {"trunc", std::trunc},
    {"round", std::round},
    {"rint", std::rint},
    {"pow", [](double x) { return std::pow(std::fabs(x), 1.75); }},
};

/// From subnormal to large numbers; sin of the largest needs the whole of pi.
const std::vector<double> inputs = {
    0.0,   -0.0,  1e-40, 1e-3, -0.02, 0.1,  0.3,   -0.45, 0.5,      0.75, 1.0,
    -1.3,  1.5,   2.0,   2.5,  -2.7,  3.14, 4.4,   -5.9,  7.77,     -8.5, 10.0,
    12.34, -15.5, 20.0,  33.3, 42.0,  88.1, 100.5, 1e4,   123456.0, 1e9};

class PtxMath : public testing::TestWithParam<const char *> {
protected:
  PtxMath() : machine(loadModule(std::string(GetParam()) + "/math")) {}

  template <typename T>
  std::vector<T> evaluate(const std::string &kernel, const std::vector<T> &x) {
    Address px = machine.upload("x", x);
    Address py = machine.allocate("y", x.size() * sizeof(T));
    LaunchResult result =
        machine.launch(Launch(kernel, {1}, {static_cast<uint32_t>(x.size())})
                           .argument(px)
                           .argument(py));
    EXPECT_TRUE(result.ok()) << result.describe();
    return machine.download<T>(py, x.size());
  }

  Machine machine;
};

/// That \p actual is within \p ulps units in the last place of \p wanted.
template <typename T>
void expectClose(T actual, T wanted, double ulps, const std::string &what) {
  if (std::isnan(wanted)) {
    EXPECT_TRUE(std::isnan(actual)) << what;
    return;
  }
  if (std::isinf(wanted)) {
    EXPECT_EQ(actual, wanted) << what;
    return;
  }
  T infinity = std::numeric_limits<T>::infinity();
  double ulp = std::nextafter(std::fabs(wanted), infinity) - std::fabs(wanted);
  EXPECT_LE(std::fabs(double(actual) - double(wanted)), ulps * ulp)
      << what << ": " << actual << ", wanted " << wanted;
}
} // namespace

TEST_P(PtxMath, SinglePrecision) {
  std::vector<float> x(inputs.begin(), inputs.end());
  for (const Function &function : functions) {
    std::vector<float> y = evaluate(std::string("f32_") + function.name, x);
    for (size_t i = 0; i < x.size(); ++i)
      expectClose(y[i], static_cast<float>(function.reference(x[i])), 5,
                  std::string(function.name) + " of " + std::to_string(x[i]));
  }
}

TEST_P(PtxMath, DoublePrecision) {
  for (const Function &function : functions) {
    std::vector<double> y =
        evaluate(std::string("f64_") + function.name, inputs);
    for (size_t i = 0; i < inputs.size(); ++i)
      expectClose(y[i], function.reference(inputs[i]), 6,
                  std::string(function.name) + " of " +
                      std::to_string(inputs[i]));
  }
}

TEST_P(PtxMath, HalfPrecision) {
  // Numbers that both formats have, and exponentials that neither overflows.
  std::vector<float> x = {-4, -2.5f, -1, -0.5f, 0, 0.25f, 1, 1.5f, 3, 8};
  std::vector<float> half = evaluate("f16_exp", x);
  std::vector<float> brain = evaluate("bf16_exp", x);
  for (size_t i = 0; i < x.size(); ++i) {
    double wanted = std::exp(x[i]);
    EXPECT_NEAR(half[i], wanted, 0x1.1p-11 * wanted) << x[i];
    EXPECT_NEAR(brain[i], wanted, 0x1.1p-8 * wanted) << x[i];
  }
}

INSTANTIATE_TEST_SUITE_P(Ptx, PtxMath, testing::Values("nvcc", "clang"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });
