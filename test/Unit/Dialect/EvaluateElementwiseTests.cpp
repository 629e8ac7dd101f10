//===- EvaluateElementwiseTests.cpp - What elementwise ops compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionText.h"

using namespace pipewright::nn;

/// One op on one tensor of four floats.
static void expectUnary(const std::string &op, std::vector<double> x,
                        std::vector<double> expected) {
  SCOPED_TRACE(op);
  FunctionText text("nn.function @f(%x: tensor<4xf32>) -> tensor<4xf32> {"
                    "  %0 = nn." +
                    op +
                    " %x : tensor<4xf32>"
                    "  nn.return %0 : tensor<4xf32> }");
  expectFloats(text.evaluate({floats({4}, x)})[0], expected);
}

template <typename Number>
static Tensors evaluateBinary(const std::string &op, const std::string &type,
                              std::vector<Number> a, std::vector<Number> b) {
  FunctionText text("nn.function @f(%a: " + type + ", %b: " + type + ") -> " +
                    type + " { %0 = nn." + op + " %a, %b : " + type +
                    " nn.return %0 : " + type + " }");
  int64_t size = a.size();
  return text.evaluate({HostTensor({size}, a), HostTensor({size}, b)});
}

static void expectFloatBinary(const std::string &op,
                              std::vector<double> expected) {
  SCOPED_TRACE(op);
  expectFloats(evaluateBinary<double>(op, "tensor<4xf32>", {7, -7, 2.5, -0.5},
                                      {2, 2, -2, -0.5})[0],
               expected);
}

static void expectIntegerBinary(const std::string &op,
                                std::vector<int64_t> expected) {
  SCOPED_TRACE(op);
  expectIntegers(evaluateBinary<int64_t>(op, "tensor<4xi32>", {7, -7, 7, -7},
                                         {2, 2, -2, -2})[0],
                 expected);
}

TEST(EvaluateElementwise, FunctionsOfOneFloat) {
  std::vector<double> x = {-1.5, 0, 0.25, 2};
  expectUnary("neg", x, {1.5, 0, -0.25, -2});
  expectUnary("abs", x, {1.5, 0, 0.25, 2});
  expectUnary("sign", x, {-1, 0, 1, 1});
  expectUnary("exp", x, {0.22313016, 1, 1.28402542, 7.38905610});
  expectUnary("log", {1, 2, 0.5, 10}, {0, 0.69314718, -0.69314718, 2.30258509});
  expectUnary("sqrt", {0, 1, 4, 2}, {0, 1, 2, 1.41421356});
  expectUnary("rsqrt", {1, 4, 0.25, 2}, {1, 0.5, 2, 0.70710678});
  expectUnary("reciprocal", {1, 4, -0.25, 2}, {1, 0.25, -4, 0.5});
  expectUnary("tanh", x, {-0.90514825, 0, 0.24491866, 0.96402758});
  expectUnary("erf", x, {-0.96610515, 0, 0.27632639, 0.99532227});
  expectUnary("sin", x, {-0.99749499, 0, 0.24740396, 0.90929743});
  expectUnary("cos", x, {0.07073720, 1, 0.96891242, -0.41614684});
  expectUnary("sigmoid", x, {0.18242552, 0.5, 0.56217650, 0.88079708});
  expectUnary("relu", x, {0, 0, 0.25, 2});
  expectUnary("floor", x, {-2, 0, 0, 2});
  expectUnary("ceil", x, {-1, 0, 1, 2});
  expectUnary("gelu erf", x, {-0.10021080, 0, 0.14967658, 1.95449974});
  expectUnary("gelu tanh", x, {-0.10042842, 0, 0.14967535, 1.95459769});
}

TEST(EvaluateElementwise, FunctionsOfTwoFloats) {
  expectFloatBinary("add", {9, -5, 0.5, -1});
  expectFloatBinary("accumulate", {9, -5, 0.5, -1});
  expectFloatBinary("sub", {5, -9, 4.5, 0});
  expectFloatBinary("mul", {14, -14, -5, 0.25});
  expectFloatBinary("div", {3.5, -3.5, -1.25, 1});
  expectFloatBinary("mod", {1, 1, -1.5, 0});
  expectFloatBinary("max", {7, 2, 2.5, -0.5});
  expectFloatBinary("min", {2, -7, -2, -0.5});
  expectFloats(evaluateBinary<double>("pow", "tensor<4xf32>", {2, -2, 4, 9},
                                      {3, 2, -1, 0.5})[0],
               {8, 4, 0.25, 3});
}

// Division truncates and the remainder has the sign of the divisor.
TEST(EvaluateElementwise, FunctionsOfTwoIntegers) {
  expectIntegerBinary("add", {9, -5, 5, -9});
  expectIntegerBinary("sub", {5, -9, 9, -5});
  expectIntegerBinary("mul", {14, -14, -14, 14});
  expectIntegerBinary("div", {3, -3, -3, 3});
  expectIntegerBinary("mod", {1, 1, -1, -1});
  expectIntegerBinary("max", {7, 2, 7, -2});
  expectIntegerBinary("min", {2, -7, -2, -7});
}

TEST(EvaluateElementwise, IntegersWrapToTheirWidth) {
  expectIntegers(
      evaluateBinary<int64_t>("add", "tensor<2xi8>", {127, -128}, {1, -1})[0],
      {-128, 127});
  expectIntegers(
      evaluateBinary<int64_t>("mul", "tensor<1xi64>", {INT64_MAX}, {2})[0],
      {-2});
  expectIntegers(
      evaluateBinary<int64_t>("div", "tensor<1xi64>", {INT64_MIN}, {-1})[0],
      {INT64_MIN});
}

