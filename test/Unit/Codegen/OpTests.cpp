//===- OpTests.cpp - Compiled ops against the reference evaluator
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "pipewright/Dialect/NN/Evaluate.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

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

static void compareWithReference(nn::FunctionOp function,
                                 const CodegenTarget &target,
                                 const SymbolTable &symbols) {
  SCOPED_TRACE(function.getSymName().str());
  Tensors arguments = makeArguments(function);
  auto expected = nn::evaluateFunction(function, arguments, symbols);
  ASSERT_TRUE(succeeded(expected));
  Tensors actual = CompiledFunction(function, target).run(arguments);
  ASSERT_EQ(actual.size(), expected->size());
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    SCOPED_TRACE("result " + std::to_string(index));
    expectEqual(actual[index], (*expected)[index],
                isExact(function) ? 0 : getTolerance(type));
  }
}

// Each target that runs on this machine computes what the evaluator does.
TEST(CodegenOps, ComputeWhatTheReferenceDoes) {
  Samples samples;
  ASSERT_TRUE(samples.getModule());
  SymbolTable symbols(samples.getModule());
  const CodegenTarget *target = TargetRegistry::get().find("cpu");
  ASSERT_TRUE(target);
  for (nn::FunctionOp function : samples.getFunctions())
    compareWithReference(function, *target, symbols);
}

// A new op is compiled by a test, or this one names it.
TEST(CodegenOps, AllHaveSamples) {
  Samples samples;
  ASSERT_TRUE(samples.getModule());
  llvm::StringSet<> covered;
  samples.getModule().walk(
      [&](Operation *op) { covered.insert(op->getName().getStringRef()); });
  int ops = 0;
  for (RegisteredOperationName name :
       samples.getContext().getRegisteredOperations()) {
    if (name.getDialectNamespace() != "nn" || !nn::hasEvaluator(name) ||
        name.getStringRef() == nn::CallOp::getOperationName())
      continue;
    ++ops;
    EXPECT_TRUE(covered.contains(name.getStringRef()))
        << "no sample for " << name.getStringRef().str();
  }
  EXPECT_GT(ops, 0);
}

// What is not written in place needs memory; what is, does not.
TEST(CodegenOps, AccumulateInPlace) {
  Samples samples;
  const CodegenTarget *target = TargetRegistry::get().find("cpu");
  auto weight = samples.getModule().lookupSymbol<nn::FunctionOp>("accumulate");
  ASSERT_TRUE(weight);
  EXPECT_EQ(CompiledFunction(weight, *target).getWorkspaceBytes(), 0);
}
