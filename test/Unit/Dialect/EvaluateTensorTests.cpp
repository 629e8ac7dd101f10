//===- EvaluateTensorTests.cpp - What contractions, reductions and shape ops
// compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionText.h"

using namespace pipewright::nn;

TEST(EvaluateMatMul, EachFormIsTheSameProduct) {
  FunctionText text(R"(
    nn.function @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>)
        -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
      %at = nn.transpose %a [1, 0] : tensor<2x3xf32> -> tensor<3x2xf32>
      %bt = nn.transpose %b [1, 0] : tensor<3x2xf32> -> tensor<2x3xf32>
      %0 = nn.matmul %a, %b
          : tensor<2x3xf32>, tensor<3x2xf32> -> tensor<2x2xf32>
      %1 = nn.matmul %a, %bt transpose_rhs
          : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x2xf32>
      %2 = nn.matmul %at, %bt transpose_lhs transpose_rhs
          : tensor<3x2xf32>, tensor<2x3xf32> -> tensor<2x2xf32>
      nn.return %0, %1, %2
          : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
    })");
  Tensors results = text.evaluate({floats({2, 3}, {1, 2, 3, 4, 5, 6}),
                                   floats({3, 2}, {1, 0, -1, 2, 3, 1})});
  for (const HostTensor &result : results)
    expectFloats(result, {8, 7, 17, 16});
}

TEST(EvaluateMatMul, BatchesAreSeparate) {
  FunctionText text(R"(
    nn.function @f(%a: tensor<2x1x2xf32>, %b: tensor<2x2x1xf32>)
        -> tensor<2x1x1xf32> {
      %0 = nn.matmul %a, %b
          : tensor<2x1x2xf32>, tensor<2x2x1xf32> -> tensor<2x1x1xf32>
      nn.return %0 : tensor<2x1x1xf32>
    })");
  expectFloats(text.evaluate({floats({2, 1, 2}, {1, 2, 3, 4}),
                              floats({2, 2, 1}, {5, 6, 7, 8})})[0],
               {17, 53});
}

TEST(EvaluateReduction, EveryKind) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2x2x2xf32>)
        -> (tensor<2xf32>, tensor<f32>, tensor<2x2xf32>, tensor<2x2xf32>,
            tensor<2x2xf32>) {
      %sum = nn.reduce sum %x axes [0, 2] : tensor<2x2x2xf32> -> tensor<2xf32>
      %mean = nn.reduce mean %x axes [0, 1, 2]
          : tensor<2x2x2xf32> -> tensor<f32>
      %max = nn.reduce max %x axes [1] : tensor<2x2x2xf32> -> tensor<2x2xf32>
      %min = nn.reduce min %x axes [0] : tensor<2x2x2xf32> -> tensor<2x2xf32>
      %prod = nn.reduce prod %x axes [2]
          : tensor<2x2x2xf32> -> tensor<2x2xf32>
      nn.return %sum, %mean, %max, %min, %prod
          : tensor<2xf32>, tensor<f32>, tensor<2x2xf32>, tensor<2x2xf32>,
            tensor<2x2xf32>
    })");
  Tensors results =
      text.evaluate({floats({2, 2, 2}, {1, 2, 3, 4, -5, 6, 7, -8})});
  expectFloats(results[0], {4, 6});
  expectFloats(results[1], {1.25});
  expectFloats(results[2], {3, 4, 7, 6});
  expectFloats(results[3], {-5, 2, 3, -8});
  expectFloats(results[4], {2, 12, -30, -56});
}

TEST(EvaluateReduction, RunningSums) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2x3xi64>)
        -> (tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x3xi64>) {
      %0 = nn.cumulative_sum %x axis 1 : tensor<2x3xi64>
      %1 = nn.cumulative_sum %x axis 1 exclusive : tensor<2x3xi64>
      %2 = nn.cumulative_sum %x axis 0 reverse : tensor<2x3xi64>
      nn.return %0, %1, %2
          : tensor<2x3xi64>, tensor<2x3xi64>, tensor<2x3xi64>
    })");
  Tensors results = text.evaluate({integers({2, 3}, {1, 2, 3, 4, 5, 6})});
  expectIntegers(results[0], {1, 3, 6, 4, 9, 15});
  expectIntegers(results[1], {0, 1, 3, 0, 4, 9});
  expectIntegers(results[2], {5, 7, 9, 4, 5, 6});
}

