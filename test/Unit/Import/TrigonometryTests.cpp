//===- TrigonometryTests.cpp - How exact composed functions are
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"
#include "ModelGradients.h"
#include "ModelTest.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

namespace {
struct Function {
  const char *op;
  double (*reference)(double);
  /// Values from here to there, at equal distances or, from a positive one on,
  /// at equal ratios; with their negatives where `isOdd`.
  double low, high;
  bool isOdd = false;
};

class Trigonometry : public ModelTest {
protected:
  void check(const Function &function);
  /// Expects the derivative of \p op at each of \p x to be \p derivative.
  void checkDerivative(const char *op, double (*derivative)(double),
                       std::vector<double> x);
};
} // namespace

constexpr int64_t count = 2001;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A model of one node of \p op on \p size numbers.
static ModelProto makeModel(const char *op, int64_t size) {
  ModelProto model;
  model.set_ir_version(10);
  model.add_opset_import()->set_version(17);
  GraphProto &graph = *model.mutable_graph();
  ValueInfoProto *x = graph.add_input();
  x->set_name("x");
  TypeProto::Tensor *type = x->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_value(size);
  NodeProto *node = graph.add_node();
  node->set_op_type(op);
  node->add_input("x");
  node->add_output("y");
  graph.add_output()->set_name("y");
  return model;
}

static std::vector<double> makeInputs(const Function &function) {
  std::vector<double> inputs;
  for (int64_t i = 0; i < count; ++i) {
    double part = double(i) / (count - 1);
    double x = function.low + (function.high - function.low) * part;
    if (function.low > 0)
      x = function.low * std::pow(function.high / function.low, part);
    if (function.low == function.high)
      x = function.low;
    inputs.push_back(static_cast<float>(x));
    if (function.isOdd)
      inputs.push_back(-inputs.back());
  }
  return inputs;
}

void Trigonometry::check(const Function &function) {
  SCOPED_TRACE(function.op);
  std::vector<double> x = makeInputs(function);
  OwningOpRef<ModuleOp> module = import(makeModel(function.op, x.size()));
  ASSERT_TRUE(module);
  ModelFunction model(*module);
  const CodegenTarget *target = TargetRegistry::get().find("cpu");
  Tensors y = CompiledFunction(model.getFunction(), *target)
                  .run(nn::HostTensor({int64_t(x.size())}, x));
  ASSERT_EQ(y.size(), 1u);
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = function.reference(x[i]), actual = y[0].getFloats()[i];
    if (std::isinf(expected) || std::isnan(expected))
      ASSERT_TRUE(actual == expected ||
                  (std::isnan(actual) && std::isnan(expected)))
          << actual << " at " << x[i];
    else
      ASSERT_NEAR(actual, expected, 1e-6 * std::abs(expected) + 1e-37)
          << "at " << x[i];
  }
}

TEST_F(Trigonometry, IsExactWhereResultsAreSmall) {
  check({"Sinh", std::sinh, 1e-30, 1, /*isOdd=*/true});
  check({"Asinh", std::asinh, 1e-30, 1, /*isOdd=*/true});
  check({"Atanh", std::atanh, 1e-30, 0.99, /*isOdd=*/true});
  check({"Tan", std::tan, 1e-30, 1, /*isOdd=*/true});
  check({"Asin", std::asin, 1e-30, 0.99, /*isOdd=*/true});
  check({"Atan", std::atan, 1e-30, 1, /*isOdd=*/true});
  check({"Acosh", std::acosh, 1, 1.001});
  check({"Acos", std::acos, 0.999, 1});
}

TEST_F(Trigonometry, IsExactElsewhere) {
  check({"Sinh", std::sinh, -88, 88});
  check({"Cosh", std::cosh, -88, 88});
  check({"Asinh", std::asinh, 1, 1e30, /*isOdd=*/true});
  check({"Acosh", std::acosh, 1.001, 1e30});
  check({"Atanh", std::atanh, -0.9999, 0.9999});
  check({"Asin", std::asin, -1, 1});
  check({"Acos", std::acos, -1, 1});
  check({"Atan", std::atan, 1, 1e30, /*isOdd=*/true});
}

TEST_F(Trigonometry, EndsWhereTheFunctionDoes) {
  check({"Acosh", std::acosh, infinity, infinity});
  check({"Asinh", std::asinh, infinity, infinity, /*isOdd=*/true});
  check({"Atan", std::atan, infinity, infinity, /*isOdd=*/true});
  check({"Atanh", std::atanh, 1, 2, /*isOdd=*/true});
  check({"Acosh", std::acosh, -2, 0.5});
  check({"Asin", std::asin, 1.5, 2, /*isOdd=*/true});
  check({"Acos", std::acos, 1.5, 2, /*isOdd=*/true});
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

void Trigonometry::checkDerivative(const char *op, double (*derivative)(double),
                                   std::vector<double> x) {
  SCOPED_TRACE(op);
  int64_t size = x.size();
  OwningOpRef<ModuleOp> module = import(makeModel(op, size));
  ASSERT_TRUE(module);
  ModelFunction model(*module);
  SmallVector<nn::HostTensor> results =
      evaluateGradients(model, nn::HostTensor({size}, x));
  ASSERT_EQ(results.size(), 2u);
  for (int64_t i = 0; i < size; ++i) {
    double expected = derivative(x[i]);
    EXPECT_NEAR(results.back().getFloats()[i], expected,
                1e-6 * std::abs(expected))
        << "at " << x[i];
  }
}

TEST_F(Trigonometry, HasDerivativesAtZeroAndFarAway) {
  std::vector<double> all = {0, 1e-9, -1e-9, 0.3, -0.3, 2, -2, 50, -50};
  checkDerivative("Sinh", std::cosh, all);
  checkDerivative("Cosh", std::sinh, all);
  checkDerivative("Asinh", [](double x) { return 1 / std::sqrt(1 + x * x); },
                  {0, 1e-9, -1e-9, 0.3, -0.3, 2, -2, 1e6, -1e6});
  checkDerivative("Atan", [](double x) { return 1 / (1 + x * x); },
                  {0, 1e-9, -1e-9, 0.3, -0.3, 0.7, 2, -2, 3, -3, 1e3, -1e3});
  checkDerivative("Acosh", [](double x) { return 1 / std::sqrt(x * x - 1); },
                  {1.001, 1.5, 3, 1e6});
  checkDerivative("Atanh", [](double x) { return 1 / (1 - x * x); },
                  {0, 1e-9, -1e-9, 0.3, -0.3, 0.99, -0.99});
  checkDerivative("Asin", [](double x) { return 1 / std::sqrt(1 - x * x); },
                  {0, 1e-9, -1e-9, 0.3, -0.3, 0.99, -0.99});
  checkDerivative("Acos", [](double x) { return -1 / std::sqrt(1 - x * x); },
                  {0, 1e-9, -1e-9, 0.3, -0.3, 0.99, -0.99});
}
