//===- Comparison.cpp - Results against a reference
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace mlir;
using namespace pipewright;

static void expectNear(double actual, double expected, double tolerance) {
  if (std::isnan(expected))
    ASSERT_TRUE(std::isnan(actual)) << actual;
  else if (tolerance == 0)
    ASSERT_EQ(actual, expected);
  else
    ASSERT_NEAR(actual, expected, tolerance * (1 + std::abs(expected)));
}

static void expectEqual(const nn::HostTensor &actual,
                        const nn::HostTensor &expected, double tolerance) {
  ASSERT_EQ(actual.getShape(), expected.getShape());
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    SCOPED_TRACE("element " + std::to_string(i));
    if (expected.isFloat())
      expectNear(actual.getFloats()[i], expected.getFloats()[i], tolerance);
    else
      ASSERT_EQ(actual.getIntegers()[i], expected.getIntegers()[i]);
  }
}

/// Narrow floats differ by one in the last place where the sums before the
/// rounding differ.
static double getTolerance(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  if (element.isBF16())
    return 1.0 / (1 << 7);
  return element.isF16() ? 1.0 / (1 << 10) : 1e-5;
}

/// A conversion has one right result.
static bool isExact(nn::FunctionOp function) {
  return llvm::all_of(function.getBody().front(), [](Operation &op) {
    return isa<nn::CastOp, nn::ConstantOp, nn::ReturnOp>(op);
  });
}

void pipewright::expectResults(nn::FunctionOp function, const Tensors &actual,
                               const Tensors &expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    SCOPED_TRACE("result " + std::to_string(index));
    expectEqual(actual[index], expected[index],
                isExact(function) ? 0 : getTolerance(type));
  }
}
