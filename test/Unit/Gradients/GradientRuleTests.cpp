//===- GradientRuleTests.cpp - Each gradient rule against differences
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"
#include "GradientSamples.h"
#include "RandomSamples.h"
#include "SampleText.h"

#include "pipewright/Training/Activity.h"
#include "pipewright/Training/Gradients.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <limits>

using namespace mlir;
using namespace pipewright;

namespace {
/// The function of a sample, and functions made from it that compute one
/// gradient.
class RuleTester {
public:
  explicit RuleTester(StringRef op, StringRef text);

  nn::FunctionOp getFunction() { return function; }
  Operation *getOp() { return op; }

  /// The gradient of operand \p operand of the op, which is an argument, when
  /// the results in \p active have a cotangent; the inputs are those of the
  /// function and a cotangent per result.
  std::vector<double> getGradient(unsigned operand, ArrayRef<bool> active,
                                  ArrayRef<nn::HostTensor> inputs);

private:
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  nn::FunctionOp function;
  Operation *op = nullptr;
};
} // namespace

/// The op of \p function that is called \p name; others make its operands.
static Operation *findOp(nn::FunctionOp function, StringRef name) {
  for (Operation &op : function.getBody().front())
    if (op.getName().stripDialect() == name)
      return &op;
  return nullptr;
}

RuleTester::RuleTester(StringRef name, StringRef text) {
  context.loadDialect<nn::NNDialect>();
  module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return;
  function = *module->getOps<nn::FunctionOp>().begin();
  op = findOp(function, name);
  EXPECT_TRUE(op) << text.str();
}

std::vector<double> RuleTester::getGradient(unsigned operand,
                                            ArrayRef<bool> active,
                                            ArrayRef<nn::HostTensor> inputs) {
  nn::FunctionOp rule = function.clone();
  SymbolTable(*module).insert(rule);
  Block &body = rule.getBody().front();
  SmallVector<Value> cotangents;
  for (auto [result, isActive] : llvm::zip_equal(op->getResults(), active)) {
    Value dy = body.addArgument(result.getType(), op->getLoc());
    cotangents.push_back(isActive ? dy : Value());
  }
  OpBuilder builder(body.getTerminator());
  GradientBuilder gradients(builder, op->getLoc());
  OpOperand &target =
      findOp(rule, op->getName().stripDialect())->getOpOperand(operand);
  Value gradient = GradientRegistry::get().build(target, cotangents, gradients);
  if (!gradient)
    gradient = gradients.constant(0, target.get());
  EXPECT_EQ(gradient.getType(), target.get().getType());
  body.getTerminator()->setOperands(gradient);
  rule.setType(builder.getFunctionType(
      body.getArgumentTypes(), body.getTerminator()->getOperandTypes()));
  Tensors results = evaluate(rule, inputs);
  rule.erase();
  return results.empty() ? std::vector<double>() : results[0].getFloats().vec();
}

/// How many rules, with the cotangents that they were tried with, were compared
/// with differences.
static int comparisons = 0;

/// Checks the rule of one operand with a cotangent for all results, and for
/// each alone.
static void checkRule(RuleTester &tester, const GradientSample &sample,
                      unsigned operand) {
  nn::FunctionOp function = tester.getFunction();
  TensorMaker maker(sample.low, sample.high, sample.integers);
  Tensors inputs = maker.make(function.getArgumentTypes());
  Tensors cotangents = maker.make(function.getResultTypes());
  Tensors all(inputs);
  all.append(cotangents);

  unsigned results = cotangents.size();
  for (unsigned only = 0; only <= results; ++only) {
    SmallVector<bool> active(results, only == results);
    Tensors used(cotangents);
    for (unsigned result = 0; result < results; ++result) {
      active[result] |= result == only;
      if (!active[result])
        used[result] = nn::HostTensor::zeros(
            cast<RankedTensorType>(function.getResultTypes()[result]));
    }
    SCOPED_TRACE("cotangents of " + std::to_string(only));
    ++comparisons;
    expectNear(tester.getGradient(operand, active, all),
               differentiate(function, inputs, used, operand));
  }
}

/// Checks the rule of each operand that has one.
static void checkRules(const GradientSample &sample) {
  SCOPED_TRACE(sample.text);
  RuleTester tester(sample.op, sample.text);
  ASSERT_TRUE(tester.getOp());
  for (OpOperand &operand : tester.getOp()->getOpOperands())
    if (isDifferentiable(operand))
      checkRule(tester, sample, operand.getOperandNumber());
}

