//===- OpTests.cpp - Compiled ops against the reference evaluator
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "Samples.h"

#include "pipewright/Dialect/NN/Evaluate.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>

#include <random>

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

namespace {
/// Writes functions of random ops: some become code on buffers early, some
/// late, and some only move elements.
class RandomFunction {
public:
  explicit RandomFunction(int seed) : random(seed) {
    text = llvm::formatv("nn.function @random{0}(%0: {1}, %1: {1}) -> "
                         "({1}, {1}) {{\n",
                         seed, type);
    for (int op = 0; op < 12; ++op)
      addOp();
    text += llvm::formatv("nn.return %{0}, %{1} : {2}, {2}\n}\n", next - 1,
                          next - 4, type);
  }

  std::string text;

private:
  static constexpr const char *type = "tensor<6x6xf32>";

  int pick(ArrayRef<int> values) { return values[random() % values.size()]; }

  void addOp() {
    static constexpr const char *ops[] = {
        "%{0} = nn.exp %{1} : {3}\n",
        "%{0} = nn.add %{1}, %{2} : {3}\n",
        "%{0} = nn.mul %{1}, %{2} : {3}\n",
        "%{0} = nn.transpose %{1} [1, 0] : {3} -> {3}\n",
        "%{0} = nn.softmax %{1} axis 1 : {3}\n",
        "%{0} = nn.cumulative_sum %{1} axis 0 : {3}\n",
        "%{0} = nn.matmul %{1}, %{2} : {3}, {3} -> {3}\n"};
    // No number may grow and make errors grow with it.
    bool readsFree = !free.empty() && random() % 2;
    int lhs = readsFree ? pick(free) : pick(bounded), rhs = pick(bounded);
    text += llvm::formatv(ops[random() % std::size(ops)], next, lhs, rhs, type);
    text += llvm::formatv("%{0} = nn.tanh %{1} : {2}\n", next + 1, next, type);
    if (!readsFree)
      free.push_back(next);
    bounded.push_back(next + 1);
    next += 2;
  }

  std::mt19937 random;
  int next = 2;
  SmallVector<int> bounded{0, 1}; ///< between -2 and 2
  SmallVector<int> free;          ///< computed from those
};
} // namespace

// Whatever reads a value when, nothing is overwritten before.
TEST(CodegenOps, ComputeRandomFunctions) {
  std::string text;
  for (int seed = 0; seed < 60; ++seed)
    text += RandomFunction(seed).text;
  Samples samples(text);
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
