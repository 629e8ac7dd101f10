//===- EvaluateLayersTests.cpp - What look-ups, norms, losses and calls compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionText.h"

#include "pipewright/Dialect/NN/Philox.h"

using namespace pipewright::nn;

TEST(EvaluateEmbedding, GatherAndItsTranspose) {
  FunctionText text(R"(
    nn.function @f(%table: tensor<3x2xf32>, %ids: tensor<4xi64>)
        -> (tensor<4x2xf32>, tensor<3x2xf32>, tensor<3x4xf32>) {
      %0 = nn.gather %table, %ids axis 0
          : tensor<3x2xf32>, tensor<4xi64> -> tensor<4x2xf32>
      %1 = nn.scatter_add %0, %ids axis 0
          : tensor<4x2xf32>, tensor<4xi64> -> tensor<3x2xf32>
      %2 = nn.transpose %0 [1, 0] : tensor<4x2xf32> -> tensor<2x4xf32>
      %low = nn.constant dense<[1, 0, -1]> : tensor<3xi32>
      %3 = nn.gather %2, %low axis 0
          : tensor<2x4xf32>, tensor<3xi32> -> tensor<3x4xf32>
      nn.return %0, %1, %3 : tensor<4x2xf32>, tensor<3x2xf32>, tensor<3x4xf32>
    })");
  Tensors results = text.evaluate(
      {floats({3, 2}, {1, 2, 3, 4, 5, 6}), integers({4}, {2, 0, -1, 2})});
  expectFloats(results[0], {5, 6, 1, 2, 5, 6, 5, 6});
  expectFloats(results[1], {1, 2, 0, 0, 15, 18});
  expectFloats(results[2], {6, 2, 6, 6, 5, 1, 5, 5, 6, 2, 6, 6});
}

TEST(EvaluateEmbedding, AnInnerAxis) {
  FunctionText text(R"(
    nn.function @f(%table: tensor<2x3xf32>, %ids: tensor<1x2xi64>)
        -> (tensor<2x1x2xf32>, tensor<2x3xf32>) {
      %0 = nn.gather %table, %ids axis 1
          : tensor<2x3xf32>, tensor<1x2xi64> -> tensor<2x1x2xf32>
      %1 = nn.scatter_add %0, %ids axis 1
          : tensor<2x1x2xf32>, tensor<1x2xi64> -> tensor<2x3xf32>
      nn.return %0, %1 : tensor<2x1x2xf32>, tensor<2x3xf32>
    })");
  Tensors results = text.evaluate(
      {floats({2, 3}, {1, 2, 3, 4, 5, 6}), integers({1, 2}, {2, 0})});
  expectFloats(results[0], {3, 1, 6, 4});
  expectFloats(results[1], {1, 0, 3, 4, 0, 6});
}

TEST(EvaluateEmbedding, IndexOutOfRange) {
  FunctionText text(R"(
    nn.function @f(%table: tensor<3xf32>, %ids: tensor<1xi64>)
        -> tensor<1xf32> {
      %0 = nn.gather %table, %ids axis 0
          : tensor<3xf32>, tensor<1xi64> -> tensor<1xf32>
      nn.return %0 : tensor<1xf32>
    })");
  EXPECT_TRUE(
      text.evaluate({floats({3}, {1, 2, 3}), integers({1}, {3})}).empty());
  EXPECT_EQ(text.getDiagnostics(),
            "'nn.gather' op reads index 3 of an axis of size 3");
}

