//===- RaisePatternsTests.cpp - Raised ops compute the same
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each case spells an op out as an exporter does. Raising it must leave that
// op, and must not change the values but by rounding.
//
//===----------------------------------------------------------------------===//

#include "../Dialect/FunctionText.h"

#include "pipewright/Import/Passes.h"

#include "mlir/Pass/PassManager.h"

using namespace pipewright;
using namespace pipewright::nn;

namespace {
struct RaiseCase {
  const char *name;
  const char *raisedOp;
  /// A function of a tensor<2x4xf32>, and of a scale and a bias.
  const char *body;
  /// How many ops may be left: the raised one, and reshapes of operands.
  size_t maxOps = 2;
};

class RaisePatternsTest : public testing::TestWithParam<RaiseCase> {};
} // namespace

static const RaiseCase cases[] = {
    {"GeluErfOfTorch", "nn.gelu", R"(
      %c = nn.constant dense<1.41421354> : tensor<2x4xf32>
      %one = nn.constant dense<1.0> : tensor<2x4xf32>
      %half = nn.constant dense<0.5> : tensor<2x4xf32>
      %0 = nn.div %x, %c : tensor<2x4xf32>
      %1 = nn.erf %0 : tensor<2x4xf32>
      %2 = nn.add %1, %one : tensor<2x4xf32>
      %3 = nn.mul %x, %2 : tensor<2x4xf32>
      %y = nn.mul %3, %half : tensor<2x4xf32>)"},
    {"GeluErfDistributed", "nn.gelu", R"(
      %c = nn.constant dense<0.707106769> : tensor<2x4xf32>
      %half = nn.constant dense<0.5> : tensor<2x4xf32>
      %0 = nn.mul %c, %x : tensor<2x4xf32>
      %1 = nn.erf %0 : tensor<2x4xf32>
      %2 = nn.mul %half, %1 : tensor<2x4xf32>
      %3 = nn.add %half, %2 : tensor<2x4xf32>
      %y = nn.mul %3, %x : tensor<2x4xf32>)"},
    {"GeluTanhOfGpt2", "nn.gelu", R"(
      %half = nn.constant dense<0.5> : tensor<2x4xf32>
      %three = nn.constant dense<3.0> : tensor<2x4xf32>
      %cubic = nn.constant dense<4.471500e-02> : tensor<2x4xf32>
      %root = nn.constant dense<0.797884583> : tensor<2x4xf32>
      %one = nn.constant dense<1.0> : tensor<2x4xf32>
      %0 = nn.mul %x, %half : tensor<2x4xf32>
      %1 = nn.pow %x, %three : tensor<2x4xf32>
      %2 = nn.mul %1, %cubic : tensor<2x4xf32>
      %3 = nn.add %x, %2 : tensor<2x4xf32>
      %4 = nn.mul %3, %root : tensor<2x4xf32>
      %5 = nn.tanh %4 : tensor<2x4xf32>
      %6 = nn.add %5, %one : tensor<2x4xf32>
      %y = nn.mul %0, %6 : tensor<2x4xf32>)"},
    {"LayerNormOfTorch", "nn.layer_norm", R"(
      %two = nn.constant dense<2.0> : tensor<2x4xf32>
      %epsilon = nn.constant dense<1.0e-5> : tensor<2x1xf32>
      %0 = nn.reduce mean %x axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %1 = nn.reshape %0 : tensor<2xf32> -> tensor<2x1xf32>
      %2 = nn.broadcast %1 : tensor<2x1xf32> -> tensor<2x4xf32>
      %3 = nn.sub %x, %2 : tensor<2x4xf32>
      %4 = nn.pow %3, %two : tensor<2x4xf32>
      %5 = nn.reduce mean %4 axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %6 = nn.reshape %5 : tensor<2xf32> -> tensor<2x1xf32>
      %7 = nn.add %6, %epsilon : tensor<2x1xf32>
      %8 = nn.sqrt %7 : tensor<2x1xf32>
      %9 = nn.broadcast %8 : tensor<2x1xf32> -> tensor<2x4xf32>
      %10 = nn.div %3, %9 : tensor<2x4xf32>
      %11 = nn.broadcast %scale : tensor<4xf32> -> tensor<2x4xf32>
      %12 = nn.mul %10, %11 : tensor<2x4xf32>
      %13 = nn.broadcast %bias : tensor<4xf32> -> tensor<2x4xf32>
      %y = nn.add %12, %13 : tensor<2x4xf32>)"},
    {"LayerNormOfSums", "nn.layer_norm", R"(
      %size = nn.constant dense<4.0> : tensor<2xf32>
      %quarter = nn.constant dense<0.25> : tensor<2x1xf32>
      %epsilon = nn.constant dense<1.0e-5> : tensor<2x1xf32>
      %0 = nn.reduce sum %x axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %1 = nn.div %0, %size : tensor<2xf32>
      %2 = nn.reshape %1 : tensor<2xf32> -> tensor<2x1xf32>
      %3 = nn.broadcast %2 : tensor<2x1xf32> -> tensor<2x4xf32>
      %4 = nn.sub %x, %3 : tensor<2x4xf32>
      %5 = nn.mul %4, %4 : tensor<2x4xf32>
      %6 = nn.reduce sum %5 axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %7 = nn.reshape %6 : tensor<2xf32> -> tensor<2x1xf32>
      %8 = nn.mul %7, %quarter : tensor<2x1xf32>
      %9 = nn.add %epsilon, %8 : tensor<2x1xf32>
      %10 = nn.rsqrt %9 : tensor<2x1xf32>
      %11 = nn.broadcast %10 : tensor<2x1xf32> -> tensor<2x4xf32>
      %12 = nn.mul %11, %4 : tensor<2x4xf32>
      %13 = nn.reshape %bias : tensor<4xf32> -> tensor<1x4xf32>
      %14 = nn.broadcast %13 : tensor<1x4xf32> -> tensor<2x4xf32>
      %y = nn.add %14, %12 : tensor<2x4xf32>)"},
    {"RmsNormOfLlama", "nn.rms_norm", R"(
      %two = nn.constant dense<2.0> : tensor<2x4xf32>
      %epsilon = nn.constant dense<1.0e-6> : tensor<2x1xf32>
      %0 = nn.pow %x, %two : tensor<2x4xf32>
      %1 = nn.reduce mean %0 axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %2 = nn.reshape %1 : tensor<2xf32> -> tensor<2x1xf32>
      %3 = nn.add %2, %epsilon : tensor<2x1xf32>
      %4 = nn.sqrt %3 : tensor<2x1xf32>
      %5 = nn.reciprocal %4 : tensor<2x1xf32>
      %6 = nn.broadcast %5 : tensor<2x1xf32> -> tensor<2x4xf32>
      %7 = nn.mul %x, %6 : tensor<2x4xf32>
      %8 = nn.broadcast %scale : tensor<4xf32> -> tensor<2x4xf32>
      %y = nn.mul %8, %7 : tensor<2x4xf32>)"},
    {"Softmax", "nn.softmax", R"(
      %0 = nn.reduce max %x axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %1 = nn.reshape %0 : tensor<2xf32> -> tensor<2x1xf32>
      %2 = nn.broadcast %1 : tensor<2x1xf32> -> tensor<2x4xf32>
      %3 = nn.sub %x, %2 : tensor<2x4xf32>
      %4 = nn.exp %3 : tensor<2x4xf32>
      %5 = nn.reduce sum %4 axes [1] : tensor<2x4xf32> -> tensor<2xf32>
      %6 = nn.reshape %5 : tensor<2xf32> -> tensor<2x1xf32>
      %7 = nn.broadcast %6 : tensor<2x1xf32> -> tensor<2x4xf32>
      %y = nn.div %4, %7 : tensor<2x4xf32>)"},
    {"Silu", "nn.silu", R"(
      %0 = nn.sigmoid %x : tensor<2x4xf32>
      %y = nn.mul %0, %x : tensor<2x4xf32>)"},
    {"AttentionOfGpt2", "nn.attention", R"(
      %root = nn.constant dense<2.0> : tensor<1x2x2xf32>
      %low = nn.constant dense<-3.4028235e38> : tensor<1x2x2xf32>
      %seen = nn.constant dense<[[[1, 0], [1, 1]]]> : tensor<1x2x2xi1>
      %h = nn.reshape %x : tensor<2x4xf32> -> tensor<1x2x4xf32>
      %t = nn.transpose %h [0, 2, 1] : tensor<1x2x4xf32> -> tensor<1x4x2xf32>
      %0 = nn.matmul %h, %t : tensor<1x2x4xf32>, tensor<1x4x2xf32> -> tensor<1x2x2xf32>
      %1 = nn.div %0, %root : tensor<1x2x2xf32>
      %2 = nn.select %seen, %1, %low : tensor<1x2x2xi1>, tensor<1x2x2xf32>
      %3 = nn.softmax %2 axis 2 : tensor<1x2x2xf32>
      %4 = nn.matmul %3, %h : tensor<1x2x2xf32>, tensor<1x2x4xf32> -> tensor<1x2x4xf32>
      %y = nn.reshape %4 : tensor<1x2x4xf32> -> tensor<2x4xf32>)",
     3},
    {"AttentionOfGemma2", "nn.attention", R"(
      %quarter = nn.constant dense<0.25> : tensor<1x2x2xf32>
      %cap = nn.constant dense<1.5> : tensor<1x2x2xf32>
      %mask = nn.constant dense<[[[0.0, -3.4028235e38], [0.0, 0.0]]]> : tensor<1x2x2xf32>
      %h = nn.reshape %x : tensor<2x4xf32> -> tensor<1x2x4xf32>
      %0 = nn.matmul %h, %h transpose_rhs : tensor<1x2x4xf32>, tensor<1x2x4xf32> -> tensor<1x2x2xf32>
      %1 = nn.mul %0, %quarter : tensor<1x2x2xf32>
      %2 = nn.div %1, %cap : tensor<1x2x2xf32>
      %3 = nn.tanh %2 : tensor<1x2x2xf32>
      %4 = nn.mul %3, %cap : tensor<1x2x2xf32>
      %5 = nn.add %4, %mask : tensor<1x2x2xf32>
      %6 = nn.softmax %5 axis 2 : tensor<1x2x2xf32>
      %7 = nn.matmul %6, %h : tensor<1x2x2xf32>, tensor<1x2x4xf32> -> tensor<1x2x4xf32>
      %y = nn.reshape %7 : tensor<1x2x4xf32> -> tensor<2x4xf32>)",
     3},
    // Two heads of queries share one of keys, all of which the second may not
    // see: PyTorch 2 gives it zeros.
    {"AttentionOfGroups", "nn.attention", R"(
      %root = nn.constant dense<0.5> : tensor<1x2x1x4xf32>
      %zero = nn.constant dense<0.0> : tensor<1x2x1x2xf32>
      %mask = nn.constant dense<[[[[0.5, 0.0]], [[0xFF800000, 0xFF800000]]]]> : tensor<1x2x1x2xf32>
      %s = nn.reshape %scale : tensor<4xf32> -> tensor<1x1x1x4xf32>
      %b = nn.reshape %bias : tensor<4xf32> -> tensor<1x1x1x4xf32>
      %k = nn.concat %s, %b axis 2 : tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32> -> tensor<1x1x2x4xf32>
      %k0 = nn.reshape %k : tensor<1x1x2x4xf32> -> tensor<1x1x1x2x4xf32>
      %k1 = nn.broadcast %k0 : tensor<1x1x1x2x4xf32> -> tensor<1x1x2x2x4xf32>
      %k2 = nn.reshape %k1 : tensor<1x1x2x2x4xf32> -> tensor<1x2x2x4xf32>
      %q = nn.reshape %x : tensor<2x4xf32> -> tensor<1x2x1x4xf32>
      %0 = nn.mul %q, %root : tensor<1x2x1x4xf32>
      %1 = nn.matmul %0, %k2 transpose_rhs : tensor<1x2x1x4xf32>, tensor<1x2x2x4xf32> -> tensor<1x2x1x2xf32>
      %2 = nn.add %1, %mask : tensor<1x2x1x2xf32>
      %3 = nn.softmax %2 axis 3 : tensor<1x2x1x2xf32>
      %4 = nn.compare ne %3, %3 : tensor<1x2x1x2xf32> -> tensor<1x2x1x2xi1>
      %5 = nn.select %4, %zero, %3 : tensor<1x2x1x2xi1>, tensor<1x2x1x2xf32>
      %6 = nn.matmul %5, %k2 : tensor<1x2x1x2xf32>, tensor<1x2x2x4xf32> -> tensor<1x2x1x4xf32>
      %y = nn.reshape %6 : tensor<1x2x1x4xf32> -> tensor<2x4xf32>)",
     9},
    {"RotaryOfLlama", "nn.rotary", R"(
      %c = nn.constant dense<[[1.0, 0.5, 0.25, 2.0], [3.0, 1.0, -1.0, 0.125]]> : tensor<2x4xf32>
      %s = nn.constant dense<[[0.5, 1.5, -0.25, 1.0], [0.0, 2.0, -1.0, 0.25]]> : tensor<2x4xf32>
      %a = nn.slice %x offsets [0, 0] strides [1, 1] : tensor<2x4xf32> -> tensor<2x2xf32>
      %b = nn.slice %x offsets [0, 2] strides [1, 1] : tensor<2x4xf32> -> tensor<2x2xf32>
      %n = nn.neg %b : tensor<2x2xf32>
      %r = nn.concat %n, %a axis 1 : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>
      %0 = nn.mul %x, %c : tensor<2x4xf32>
      %1 = nn.mul %r, %s : tensor<2x4xf32>
      %y = nn.add %0, %1 : tensor<2x4xf32>)"},
    // The cosine is the second factor of one product and the first of another.
    {"RotaryOfDeepSeek", "nn.rotary", R"(
      %c0 = nn.constant dense<[1.0, 0.5]> : tensor<2xf32>
      %s = nn.constant dense<[[0.5, 1.5], [-0.25, 1.0]]> : tensor<2x2xf32>
      %c = nn.broadcast %c0 : tensor<2xf32> -> tensor<2x2xf32>
      %a = nn.slice %x offsets [0, 0] strides [1, 2] : tensor<2x4xf32> -> tensor<2x2xf32>
      %b = nn.slice %x offsets [0, 1] strides [1, 2] : tensor<2x4xf32> -> tensor<2x2xf32>
      %0 = nn.mul %a, %c : tensor<2x2xf32>
      %1 = nn.mul %b, %s : tensor<2x2xf32>
      %2 = nn.sub %0, %1 : tensor<2x2xf32>
      %3 = nn.mul %s, %a : tensor<2x2xf32>
      %4 = nn.mul %c, %b : tensor<2x2xf32>
      %5 = nn.add %3, %4 : tensor<2x2xf32>
      %y = nn.concat %2, %5 axis 1 : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x4xf32>)",
     7},
    {"RotaryOfGptJ", "nn.rotary", R"(
      %c = nn.constant dense<[[1.0, 0.5, 0.25, 2.0], [3.0, 1.0, -1.0, 0.125]]> : tensor<2x4xf32>
      %s = nn.constant dense<[[0.5, 1.5, -0.25, 1.0], [0.0, 2.0, -1.0, 0.25]]> : tensor<2x4xf32>
      %a = nn.slice %x offsets [0, 0] strides [1, 2] : tensor<2x4xf32> -> tensor<2x2xf32>
      %b = nn.slice %x offsets [0, 1] strides [1, 2] : tensor<2x4xf32> -> tensor<2x2xf32>
      %n = nn.neg %b : tensor<2x2xf32>
      %nc = nn.reshape %n : tensor<2x2xf32> -> tensor<2x2x1xf32>
      %ac = nn.reshape %a : tensor<2x2xf32> -> tensor<2x2x1xf32>
      %p = nn.concat %nc, %ac axis 2 : tensor<2x2x1xf32>, tensor<2x2x1xf32> -> tensor<2x2x2xf32>
      %r = nn.reshape %p : tensor<2x2x2xf32> -> tensor<2x4xf32>
      %0 = nn.mul %r, %s : tensor<2x4xf32>
      %1 = nn.mul %c, %x : tensor<2x4xf32>
      %y = nn.add %0, %1 : tensor<2x4xf32>)"},
};

