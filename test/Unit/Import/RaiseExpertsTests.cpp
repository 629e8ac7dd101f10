//===- RaiseExpertsTests.cpp - Raised experts compute the same
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case spells a layer of experts out as an exporter does. Raising it must
// leave products by expert alone, and must not change the values but by
// rounding.
//
//===----------------------------------------------------------------------===//

#include "../Dialect/FunctionText.h"

#include "pipewright/Import/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>

using namespace pipewright;
using namespace pipewright::nn;

namespace {
struct ExpertsCase {
  const char *name;
  /// A function of four tokens, the two experts of three that each chose, their
  /// shares, and the weights and biases of the experts' two products.
  const char *body;
};

class RaiseExpertsTest : public testing::TestWithParam<ExpertsCase> {};
} // namespace

static const ExpertsCase cases[] = {
    {"GatheredWeights", R"(
      %each = nn.reshape %x : tensor<4x2xf32> -> tensor<4x1x2xf32>
      %twice = nn.broadcast %each : tensor<4x1x2xf32> -> tensor<4x2x2xf32>
      %rows = nn.reshape %twice : tensor<4x2x2xf32> -> tensor<8x1x2xf32>
      %e = nn.reshape %chosen : tensor<4x2xi64> -> tensor<8xi64>
      %v1 = nn.gather %w1, %e axis 0
          : tensor<3x2x3xf32>, tensor<8xi64> -> tensor<8x2x3xf32>
      %0 = nn.matmul %rows, %v1
          : tensor<8x1x2xf32>, tensor<8x2x3xf32> -> tensor<8x1x3xf32>
      %1 = nn.reshape %0 : tensor<8x1x3xf32> -> tensor<8x3xf32>
      %a1 = nn.gather %b1, %e axis 0
          : tensor<3x3xf32>, tensor<8xi64> -> tensor<8x3xf32>
      %2 = nn.add %1, %a1 : tensor<8x3xf32>
      %3 = nn.tanh %2 : tensor<8x3xf32>
      %v2 = nn.gather %w2, %e axis 0
          : tensor<3x2x3xf32>, tensor<8xi64> -> tensor<8x2x3xf32>
      %column = nn.reshape %3 : tensor<8x3xf32> -> tensor<8x3x1xf32>
      %4 = nn.matmul %v2, %column
          : tensor<8x2x3xf32>, tensor<8x3x1xf32> -> tensor<8x2x1xf32>
      %5 = nn.reshape %4 : tensor<8x2x1xf32> -> tensor<4x2x2xf32>
      %share = nn.reshape %shares : tensor<4x2xf32> -> tensor<4x2x1xf32>
      %factor = nn.broadcast %share : tensor<4x2x1xf32> -> tensor<4x2x2xf32>
      %6 = nn.mul %5, %factor : tensor<4x2x2xf32>
      %y = nn.reduce sum %6 axes [1] : tensor<4x2x2xf32> -> tensor<4x2xf32>)"},
    {"AllOnAll", R"(
      %three = nn.constant dense<3> : tensor<4x2xi64>
      %start = nn.constant dense<[[0, 0], [3, 3], [6, 6], [9, 9]]>
          : tensor<4x2xi64>
      %number = nn.mod %chosen, %three : tensor<4x2xi64>
      %position = nn.add %start, %number : tensor<4x2xi64>
      %scattered = nn.scatter_add %shares, %position axis 0
          : tensor<4x2xf32>, tensor<4x2xi64> -> tensor<12xf32>
      %table = nn.reshape %scattered : tensor<12xf32> -> tensor<4x3xf32>
      %turned = nn.transpose %table [1, 0] : tensor<4x3xf32> -> tensor<3x4xf32>
      %column = nn.reshape %turned : tensor<3x4xf32> -> tensor<3x4x1xf32>
      %all = nn.broadcast %x : tensor<4x2xf32> -> tensor<3x4x2xf32>
      %0 = nn.matmul %all, %w1
          : tensor<3x4x2xf32>, tensor<3x2x3xf32> -> tensor<3x4x3xf32>
      %row = nn.reshape %b1 : tensor<3x3xf32> -> tensor<3x1x3xf32>
      %bias = nn.broadcast %row : tensor<3x1x3xf32> -> tensor<3x4x3xf32>
      %1 = nn.add %0, %bias : tensor<3x4x3xf32>
      %2 = nn.tanh %1 : tensor<3x4x3xf32>
      %3 = nn.matmul %2, %w2 transpose_rhs
          : tensor<3x4x3xf32>, tensor<3x2x3xf32> -> tensor<3x4x2xf32>
      %factor = nn.broadcast %column : tensor<3x4x1xf32> -> tensor<3x4x2xf32>
      %4 = nn.mul %factor, %3 : tensor<3x4x2xf32>
      %y = nn.reduce sum %4 axes [0] : tensor<3x4x2xf32> -> tensor<4x2xf32>)"},
};

static HostTensor makeFloats(llvm::ArrayRef<int64_t> shape, double seed) {
  std::vector<double> values(mlir::ShapedType::getNumElements(shape));
  for (size_t at = 0; at < values.size(); ++at)
    values[at] = std::sin(seed + double(at));
  return floats(shape, std::move(values));
}

template <typename OpTy>
static int64_t countOps(FunctionOp function) {
  auto ops = function.getBody().getOps<OpTy>();
  return std::distance(ops.begin(), ops.end());
}

TEST_P(RaiseExpertsTest, ComputesTheSame) {
  FunctionText text(std::string(R"(
    nn.function @f(%x: tensor<4x2xf32>, %chosen: tensor<4x2xi64>,
                   %shares: tensor<4x2xf32>, %w1: tensor<3x2x3xf32>,
                   %b1: tensor<3x3xf32>, %w2: tensor<3x2x3xf32>)
        -> tensor<4x2xf32> {)") +
                    GetParam().body + "  nn.return %y : tensor<4x2xf32> }");
  // Two of each expert, one of none, and numbers from the end.
  Tensors arguments = {
      makeFloats({4, 2}, 1), integers({4, 2}, {0, 2, 2, 0, -1, 0, 2, -3}),
      makeFloats({4, 2}, 2), makeFloats({3, 2, 3}, 3),
      makeFloats({3, 3}, 4), makeFloats({3, 2, 3}, 5)};
  Tensors before = text.evaluate(arguments);
  ASSERT_EQ(before.size(), 1u);

  mlir::PassManager passes(text.getModule()->getContext());
  passes.addPass(createRaisePatterns());
  ASSERT_TRUE(mlir::succeeded(passes.run(text.getModule())));

  EXPECT_EQ(countOps<ExpertMatMulOp>(text.getFunction()), 2);
  EXPECT_EQ(countOps<MatMulOp>(text.getFunction()), 0);
  EXPECT_EQ(countOps<ScatterAddOp>(text.getFunction()), 0);
  expectFloats(text.evaluate(arguments)[0], before[0].getFloats(), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Spellings, RaiseExpertsTest, testing::ValuesIn(cases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