TEST(GradientRules, EqualDifferences) {
  for (const GradientSample &sample : getGradientSamples())
    checkRules(sample);
}

TEST(GradientRules, EqualDifferencesOnRandomShapes) {
  constexpr uint64_t seeds = 100;
  comparisons = 0;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (const GradientSample &sample : makeRandomSamples(seed))
      checkRules(sample);
  }
  llvm::outs() << "compared " << comparisons
               << " gradients on random shapes with differences\n";
}

/// An op without a random sample would be tried on one shape alone.
TEST(GradientRules, HaveRandomSamplesOfEachOp) {
  llvm::StringSet<> covered;
  for (const GradientSample &sample : makeRandomSamples(/*seed=*/0))
    covered.insert(sample.op);
  for (const GradientSample &sample : getGradientSamples()) {
    RuleTester tester(sample.op, sample.text);
    ASSERT_TRUE(tester.getOp()) << sample.text;
    bool hasRule =
        llvm::any_of(tester.getOp()->getOpOperands(), [](OpOperand &operand) {
          return GradientRegistry::get().hasRule(operand) &&
                 isDifferentiable(operand);
        });
    EXPECT_TRUE(!hasRule || covered.contains(sample.op)) << sample.op;
  }
}

TEST(GradientRules, CoverEachOperandOfEachOp) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  llvm::StringSet<> covered;
  for (const GradientSample &sample : getGradientSamples()) {
    RuleTester tester(sample.op, sample.text);
    ASSERT_TRUE(tester.getOp()) << sample.text;
    StringRef name = tester.getOp()->getName().getStringRef();
    covered.insert(name);
    for (OpOperand &operand : tester.getOp()->getOpOperands())
      EXPECT_TRUE(
          GradientRegistry::get().covers(name, operand.getOperandNumber()))
          << name.str() << " does not say what the gradient of operand "
          << operand.getOperandNumber() << " is";
  }
  // Constants have no operands, and layer functions no calls.
  covered.insert("nn.constant");
  covered.insert("nn.call");
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (!nn::hasEvaluator(op))
      continue;
    EXPECT_TRUE(covered.contains(op.getStringRef()))
        << op.getStringRef().str() << " has no sample";
  }
}

/// The gradient for the only argument of \p text, at \p x, with cotangents 1.
static std::vector<double> gradientAt(StringRef op, StringRef text,
                                      nn::HostTensor x) {
  RuleTester tester(op, text);
  nn::HostTensor ones = nn::HostTensor::zeros(
      cast<RankedTensorType>(tester.getFunction().getResultTypes()[0]));
  for (double &value : ones.getFloats())
    value = 1;
  return tester.getGradient(0, {true}, {x, ones});
}

TEST(GradientRules, EqualExtremesShareTheGradient) {
  std::string max = applyListed("reduce max %a axes [0]", {"4xf64"}, "f64");
  nn::HostTensor high({4}, std::vector<double>{3, 1, 3, 3});
  expectNear(gradientAt("reduce", max, high), {1. / 3, 0, 1. / 3, 1. / 3});

  std::string min = applyListed("reduce min %a axes [1]", {"2x3xf64"}, "2xf64");
  nn::HostTensor low({2, 3}, std::vector<double>{1, 1, 2, 4, 3, 5});
  expectNear(gradientAt("reduce", min, low), {0.5, 0.5, 0, 0, 1, 0});
}

/// The gradient for the elements of the windows of the image \p x, 2 x 3 each,
/// of which the largest are taken, by the cotangents 1 and 2.
static std::vector<double> maxPoolingGradientAt(nn::HostTensor x) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  const char *text =
      "nn.function @f(%x: tensor<1x1x2x5xf64>, %dy: tensor<1x1x1x2xf64>)"
      " -> tensor<1x1x1x2xf64> {\n"
      "  %w = nn.im2col %x strides [1, 2] dilations [1, 1]"
      " : tensor<1x1x2x5xf64> -> tensor<1x1x2x3x1x2xf64>\n"
      "  %y = nn.reduce max %w axes [2, 3] : tensor<1x1x2x3x1x2xf64> -> "
      "tensor<1x1x1x2xf64>\n"
      "  nn.return %y : tensor<1x1x1x2xf64>\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  nn::FunctionOp function = *module->getOps<nn::FunctionOp>().begin();
  Block &body = function.getBody().front();
  Operation *exit = body.getTerminator();
  Operation *reduce = exit->getOperand(0).getDefiningOp();
  OpBuilder builder(exit);
  GradientBuilder gradients(builder, reduce->getLoc());
  Value gradient = GradientRegistry::get().build(
      reduce->getOpOperand(0), body.getArgument(1), gradients);
  exit->setOperands(gradient);
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), gradient.getType()));
  nn::HostTensor dy({1, 1, 1, 2}, std::vector<double>{1, 2});
  return evaluate(function, {std::move(x), dy})[0].getFloats().vec();
}