/// The names of the ops of a function but its constants.
static std::vector<std::string> getOpNames(FunctionOp function) {
  std::vector<std::string> names;
  for (mlir::Operation &op : function.getBody().front().without_terminator())
    if (!mlir::isa<ConstantOp>(op))
      names.push_back(op.getName().getStringRef().str());
  return names;
}

TEST_P(RaisePatternsTest, ComputesTheSame) {
  FunctionText text(std::string(R"(
    nn.function @f(%x: tensor<2x4xf32>, %scale: tensor<4xf32>,
                   %bias: tensor<4xf32>) -> tensor<2x4xf32> {)") +
                    GetParam().body + "  nn.return %y : tensor<2x4xf32> }");
  Tensors arguments = {
      floats({2, 4}, {-1.5, 0.25, 0.75, 3, 2, -0.125, -4, 0.5}),
      floats({4}, {1, 0.5, -2, 1.5}), floats({4}, {0, 1, 0.25, -1})};
  Tensors before = text.evaluate(arguments);

  mlir::PassManager passes(text.getModule()->getContext());
  passes.addPass(createRaisePatterns());
  ASSERT_TRUE(mlir::succeeded(passes.run(text.getModule())));

  EXPECT_EQ(llvm::count(getOpNames(text.getFunction()), GetParam().raisedOp),
            1);
  EXPECT_LE(getOpNames(text.getFunction()).size(), GetParam().maxOps)
      << "more than the raised op and reshapes of its operands is left";
  expectFloats(text.evaluate(arguments)[0], before[0].getFloats(), 2e-6);
}

INSTANTIATE_TEST_SUITE_P(Spellings, RaisePatternsTest, testing::ValuesIn(cases),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
