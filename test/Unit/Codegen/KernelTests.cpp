//===- KernelTests.cpp - Kernels against the reference evaluator
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Comparison.h"
#include "KernelFunction.h"
#include "Samples.h"
#include "Targets/CUDA/Toolkit.h"

#include "pipewright/Dialect/NN/Evaluate.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <map>

using namespace mlir;
using namespace pipewright;

static void compareWithReference(nn::FunctionOp function,
                                 const SymbolTable &symbols) {
  SCOPED_TRACE(function.getSymName().str());
  KernelFunction kernels(function);
  ASSERT_TRUE(kernels.hasKernels());
  Tensors arguments = makeArguments(function);
  auto expected = nn::evaluateFunction(function, arguments, symbols);
  ASSERT_TRUE(succeeded(expected));
  expectResults(function, kernels.run(arguments), *expected);
}

/// Whether functions of the toolkit's library can be linked.
static bool hasToolkit() {
  llvm::Expected<std::string> toolkit = cuda::findToolkit();
  if (toolkit)
    return !toolkit->empty();
  llvm::consumeError(toolkit.takeError());
  return false;
}

/// Samples in which all iterations meet: a running sum of one line, and windows
/// of one image that overlap.
static bool isSequential(StringRef function) {
  return function == "bf16_cumulative_sum" || function == "f16_col2im" ||
         function == "col2im_added";
}

// Kernels compute what the evaluator does in double, for each op there is, and
// without a fault that a device would hide.
TEST(Kernels, ComputeWhatTheReferenceDoes) {
  if (!hasToolkit())
    GTEST_SKIP() << "there is no CUDA toolkit";
  Samples samples;
  ASSERT_TRUE(samples.getModule());
  SymbolTable symbols(samples.getModule());
  for (nn::FunctionOp function : samples.getFunctions()) {
    if (!isSequential(function.getSymName())) {
      compareWithReference(function, symbols);
      continue;
    }
    ScopedDiagnosticHandler ignore(function.getContext(),
                                   [](Diagnostic &) { return success(); });
    EXPECT_FALSE(KernelFunction(function).hasKernels());
  }
}

// Whatever reads a value when, no thread overwrites it before.
TEST(Kernels, ComputeRandomFunctions) {
  Samples samples(writeRandomFunctions(60));
  ASSERT_TRUE(samples.getModule());
  SymbolTable symbols(samples.getModule());
  for (nn::FunctionOp function : samples.getFunctions())
    compareWithReference(function, symbols);
}

/// The functions of KernelCases.mlir, and the kernels that each becomes: what
/// belongs to the same rows or elements is one.
static const std::map<std::string, std::vector<std::string>> wantedLaunches = {
    {"softmax", {"rows_0"}},
    {"softmax_of_uneven_rows", {"rows_0"}},
    {"softmax_of_long_rows", {"rows_0"}},
    {"softmax_of_bf16", {"rows_0"}},
    {"softmax_in_place", {"rows_0"}},
    {"layer_norm", {"rows_0"}},
    {"layer_norm_grad", {"rows_0"}},
    // Over the columns of a row, and over the rows.
    {"cross_entropy", {"rows_0", "rows_1"}},
    {"cross_entropy_grad", {"rows_0"}},
    {"gelu_grad", {"elements_0"}},
    {"adam", {"elements_0"}},
    // What the sums are added to is filled before.
    {"bias_grad", {"elements_0", "outputs_1"}},
    {"embedding_grad", {"elements_0", "loops_1"}},
};

// What belongs to the same rows, or to the same elements, is one kernel.
TEST(Kernels, HoldWhatBelongsTogether) {
  auto text = llvm::MemoryBuffer::getFile(KERNEL_CASES);
  ASSERT_TRUE(text);
  Samples cases((*text)->getBuffer());
  ASSERT_TRUE(cases.getModule());
  SymbolTable symbols(cases.getModule());
  EXPECT_EQ(cases.getFunctions().size(), wantedLaunches.size());
  for (nn::FunctionOp function : cases.getFunctions()) {
    compareWithReference(function, symbols);
    EXPECT_EQ(KernelFunction(function).getLaunches(),
              wantedLaunches.at(function.getSymName().str()))
        << function.getSymName().str();
  }
}
