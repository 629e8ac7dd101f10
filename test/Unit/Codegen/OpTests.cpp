//===- OpTests.cpp - Compiled ops against the reference evaluator
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "Samples.h"

#include "pipewright/Dialect/NN/Evaluate.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

static void compareWithReference(nn::FunctionOp function,
                                 const CodegenTarget &target,
                                 const SymbolTable &symbols) {
  SCOPED_TRACE(function.getSymName().str());
  Tensors arguments = makeArguments(function);
  auto expected = nn::evaluateFunction(function, arguments, symbols);
  ASSERT_TRUE(succeeded(expected));
  Tensors actual = CompiledFunction(function, target).run(arguments);
  expectResults(function, actual, *expected);
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

// Whatever reads a value when, nothing is overwritten before.
TEST(CodegenOps, ComputeRandomFunctions) {
  Samples samples(writeRandomFunctions(60));
  ASSERT_TRUE(samples.getModule());
  SymbolTable symbols(samples.getModule());
  const CodegenTarget *target = TargetRegistry::get().find("cpu");
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