TEST(EvaluateShape, ElementsMove) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2x3xi32>)
        -> (tensor<3x2xi32>, tensor<3x2xi32>, tensor<1x2xi32>,
            tensor<2x3xi32>, tensor<3x3xi32>, tensor<2x5xi32>) {
      %0 = nn.reshape %x : tensor<2x3xi32> -> tensor<3x2xi32>
      %1 = nn.transpose %x [1, 0] : tensor<2x3xi32> -> tensor<3x2xi32>
      %2 = nn.slice %x offsets [1, 0] strides [1, 2]
          : tensor<2x3xi32> -> tensor<1x2xi32>
      %3 = nn.reverse %x axes [1] : tensor<2x3xi32>
      %4 = nn.pad %2 low [1, 0] high [1, 0] interior [0, 1] {value = 9.0}
          : tensor<1x2xi32> -> tensor<3x3xi32>
      %5 = nn.reshape %2 : tensor<1x2xi32> -> tensor<2x1xi32>
      %6 = nn.broadcast %5 : tensor<2x1xi32> -> tensor<2x2xi32>
      %7 = nn.concat %6, %x axis 1
          : tensor<2x2xi32>, tensor<2x3xi32> -> tensor<2x5xi32>
      nn.return %0, %1, %2, %3, %4, %7
          : tensor<3x2xi32>, tensor<3x2xi32>, tensor<1x2xi32>,
            tensor<2x3xi32>, tensor<3x3xi32>, tensor<2x5xi32>
    })");
  Tensors results = text.evaluate({integers({2, 3}, {1, 2, 3, 4, 5, 6})});
  expectIntegers(results[0], {1, 2, 3, 4, 5, 6});
  expectIntegers(results[1], {1, 4, 2, 5, 3, 6});
  expectIntegers(results[2], {4, 6});
  expectIntegers(results[3], {3, 2, 1, 6, 5, 4});
  expectIntegers(results[4], {9, 9, 9, 4, 9, 6, 9, 9, 9});
  expectIntegers(results[5], {4, 4, 1, 2, 3, 6, 6, 4, 5, 6});
}

TEST(EvaluateShape, PermutationOfThreeAxes) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<1x2x3xi32>) -> tensor<3x1x2xi32> {
      %0 = nn.transpose %x [2, 0, 1] : tensor<1x2x3xi32> -> tensor<3x1x2xi32>
      nn.return %0 : tensor<3x1x2xi32>
    })");
  expectIntegers(text.evaluate({integers({1, 2, 3}, {1, 2, 3, 4, 5, 6})})[0],
                 {1, 4, 2, 5, 3, 6});
}

TEST(EvaluateShape, ConstantsOfEveryKind) {
  FunctionText text(R"(
    nn.function @f() -> (tensor<2xf16>, tensor<2xi1>, tensor<2xi8>,
                         tensor<2xf32>) {
      %0 = nn.constant dense<[0.5, -1.0]> : tensor<2xf16>
      %1 = nn.constant dense<[true, false]> : tensor<2xi1>
      %2 = nn.constant dense<-3> : tensor<2xi8>
      %3 = nn.constant dense<0.1> : tensor<2xf32>
      nn.return %0, %1, %2, %3
          : tensor<2xf16>, tensor<2xi1>, tensor<2xi8>, tensor<2xf32>
    })");
  Tensors results = text.evaluate({});
  expectFloats(results[0], {0.5, -1});
  expectIntegers(results[1], {1, 0});
  expectIntegers(results[2], {-3, -3});
  expectFloats(results[3], {0.1f, 0.1f}, 0);
}

TEST(EvaluateTopK, EqualElementsKeepTheirOrder) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2x4xf32>)
        -> (tensor<2x3xi64>, tensor<2x2xi64>, tensor<1x4xi64>) {
      %0 = nn.top_k %x axis 1 : tensor<2x4xf32> -> tensor<2x3xi64>
      %1 = nn.top_k %x axis 1 smallest : tensor<2x4xf32> -> tensor<2x2xi64>
      %2 = nn.top_k %x axis 0 : tensor<2x4xf32> -> tensor<1x4xi64>
      nn.return %0, %1, %2
          : tensor<2x3xi64>, tensor<2x2xi64>, tensor<1x4xi64>
    })");
  Tensors results = text.evaluate({floats({2, 4}, {1, 3, 3, 2, 5, 4, 4, 4})});
  expectIntegers(results[0], {1, 2, 3, 0, 1, 2});
  expectIntegers(results[1], {0, 3, 1, 2});
  expectIntegers(results[2], {1, 1, 1, 1});
}

TEST(EvaluateConvolution, WindowsAndTheirSum) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<1x1x5xf32>)
        -> (tensor<1x1x2x2xf32>, tensor<1x1x5xf32>) {
      %0 = nn.im2col %x strides [1] dilations [3]
          : tensor<1x1x5xf32> -> tensor<1x1x2x2xf32>
      %1 = nn.col2im %0 strides [2] dilations [2]
          : tensor<1x1x2x2xf32> -> tensor<1x1x5xf32>
      nn.return %0, %1 : tensor<1x1x2x2xf32>, tensor<1x1x5xf32>
    })");
  Tensors results = text.evaluate({floats({1, 1, 5}, {1, 2, 3, 4, 5})});
  expectFloats(results[0], {1, 2, 4, 5});
  // Element k of window o lies at 2 o + 2 k.
  expectFloats(results[1], {1, 0, 6, 0, 5});
}