// As in torch.nn.functional.max_pool2d, by rows. Elements are those of the
// window at position 0 and at position 1, in turn.
TEST(GradientRules, OfEqualElementsOfAWindowTheFirstHasTheGradient) {
  nn::HostTensor high({1, 1, 2, 5},
                      std::vector<double>{1, 3, 2, 3, 3, 3, 3, 3, 3, 0});
  expectNear(maxPoolingGradientAt(high), {0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0});
}

TEST(GradientRules, NaNIsTheLargestOfAWindow) {
  double nan = std::numeric_limits<double>::quiet_NaN();
  nn::HostTensor x({1, 1, 2, 5},
                   std::vector<double>{9, 1, 1, 1, 1, 1, 1, nan, 1, 9});
  expectNear(maxPoolingGradientAt(x), {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0});
}

// Which elements are the largest has no gradient; what is looked up there does,
// of equal elements the one of lower position.
TEST(GradientRules, OfEqualElementsTopKTakesTheFirst) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      applyListed("top_k %a axis 0", {"5xf64"}, "3xi64"), &context);
  ASSERT_TRUE(module);
  auto topK = *module->getOps<nn::FunctionOp>().begin();
  EXPECT_FALSE(
      isDifferentiable(topK.getBody().front().front().getOpOperand(0)));
  nn::HostTensor x({5}, std::vector<double>{2, 7, 2, 7, 2});
  Tensors positions = evaluate(topK, {x});
  EXPECT_EQ(positions[0].getIntegers().vec(), (std::vector<int64_t>{1, 3, 0}));

  RuleTester gather("gather", applyListed("gather %a, %b axis 0",
                                          {"5xf64", "3xi64"}, "3xf64"));
  nn::HostTensor dy({3}, std::vector<double>{10, 20, 30});
  expectNear(gather.getGradient(0, {true}, {x, positions[0], dy}),
             {30, 10, 0, 20, 0});
}

TEST(GradientRules, ProductsHaveGradientsAtZero) {
  const char *text = "nn.function @f(%x: tensor<3x3xf64>) -> tensor<3xf64> {\n"
                     "  %y = nn.reduce prod %x axes [1]"
                     " : tensor<3x3xf64> -> tensor<3xf64>\n"
                     "  nn.return %y : tensor<3xf64>\n}";
  nn::HostTensor x({3, 3}, std::vector<double>{2, 3, 5, 2, 0, 5, 0, 0, 5});
  expectNear(gradientAt("reduce", text, x), {15, 10, 6, 0, 10, 0, 0, 0, 0});
}

TEST(GradientRules, EqualOperandsOfMaxAndMinShareInHalves) {
  RuleTester max("max", binary("max", "2xf64"));
  RuleTester min("min", binary("min", "2xf64"));
  nn::HostTensor x({2}, std::vector<double>{1, 3}),
      z({2}, std::vector<double>{1, 2}), dy({2}, std::vector<double>{4, 4});
  expectNear(max.getGradient(0, {true}, {x, z, dy}), {2, 4});
  expectNear(max.getGradient(1, {true}, {x, z, dy}), {2, 0});
  expectNear(min.getGradient(0, {true}, {x, z, dy}), {2, 0});
  expectNear(min.getGradient(1, {true}, {x, z, dy}), {2, 4});
}

TEST(GradientRules, ConstantExponentOfZeroHasGradientZeroAtZero) {
  const char *text = "nn.function @f(%x: tensor<2xf64>, %z: tensor<2xf64>)"
                     " -> tensor<2xf64> {\n"
                     "  %y = nn.pow %x, %z : tensor<2xf64>\n"
                     "  nn.return %y : tensor<2xf64>\n}";
  RuleTester tester("pow", text);
  nn::HostTensor x({2}, std::vector<double>{0, 0}),
      z({2}, std::vector<double>{0, 2}), dy({2}, std::vector<double>{1, 1});
  expectNear(tester.getGradient(0, {true}, {x, z, dy}), {0, 0});
  expectNear(tester.getGradient(1, {true}, {x, z, dy}), {0, 0});
}
