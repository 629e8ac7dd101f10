//===- Differences.cpp - Derivatives by small differences
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Differences.h"

#include "mlir/IR/BuiltinOps.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipewright;

nn::HostTensor TensorMaker::make(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  nn::HostTensor values = nn::HostTensor::zeros(tensor);
  if (values.isFloat())
    for (double &value : values.getFloats())
      value = floats(generator);
  else
    for (int64_t &value : values.getIntegers())
      value = integers(generator) %
              (tensor.getElementType().isInteger(1) ? 2 : integers.max() + 1);
  return values;
}

Tensors TensorMaker::make(ArrayRef<Type> types) {
  Tensors tensors;
  for (Type type : types)
    tensors.push_back(make(type));
  return tensors;
}

Tensors pipewright::evaluate(nn::FunctionOp function,
                             ArrayRef<nn::HostTensor> inputs,
                             nn::Rounding rounding) {
  SymbolTable symbols(function->getParentOfType<ModuleOp>());
  auto results = nn::evaluateFunction(function, inputs, symbols, rounding);
  EXPECT_TRUE(succeeded(results)) << function.getSymName().str();
  return succeeded(results) ? *results : Tensors();
}

static double dot(ArrayRef<nn::HostTensor> lhs, ArrayRef<nn::HostTensor> rhs) {
  double sum = 0;
  for (auto [l, r] : llvm::zip(lhs, rhs)) {
    if (!l.isFloat())
      continue;
    for (auto [x, y] : llvm::zip_equal(l.getFloats(), r.getFloats()))
      sum += x * y;
  }
  return sum;
}

std::vector<double> pipewright::differentiate(
    nn::FunctionOp function, ArrayRef<nn::HostTensor> inputs,
    ArrayRef<nn::HostTensor> cotangents, unsigned argument) {
  const double step = 1e-5;
  Tensors moved(inputs);
  std::vector<double> gradient;
  for (double &element : moved[argument].getFloats()) {
    double value = element;
    element = value + step;
    double above = dot(evaluate(function, moved), cotangents);
    element = value - step;
    double below = dot(evaluate(function, moved), cotangents);
    element = value;
    gradient.push_back((above - below) / (2 * step));
  }
  return gradient;
}

void pipewright::expectNear(ArrayRef<double> actual,
                            ArrayRef<double> expected) {
  ASSERT_EQ(actual.size(), expected.size());
  double scale = 1;
  for (double value : expected)
    scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-6 * scale) << "at element " << i;
}