TEST(EvaluateExperts, RowsMoveThereAndBack) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<4x2xf32>, %places: tensor<4xi64>)
        -> (tensor<5xi64>, tensor<5x2xf32>, tensor<4x2xf32>, tensor<5xi64>) {
      %rows = nn.invert_indices %places : tensor<4xi64> -> tensor<5xi64>
      %0 = nn.permute_rows %x, %rows, %places
          : tensor<4x2xf32>, tensor<5xi64>, tensor<4xi64> -> tensor<5x2xf32>
      %1 = nn.permute_rows %0, %places, %rows
          : tensor<5x2xf32>, tensor<4xi64>, tensor<5xi64> -> tensor<4x2xf32>
      %2 = nn.permute_rows %places, %rows, %places
          : tensor<4xi64>, tensor<5xi64>, tensor<4xi64> -> tensor<5xi64>
      nn.return %rows, %0, %1, %2
          : tensor<5xi64>, tensor<5x2xf32>, tensor<4x2xf32>, tensor<5xi64>
    })");
  Tensors results = text.evaluate(
      {floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), integers({4}, {3, -1, 0, 5})});
  expectIntegers(results[0], {2, -1, -1, 0, -1});
  expectFloats(results[1], {5, 6, 0, 0, 0, 0, 1, 2, 0, 0});
  expectFloats(results[2], {1, 2, 0, 0, 5, 6, 0, 0});
  expectIntegers(results[3], {0, 0, 0, 3, 0});
}

TEST(EvaluateNormalization, Softmax) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2x3xf32>, %dy: tensor<2x3xf32>)
        -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
            tensor<2x3xf32>) {
      %0 = nn.softmax %x axis 1 : tensor<2x3xf32>
      %1 = nn.softmax %x axis 0 : tensor<2x3xf32>
      %2 = nn.log_softmax %x axis 1 : tensor<2x3xf32>
      %3 = nn.softmax_grad %0, %dy axis 1 : tensor<2x3xf32>
      nn.return %0, %1, %2, %3
          : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
    })");
  Tensors results = text.evaluate({floats({2, 3}, {1, 2, 3, 0, 0, 1}),
                                   floats({2, 3}, {1, 0, 0, 0, 2, -1})});
  expectFloats(results[0], {0.090030573, 0.244728471, 0.665240956, 0.211941558,
                            0.211941558, 0.576116885});
  expectFloats(results[1], {0.731058579, 0.880797078, 0.880797078, 0.268941421,
                            0.119202922, 0.119202922});
  expectFloats(results[2], {-2.407605964, -1.407605964, -0.407605964,
                            -1.551444714, -1.551444714, -0.551444714});
  expectFloats(results[3], {0.081925069, -0.022033045, -0.059892025,
                            0.032264662, 0.456147777, -0.48841244});
}

TEST(EvaluateNormalization, SoftmaxOfLargeLogits) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = nn.softmax %x axis 0 : tensor<2xf32>
      nn.return %0 : tensor<2xf32>
    })");
  expectFloats(text.evaluate({floats({2}, {10000, 10000})})[0], {0.5, 0.5});
}

TEST(EvaluateNormalization, Norms) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>,
                   %dy: tensor<2x3xf32>)
        -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>,
            tensor<2x3xf32>, tensor<2xf32>) {
      %y, %m, %r = nn.layer_norm %x, %s, %b axis 1 epsilon 0.25
          : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
          -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>)
      %dx = nn.layer_norm_grad %dy, %x, %s, %m, %r axis 1
          : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2xf32>,
             tensor<2xf32>) -> tensor<2x3xf32>
      %z, %q = nn.rms_norm %x, %s axis 1 epsilon 0.25
          : (tensor<2x3xf32>, tensor<3xf32>)
          -> (tensor<2x3xf32>, tensor<2xf32>)
      nn.return %y, %m, %r, %dx, %z, %q
          : tensor<2x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x3xf32>,
            tensor<2x3xf32>, tensor<2xf32>
    })");
  Tensors results = text.evaluate(
      {floats({2, 3}, {1, 2, 4, 0, -1, 1}), floats({3}, {1, 2, 0.5}),
       floats({3}, {0, 1, -1}), floats({2, 3}, {1, 0, -1, 2, 1, 0})});
  expectFloats(results[0], {-0.992277877, 0.503861062, -0.379826327, 0,
                            -1.088931871, -0.477767032});
  expectFloats(results[1], {2.333333333, 0});
  expectFloats(results[2], {0.744208408, 1.044465936});
  expectFloats(results[3], {0.2232625223, -0.2232625223, 0, 0.6963106238,
                            -0.0633009658, -0.633009658});
  expectFloats(results[4], {0.371390676, 1.485562705, 0.742781353, 0,
                            -2.088931871, 0.522232968});
  expectFloats(results[5], {0.371390676, 1.044465936});
}