TEST(EvaluateElementwise, NoIntegerQuotientByZero) {
  FunctionText text(R"(
    nn.function @f(%a: tensor<1xi32>) -> tensor<1xi32> {
      %0 = nn.sub %a, %a : tensor<1xi32>
      %1 = nn.div %a, %0 : tensor<1xi32>
      nn.return %1 : tensor<1xi32>
    })");
  EXPECT_TRUE(text.evaluate({integers({1}, {3})}).empty());
  EXPECT_EQ(text.getDiagnostics(), "'nn.div' op divides by zero");
}

TEST(EvaluateElementwise, ComparisonsAndNaN) {
  FunctionText text(R"(
    nn.function @f(%a: tensor<4xf32>, %b: tensor<4xf32>)
        -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>,
            tensor<4xi1>, tensor<4xi1>) {
      %eq = nn.compare eq %a, %b : tensor<4xf32> -> tensor<4xi1>
      %ne = nn.compare ne %a, %b : tensor<4xf32> -> tensor<4xi1>
      %lt = nn.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1>
      %le = nn.compare le %a, %b : tensor<4xf32> -> tensor<4xi1>
      %gt = nn.compare gt %a, %b : tensor<4xf32> -> tensor<4xi1>
      %ge = nn.compare ge %a, %b : tensor<4xf32> -> tensor<4xi1>
      nn.return %eq, %ne, %lt, %le, %gt, %ge
          : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>,
            tensor<4xi1>, tensor<4xi1>
    })");
  Tensors results =
      text.evaluate({floats({4}, {1, 2, 3, NAN}), floats({4}, {2, 2, 2, NAN})});
  expectIntegers(results[0], {0, 1, 0, 0});
  expectIntegers(results[1], {1, 0, 1, 1});
  expectIntegers(results[2], {1, 0, 0, 0});
  expectIntegers(results[3], {1, 1, 0, 0});
  expectIntegers(results[4], {0, 0, 1, 0});
  expectIntegers(results[5], {0, 1, 1, 0});
}

TEST(EvaluateElementwise, Logic) {
  FunctionText text(R"(
    nn.function @f(%a: tensor<4xi1>, %b: tensor<4xi1>, %x: tensor<4xf32>)
        -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>) {
      %and = nn.and %a, %b : tensor<4xi1>
      %or = nn.or %a, %b : tensor<4xi1>
      %not = nn.not %a : tensor<4xi1>
      %y = nn.neg %x : tensor<4xf32>
      %select = nn.select %a, %x, %y : tensor<4xi1>, tensor<4xf32>
      nn.return %and, %or, %not, %select
          : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xf32>
    })");
  Tensors results =
      text.evaluate({integers({4}, {0, 0, 1, 1}), integers({4}, {0, 1, 0, 1}),
                     floats({4}, {1, 2, 3, 4})});
  expectIntegers(results[0], {0, 0, 0, 1});
  expectIntegers(results[1], {0, 1, 1, 1});
  expectIntegers(results[2], {1, 1, 0, 0});
  expectFloats(results[3], {-1, -2, 3, 4});
}

TEST(EvaluateElementwise, Casts) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<4xf32>, %i: tensor<4xi64>, %b: tensor<4xi1>)
        -> (tensor<4xi8>, tensor<4xi1>, tensor<4xf16>, tensor<4xi8>,
            tensor<4xi1>, tensor<4xf32>) {
      %0 = nn.cast %x : tensor<4xf32> -> tensor<4xi8>
      %1 = nn.cast %x : tensor<4xf32> -> tensor<4xi1>
      %2 = nn.cast %x : tensor<4xf32> -> tensor<4xf16>
      %3 = nn.cast %i : tensor<4xi64> -> tensor<4xi8>
      %4 = nn.cast %i : tensor<4xi64> -> tensor<4xi1>
      %5 = nn.cast %b : tensor<4xi1> -> tensor<4xf32>
      nn.return %0, %1, %2, %3, %4, %5
          : tensor<4xi8>, tensor<4xi1>, tensor<4xf16>, tensor<4xi8>,
            tensor<4xi1>, tensor<4xf32>
    })");
  Tensors results = text.evaluate({floats({4}, {-1.75, 0, 0.1, 300}),
                                   integers({4}, {-1, 0, 256, 300}),
                                   integers({4}, {0, 1, 1, 0})});
  expectIntegers(results[0], {-1, 0, 0, 127});
  expectIntegers(results[1], {1, 0, 1, 1});
  expectFloats(results[2], {-1.75, 0, 0.0999755859375, 300}, 0);
  expectIntegers(results[3], {-1, 0, 0, 44});
  expectIntegers(results[4], {1, 0, 1, 1});
  expectFloats(results[5], {0, 1, 1, 0});
}

TEST(EvaluateElementwise, RoundingIsOptional) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = nn.reciprocal %x : tensor<1xf32>
      nn.return %0 : tensor<1xf32>
    })");
  HostTensor three = floats({1}, {3});
  expectFloats(text.evaluate({three})[0], {1.0f / 3.0f}, 0);
  expectFloats(text.evaluate({three}, Rounding::None)[0], {1.0 / 3.0}, 0);
}
