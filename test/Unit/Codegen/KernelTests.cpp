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
#include "pipewright/Dialect/PP/PP.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace mlir;
using namespace pipewright;

static void compareWithReference(nn::FunctionOp function,
                                 KernelFunction &kernels,
                                 const SymbolTable &symbols) {
  ASSERT_TRUE(kernels.hasKernels());
  Tensors arguments = makeArguments(function);
  auto expected = nn::evaluateFunction(function, arguments, symbols);
  ASSERT_TRUE(succeeded(expected));
  expectResults(function, kernels.run(arguments), *expected);
  EXPECT_EQ(kernels.getFaults(), "");
}

static void compareWithReference(nn::FunctionOp function,
                                 const SymbolTable &symbols) {
  SCOPED_TRACE(function.getSymName().str());
  KernelFunction kernels(function);
  compareWithReference(function, kernels, symbols);
}

/// Whether functions of the toolkit's library can be linked.
static bool hasToolkit() {
  llvm::Expected<std::string> toolkit = cuda::findToolkit();
  if (toolkit)
    return !toolkit->empty();
  llvm::consumeError(toolkit.takeError());
  return false;
}

/// Samples in which all iterations meet, so that they run on one thread: a
/// running sum of one line, or of its parts' sums.
static const std::set<std::string> sequentialSamples = {
    "bf16_cumulative_sum", "cumulative_sum_of_one_long_line"};