TEST(EvaluateLoss, IgnoredLabelsCountNothing) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<3x3xf32>, %labels: tensor<3xi64>,
                   %dy: tensor<f32>)
        -> (tensor<f32>, tensor<f32>, tensor<3x3xf32>) {
      %sum, %weight = nn.cross_entropy %x, %labels ignore -100
          : (tensor<3x3xf32>, tensor<3xi64>) -> (tensor<f32>, tensor<f32>)
      %dx = nn.cross_entropy_grad %dy, %x, %labels ignore -100
          : (tensor<f32>, tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
      nn.return %sum, %weight, %dx : tensor<f32>, tensor<f32>, tensor<3x3xf32>
    })");
  HostTensor logits = floats({3, 3}, {1, 2, 3, 0, 0, 1, 5, 5, 5});
  Tensors results =
      text.evaluate({logits, integers({3}, {2, 0, -100}), floats({}, {2})});
  expectFloats(results[0], {1.9590506783764312});
  expectFloats(results[1], {2});
  expectFloats(results[2], {0.180061146, 0.489456942, -0.669518088,
                            -1.576116885, 0.423883115, 1.15223377, 0, 0, 0});

  EXPECT_TRUE(text.evaluate({logits, integers({3}, {2, 3, 0}), floats({}, {2})})
                  .empty());
  EXPECT_EQ(text.getDiagnostics(),
            "'nn.cross_entropy' op has label 3, but 3 classes");
}

// The vectors that the authors publish with Random123 (kat_vectors).
TEST(EvaluateRandom, PhiloxKnownAnswers) {
  using Words = std::array<uint32_t, 4>;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
                       {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(EvaluateRandom, DropoutMask) {
  FunctionText text(R"(
    nn.function @f(%key: tensor<2xi64>)
        -> (tensor<5xf32>, tensor<5xf32>, tensor<10000xf32>) {
      %0 = nn.dropout_mask %key ratio 0.5 stream 0
          : tensor<2xi64> -> tensor<5xf32>
      %1 = nn.dropout_mask %key ratio 0.75 stream 0
          : tensor<2xi64> -> tensor<5xf32>
      %2 = nn.dropout_mask %key ratio 0.25 stream 7
          : tensor<2xi64> -> tensor<10000xf32>
      nn.return %0, %1, %2
          : tensor<5xf32>, tensor<5xf32>, tensor<10000xf32>
    })");
  // Key 0 and counter 0 give the first known answer: words of 0.40, 0.88,
  // 0.74 and 0.61 times 2^32.
  Tensors results = text.evaluate({integers({2}, {0, 0})});
  expectFloats(HostTensor({4}, results[0].getFloats().take_front(4).vec()),
               {0, 2, 2, 2});
  expectFloats(HostTensor({4}, results[1].getFloats().take_front(4).vec()),
               {0, 4, 0, 0});

  int64_t dropped = llvm::count(results[2].getFloats(), 0.0);
  EXPECT_NEAR(dropped, 2500, 150);
  EXPECT_NEAR(*llvm::max_element(results[2].getFloats()), 4.0 / 3.0, 1e-6);

  // Another key gives another mask.
  Tensors others = text.evaluate({integers({2}, {0, 1})});
  EXPECT_NE(results[2].getFloats(), others[2].getFloats());
}

TEST(EvaluateFunction, CallsTheCallee) {
  FunctionText text(R"(
    nn.function @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0:2 = nn.call @twice(%x)
          : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      nn.return %0#1 : tensor<2xf32>
    }
    nn.function @twice(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = nn.add %x, %x : tensor<2xf32>
      nn.return %x, %0 : tensor<2xf32>, tensor<2xf32>
    })");
  expectFloats(text.evaluate({floats({2}, {1, -3})})[0], {2, -6});
}

TEST(EvaluateFunction, ArgumentsOfAnotherType) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = nn.neg %x : tensor<2xf32>
      nn.return %0 : tensor<2xf32>
    })");
  EXPECT_TRUE(text.evaluate({}).empty());
  EXPECT_TRUE(text.evaluate({floats({3}, {1, 2, 3})}).empty());
  EXPECT_EQ(text.getDiagnostics(),
            "'nn.function' op has 1 arguments, but is evaluated with 0"
            "'nn.neg' op is evaluated with a tensor of another type than "
            "'tensor<2xf32>' as operand 0");
}

