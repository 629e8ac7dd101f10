//===- OnnxTrainingTests.cpp - Gradients and updates as in ONNX's tests
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The suite's models of the domain ai.onnx.preview.training. A model that holds
// its own gradient is differentiated by us without the node that does it; one
// of an optimizer gives its numbers to ours.
//
//===----------------------------------------------------------------------===//

#include "ModelGradients.h"
#include "ModelTest.h"

#include "core/Optimizers.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
class OnnxGradient : public ModelTest,
                     public testing::WithParamInterface<const char *> {};
} // namespace

/// \p model without its Gradient node and what that computes.
static ModelProto removeGradient(ModelProto model) {
  GraphProto &graph = *model.mutable_graph();
  NodeProto &last = *graph.mutable_node()->rbegin();
  EXPECT_EQ(last.op_type(), "Gradient");
  for (int i = 0; i < last.output_size(); ++i)
    graph.mutable_output()->RemoveLast();
  graph.mutable_node()->RemoveLast();
  return model;
}

TEST_P(OnnxGradient, IsOurs) {
  std::optional<SuiteTest> test =
      SuiteTest::read(getSuite() + "/simple/" + GetParam());
  ASSERT_TRUE(test) << "is not in " << getSuite();
  OwningOpRef<ModuleOp> module = import(removeGradient(test->model));
  ASSERT_TRUE(module) << (errors.empty() ? "" : errors.front());
  ModelFunction function(*module);
  SmallVector<nn::HostTensor> inputs;
  for (const std::string &name : function.getInputs())
    inputs.push_back(test->readInput(name, &context));
  EXPECT_EQ(test->findDifference("differentiation",
                                 evaluateGradients(function, inputs), &context),
            "");
}

INSTANTIATE_TEST_SUITE_P(Suite, OnnxGradient,
                         testing::Values("test_gradient_of_add",
                                         "test_gradient_of_add_and_mul"),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

namespace {
/// A test of one node of an optimizer: its operands are the learning rate, the
/// step, and then for each tensor the parameters, gradients and states.
class OnnxOptimizer : public ModelTest,
                      public testing::WithParamInterface<const char *> {
protected:
  void SetUp() override;
  /// Tensor \p tensor of the operands of kind \p kind, as numbers.
  std::vector<float> read(int kind, int tensor);
  float getAttribute(llvm::StringRef name, float otherwise = 0);
  void checkSgd(int tensor);
  void checkAdam(int tensor);
  /// Expects the results of kind \p kind.
  void expect(int kind, int tensor, llvm::ArrayRef<float> actual);

  SuiteTest test;
  int tensors = 0;
  float learningRate = 0;
};
} // namespace

static std::vector<float> toFloats(const nn::HostTensor &tensor) {
  return {tensor.getFloats().begin(), tensor.getFloats().end()};
}

void OnnxOptimizer::SetUp() {
  ModelTest::SetUp();
  std::optional<SuiteTest> read =
      SuiteTest::read(getSuite() + "/node/" + GetParam());
  ASSERT_TRUE(read) << "is not in " << getSuite();
  test = *read;
  // As many states as results besides the parameters.
  const NodeProto &node = test.model.graph().node(0);
  int kinds = node.op_type() == "Adam" ? 4 : 3;
  tensors = (test.inputs.size() - 2) / kinds;
  learningRate = toFloats(readTensor(test.inputs[0], &context)).front();
  ASSERT_EQ(readTensor(test.inputs[1], &context).getIntegers().front(), 0);
}

std::vector<float> OnnxOptimizer::read(int kind, int tensor) {
  return toFloats(
      readTensor(test.inputs[2 + kind * tensors + tensor], &context));
}

float OnnxOptimizer::getAttribute(StringRef name, float otherwise) {
  for (const AttributeProto &attribute : test.model.graph().node(0).attribute())
    if (attribute.name() == name)
      return attribute.f();
  return otherwise;
}

void OnnxOptimizer::expect(int kind, int tensor, ArrayRef<float> actual) {
  std::vector<float> expected =
      toFloats(readTensor(test.outputs[kind * tensors + tensor], &context));
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i],
                test.absolute + test.relative * std::abs(expected[i]))
        << "kind " << kind << ", element " << i;
}

void OnnxOptimizer::checkSgd(int tensor) {
  std::vector<float> parameter = read(0, tensor), gradient = read(1, tensor),
                     velocity = read(2, tensor);
  pprt::Sgd<float> rule = {learningRate, getAttribute("alpha"),
                           getAttribute("norm_coefficient"),
                           /*gradientScale=*/1};
  rule.update(parameter.data(), gradient.data(), velocity.data(),
              parameter.size());
  expect(0, tensor, parameter);
  expect(1, tensor, velocity);
}

void OnnxOptimizer::checkAdam(int tensor) {
  std::vector<float> parameter = read(0, tensor), gradient = read(1, tensor),
                     mean = read(2, tensor), square = read(3, tensor);
  // ONNX adds the decay to the gradient, and corrects no bias in step 0; ours
  // is 1 after very many steps.
  for (size_t i = 0; i < parameter.size(); ++i)
    gradient[i] += getAttribute("norm_coefficient") * parameter[i];
  constexpr int64_t late = 1000000;
  // Where the node has none, ONNX's script that made the results took this one
  // and not the operator's default.
  float epsilon = getAttribute("epsilon", 1e-2f);
  pprt::AdamW<float> rule(learningRate, getAttribute("alpha"),
                          getAttribute("beta"), epsilon,
                          /*weightDecay=*/0, /*gradientScale=*/1, late);
  rule.update(parameter.data(), gradient.data(), mean.data(), square.data(),
              parameter.size());
  expect(0, tensor, parameter);
  expect(1, tensor, mean);
  expect(2, tensor, square);
}

TEST_P(OnnxOptimizer, IsOurs) {
  ASSERT_GT(tensors, 0);
  bool isAdam = test.model.graph().node(0).op_type() == "Adam";
  for (int tensor = 0; tensor < tensors; ++tensor) {
    SCOPED_TRACE("tensor " + std::to_string(tensor));
    isAdam ? checkAdam(tensor) : checkSgd(tensor);
  }
}

INSTANTIATE_TEST_SUITE_P(Suite, OnnxOptimizer,
                         testing::Values("test_adam", "test_adam_multiple",
                                         "test_momentum",
                                         "test_momentum_multiple"),
                         [](const auto &info) { return info.param; });