// Kernels compute what the evaluator does in double, for each op there is, and
// without a fault that a device would hide.
TEST(Kernels, ComputeWhatTheReferenceDoes) {
  if (!hasToolkit())
    GTEST_SKIP() << "there is no CUDA toolkit";
  Samples samples;
  ASSERT_TRUE(samples.getModule());
  SymbolTable symbols(samples.getModule());
  for (nn::FunctionOp function : samples.getFunctions()) {
    bool isSequential = false;
    auto noteWarning = [&](Diagnostic &diagnostic) {
      bool isWarning = diagnostic.getSeverity() == DiagnosticSeverity::Warning;
      isSequential |= isWarning;
      return success(isWarning);
    };
    ScopedDiagnosticHandler handler(function.getContext(), noteWarning);
    compareWithReference(function, symbols);
    EXPECT_EQ(isSequential,
              sequentialSamples.count(function.getSymName().str()) > 0);
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

namespace {
/// What a function of KernelCases.mlir becomes.
struct Wanted {
  /// What belongs to the same rows or elements is one.
  std::vector<std::string> launches;
  /// Bytes that the kernels move, relative to those of the function's arguments
  /// and results.
  double traffic = 1.0;
  /// Bytes of the sectors that warps touch at once, relative to what they ask
  /// for. Rows that begin within a sector have one more for 128 bytes.
  double sectors = 1.25;
};
} // namespace

static const std::vector<std::string> scatterLaunches = {
    "parallel_0", "outputs_1", "parallel_2", "parallel_3", "parallel_4"};

static const std::map<std::string, Wanted> wantedKernels = {
    {"softmax", {{"rows_0"}}},
    {"softmax_of_uneven_rows", {{"rows_0"}}},
    // Rows that do not fit into registers are read again, from a cache.
    {"softmax_of_long_rows", {{"rows_0"}}},
    {"softmax_of_bf16", {{"rows_0"}}},
    {"softmax_of_short_rows", {{"rows_0"}}},
    {"cross_entropy_of_long_rows", {{"rows_0", "rows_1"}}},
    {"cross_entropy_grad_of_long_rows", {{"rows_0"}}},
    {"softmax_in_place", {{"rows_0"}}},
    {"layer_norm", {{"rows_0"}}},
    {"residual_and_norm", {{"rows_0"}}},
    {"layer_norm_grad", {{"rows_0"}}},
    // Over the columns of a row, and over the rows.
    {"cross_entropy", {{"rows_0", "rows_1"}}},
    {"cross_entropy_grad", {{"rows_0"}}},
    {"gelu_grad", {{"elements_0"}}},
    {"adam", {{"elements_0"}}},
    // Keys, ranks, order, lines, and lines of several threads. Of a table, only
    // lines with items are read and written.
    {"embedding_grad_of_many", {scatterLaunches, 1.05}},
    {"embedding_grad_of_few_each", {scatterLaunches, 0.65}},
    {"embedding_grad_of_one",
     {{"elements_0", "parallel_1", "outputs_2", "parallel_3", "parallel_4",
       "parallel_5"},
      1.25}},
    {"position_grad", {{"parallel_0"}, 0.75}},
    {"embedding", {{"elements_0"}}},
    // The image is filled, then read and written nine times.
    {"overlapping_windows",
     {{"elements_0", "parallel_1", "parallel_2", "parallel_3", "parallel_4",
       "parallel_5", "parallel_6", "parallel_7", "parallel_8", "parallel_9"},
      2.6}},
    // Windows are two elements apart.
    {"max_pool", {{"columns_0"}, 1.0, 2.0}},
    {"swiglu", {{"elements_0"}}},
    {"swiglu_grad", {{"columns_0", "columns_1"}}},
    {"permute", {{"elements_0"}}},
    {"permute_rows", {{"elements_0"}}},
    {"permute_rows_of_uneven_length", {{"elements_0"}}},
    // Numbers are anywhere.
    {"permute_numbers", {{"elements_0"}, 0.8, 2.0}},
    // Who has which peer, twice as many numbers as there are rows; those sums
    // by parts; and from the rows' places what is at each.
    {"places",
     {{"elements_0", "loops_1", "outputs_2", "loops_3", "elements_4",
       "outputs_5", "elements_6", "elements_7", "parallel_8"},
      8.0,
      1.4}},
    {"rope", {{"elements_0"}}},
    {"rope_negative", {{"elements_0"}}},
    {"rope_of_neighbors", {{"elements_0"}}},
    {"transpose", {{"tiles_0"}}},
    {"transpose_of_uneven_lines", {{"tiles_0"}}},
    {"transposes_of_three_axes", {{"tiles_0"}}},
    {"split_heads", {{"elements_0"}}},
    // Parts of the rows, then the parts.
    {"bias_grad", {{"columns_0", "columns_1"}}},
    {"bias_grad_accumulated", {{"columns_0", "columns_1"}}},
    {"norm_parameters_grad", {{"columns_0", "columns_1"}}},
    {"tanh_grad_and_bias_grad", {{"columns_0", "columns_1"}}},
    {"channel_sums", {{"rows_0"}}},
    // Maxima of columns, sums, and what is made of them.
    {"softmax_of_columns", {{"columns_0", "columns_1", "elements_2"}, 2.3}},
    {"sum_of_many", {{"rows_0", "rows_1"}}},
    // The table is filled, then read and written.
    {"embedding_grad", {{"elements_0", "loops_1"}, 1.25}},
};

static int64_t getBytes(TypeRange types) {
  int64_t bytes = 0;
  for (Type type : types)
    bytes += pp::getBytes(type);
  return bytes;
}

/// Checks how many bytes the last run of \p kernels moved, and that threads
/// that follow each other asked for bytes that do.
static void expectTraffic(nn::FunctionOp function,
                          const KernelFunction &kernels, const Wanted &wanted) {
  int64_t bytes = 0, asked = 0, sectors = 0;
  for (const KernelRun &run : kernels.getRuns()) {
    SCOPED_TRACE(run.kernel);
    bytes += run.bytes;
    asked += run.getAskedBytes();
    sectors += run.getSectorBytes();
    auto shared = run.counters.traffic.find("shared");
    if (shared != run.counters.traffic.end())
      EXPECT_EQ(shared->second.bankConflicts, 0);
  }
  // A few single values have a sector each.
  EXPECT_LE(sectors, wanted.sectors * asked + 1024);
  int64_t least = getBytes(function.getArgumentTypes()) +
                  getBytes(function.getResultTypes());
  EXPECT_LE(bytes, 1.15 * wanted.traffic * least);
  // What is wanted is not more than what is needed.
  EXPECT_GE(bytes, 0.8 * wanted.traffic * least);
}

// What belongs to the same rows, or to the same elements, is one kernel.
TEST(Kernels, HoldWhatBelongsTogether) {
  auto text = llvm::MemoryBuffer::getFile(KERNEL_CASES);
  ASSERT_TRUE(text);
  Samples cases((*text)->getBuffer());
  ASSERT_TRUE(cases.getModule());
  SymbolTable symbols(cases.getModule());
  EXPECT_EQ(cases.getFunctions().size(), wantedKernels.size());
  for (nn::FunctionOp function : cases.getFunctions()) {
    SCOPED_TRACE(function.getSymName().str());
    KernelFunction kernels(function);
    compareWithReference(function, kernels, symbols);
    const Wanted &wanted = wantedKernels.at(function.getSymName().str());
    std::vector<std::string> launches;
    for (const KernelRun &run : kernels.getRuns())
      launches.push_back(run.kernel);
    EXPECT_EQ(launches, wanted.launches);
    expectTraffic(function, kernels, wanted);
  }
}

/// Whether a run of \p function without barriers has a fault that \p part
/// tells.
static void expectFaultWithoutBarriers(StringRef function, StringRef part) {
  auto text = llvm::MemoryBuffer::getFile(KERNEL_CASES);
  ASSERT_TRUE(text);
  Samples cases((*text)->getBuffer());
  ASSERT_TRUE(cases.getModule());
  for (nn::FunctionOp candidate : cases.getFunctions()) {
    if (candidate.getSymName() != function)
      continue;
    KernelFunction kernels(candidate);
    ASSERT_TRUE(kernels.hasKernels());
    kernels.removeBarriers();
    kernels.run(makeArguments(candidate));
    EXPECT_NE(kernels.getFaults().find(part), std::string::npos)
        << kernels.getFaults();
  }
}

// A barrier that is not there is found, wherever threads exchange values.
TEST(Kernels, NeedTheirBarriers) {
  for (StringRef function :
       {"transpose", "softmax_of_uneven_rows", "bias_grad"}) {
    SCOPED_TRACE(function.str());
    expectFaultWithoutBarriers(function, "which nothing orders with");
  }
}