// A new op is found here: an op that computes something has an evaluator.
TEST(Evaluate, EveryOpThatComputes) {
  mlir::MLIRContext context;
  context.loadDialect<NNDialect>();
  int covered = 0;
  for (mlir::RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("nn")) {
    bool isStructure = name.hasInterface<mlir::SymbolOpInterface>() ||
                       name.hasTrait<mlir::OpTrait::IsTerminator>() ||
                       name.getStringRef() == KeepOp::getOperationName() ||
                       name.getStringRef() == DerivativeOp::getOperationName();
    EXPECT_EQ(hasEvaluator(name), !isStructure) << name.getStringRef().str();
    covered += !isStructure;
  }
  EXPECT_GT(covered, 50);
}

TEST(EvaluateAttention, LaterKeysAreHidden) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<1x2x2xf32>, %v: tensor<1x2x2xf32>)
        -> tensor<1x2x2xf32> {
      %0 = nn.attention %x, %x, %v causal scale 1.0
          : (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<1x2x2xf32>)
          -> tensor<1x2x2xf32>
      nn.return %0 : tensor<1x2x2xf32>
    })");
  Tensors results = text.evaluate(
      {floats({1, 2, 2}, {1, 0, 0, 1}), floats({1, 2, 2}, {1, 2, 3, 4})});
  // The second query's weights are 1 / (1 + e) and e / (1 + e).
  expectFloats(results[0], {1, 2, 2.46211716, 3.46211716});
}

TEST(EvaluateAttention, HeadsShareKeysAndAMaskHidesThem) {
  FunctionText text(R"(
    nn.function @f(%q: tensor<2x1x1xf32>, %k: tensor<1x2x1xf32>,
                   %m: tensor<2x1x2xf32>) -> tensor<2x1x1xf32> {
      %0 = nn.attention %q, %k, %k mask %m scale 2.0
          : (tensor<2x1x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>,
             tensor<2x1x2xf32>) -> tensor<2x1x1xf32>
      nn.return %0 : tensor<2x1x1xf32>
    })");
  Tensors results =
      text.evaluate({floats({2, 1, 1}, {0, 1}), floats({1, 2, 1}, {3, 5}),
                     floats({2, 1, 2}, {0, 0, 0, -1e30})});
  expectFloats(results[0], {4, 3});
}

TEST(EvaluateAttention, ASoftCapBoundsScores) {
  FunctionText text(R"(
    nn.function @f(%q: tensor<1x1x1xf32>, %k: tensor<1x2x1xf32>,
                   %v: tensor<1x2x1xf32>) -> tensor<1x1x1xf32> {
      %0 = nn.attention %q, %k, %v scale 0.5 softcap 2.0
          : (tensor<1x1x1xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>)
          -> tensor<1x1x1xf32>
      nn.return %0 : tensor<1x1x1xf32>
    })");
  // tanh(1.09861229 / 2) is a half, so the scores are 0 and 1.
  Tensors results =
      text.evaluate({floats({1, 1, 1}, {2}), floats({1, 2, 1}, {0, 1.09861229}),
                     floats({1, 2, 1}, {1, 3})});
  expectFloats(results[0], {2.46211716});
}

TEST(EvaluateAttention, StatisticsAreLogarithmsOfSums) {
  FunctionText text(R"(
    nn.function @f(%q: tensor<1x1x1xf64>, %k: tensor<1x2x1xf64>)
        -> (tensor<1x1x1xf64>, tensor<1x1xf64>) {
      %0, %1 = nn.attention_with_statistics %q, %k, %k scale 0.5
          : (tensor<1x1x1xf64>, tensor<1x2x1xf64>, tensor<1x2x1xf64>)
          -> (tensor<1x1x1xf64>, tensor<1x1xf64>)
      nn.return %0, %1 : tensor<1x1x1xf64>, tensor<1x1xf64>
    })");
  // The scores are 100 + ln 1 and 100 + ln 3.
  Tensors results = text.evaluate(
      {floats({1, 1, 1}, {2}), floats({1, 2, 1}, {100, 101.09861229})});
  expectFloats(results[0], {100.823959});
  expectFloats(results[1], {101.38629436});
}

TEST(EvaluateAttention, GradientFollowsFromStatistics) {
  FunctionText text(R"(
    nn.function @f(%dy: tensor<1x1x1xf64>, %q: tensor<1x1x1xf64>,
                   %k: tensor<1x2x1xf64>, %v: tensor<1x2x1xf64>,
                   %y: tensor<1x1x1xf64>, %s: tensor<1x1xf64>)
        -> (tensor<1x1x1xf64>, tensor<1x2x1xf64>, tensor<1x2x1xf64>) {
      %0:3 = nn.attention_grad %dy, %q, %k, %v, %y, %s scale 0.5
          : (tensor<1x1x1xf64>, tensor<1x1x1xf64>, tensor<1x2x1xf64>,
             tensor<1x2x1xf64>, tensor<1x1x1xf64>, tensor<1x1xf64>)
          -> (tensor<1x1x1xf64>, tensor<1x2x1xf64>, tensor<1x2x1xf64>)
      nn.return %0#0, %0#1, %0#2
          : tensor<1x1x1xf64>, tensor<1x2x1xf64>, tensor<1x2x1xf64>
    })");
  // Scores 0 and ln 3: weights of 1/4 and 3/4, a result of 2.5, and gradients
  // of the scores of 1/4 (2 - 5) and 3/4 (6 - 5).
  Tensors results = text.evaluate(
      {floats({1, 1, 1}, {2}), floats({1, 1, 1}, {4}),
       floats({1, 2, 1}, {0, 0.54930614}), floats({1, 2, 1}, {1, 3}),
       floats({1, 1, 1}, {2.5}), floats({1, 1}, {1.38629436})});
  expectFloats(results[0], {0.20598980});
  expectFloats(results[1], {-1.5, 1.5});
  expectFloats(results[2], {0.5, 1.5});
}

TEST(EvaluateAttention, RotaryPairs) {
  FunctionText text(R"(
    nn.function @f(%x: tensor<4xf32>, %c: tensor<4xf32>, %s: tensor<4xf32>)
        -> (tensor<4xf32>, tensor<4xf32>) {
      %0 = nn.rotary %x, %c, %s : tensor<4xf32>
      %1 = nn.rotary %x, %c, %s interleaved : tensor<4xf32>
      nn.return %0, %1 : tensor<4xf32>, tensor<4xf32>
    })");
  Tensors results =
      text.evaluate({floats({4}, {1, 2, 3, 4}), floats({4}, {1, 1, 0, 0}),
                     floats({4}, {0, 1, 1, 2})});
  // Pairs (1, 3) and (2, 4); then (1, 2) and (3, 4).
  expectFloats(results[0], {1, -2, 1, 4});
  expectFloats(results[1], {1, 3, -4, 6});
}
