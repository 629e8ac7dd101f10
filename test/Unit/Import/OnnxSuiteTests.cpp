//===- OnnxSuiteTests.cpp - Tests of operators in ONNX's layout
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports each model of ONNX's own tests and computes it twice, with compiled
// code and with the reference evaluator. A model of operators and types that
// we have must give the expected outputs, unless OnnxSuiteExceptions.txt names
// it with a reason; any other must be refused with a diagnostic, or give the
// expected outputs too.
//
// The models in OperatorCases, of ONNX Runtime's operators, must all be
// imported and give what ONNX Runtime computes; make_operator_cases.py says how
// they were made.
//
//===----------------------------------------------------------------------===//

#include "CompiledFunction.h"
#include "ModelFunction.h"
#include "SuiteTest.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/NN/Evaluate.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// Where Debian has the tests, unless the environment names another place.
static std::string getSuite() {
  const char *place = std::getenv("PIPEWRIGHT_ONNX_TESTS");
  return place ? place : "/usr/share/libonnx-testdata/data";
}

/// The tests of the suite, as `node/test_add`. The suite's `real` models are
/// only links to large files.
static std::vector<std::string> listSuite() {
  std::vector<std::string> tests;
  for (const char *folder :
       {"node", "pytorch-converted", "pytorch-operator", "simple"})
    for (const std::string &name : listFolders(getSuite() + "/" + folder))
      tests.push_back(std::string(folder) + "/" + name);
  return tests;
}

/// Why the test \p name need not give the expected outputs; empty if it must.
static std::string getException(StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(PIPEWRIGHT_SUITE_EXCEPTIONS);
  EXPECT_TRUE(buffer) << "cannot read " << PIPEWRIGHT_SUITE_EXCEPTIONS;
  for (StringRef line : llvm::split((*buffer)->getBuffer(), '\n'))
    if (line.consume_front(name) && line.consume_front(": "))
      return line.str();
  return "";
}

namespace {

/// Counts what became of the tests of this process.
class Score : public testing::Environment {
public:
  void TearDown() override {
    if (computed + refused + excepted > 0)
      llvm::outs() << "ONNX suite: " << computed
                   << " models give the expected outputs, " << refused
                   << " are refused, " << excepted << " are exceptions\n";
  }

  int computed = 0, refused = 0, excepted = 0;
};

/// Owned by GoogleTest.
Score *const score = new Score;
const testing::Environment *const registered =
    testing::AddGlobalTestEnvironment(score);

class ModelTest : public testing::Test {
protected:
  ModelTest() {
    DialectRegistry registry;
    registerCodegenDialects(registry);
    context.appendDialectRegistry(registry);
  }
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("onnx-suite", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  OwningOpRef<ModuleOp> import(const ModelProto &model);
  /// Imports the model with its inputs unknown or, if it must, known.
  OwningOpRef<ModuleOp> importEither(const SuiteTest &test);
  /// Says what is wrong with the outputs of \p module; empty if nothing is.
  std::string compute(const SuiteTest &test, ModuleOp module);

  llvm::SmallString<128> folder;
  MLIRContext context;
  std::vector<std::string> errors; ///< of the last import
};

class OnnxSuite : public ModelTest,
                  public testing::WithParamInterface<std::string> {};
class OperatorCase : public ModelTest,
                     public testing::WithParamInterface<std::string> {};

} // namespace

//===----------------------------------------------------------------------===//
// Importing
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> ModelTest::import(const ModelProto &model) {
  ImportOptions options;
  options.path = (folder + "/model.onnx").str();
  std::error_code error;
  llvm::raw_fd_ostream(options.path, error) << model.SerializeAsString();
  errors.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    if (diag.getSeverity() == DiagnosticSeverity::Error)
      errors.push_back(diag.str());
    return success();
  });
  return importOnnx(options, &context);
}

OwningOpRef<ModuleOp> ModelTest::importEither(const SuiteTest &test) {
  if (OwningOpRef<ModuleOp> module = import(test.model))
    return module;
  if (!test.hasTensors())
    return {};
  return import(test.promoteInputs());
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

static bool isClose(double actual, double expected, const SuiteTest &test) {
  if (std::isnan(expected) || std::isinf(expected))
    return std::isnan(expected) ? std::isnan(actual) : actual == expected;
  return std::abs(actual - expected) <=
         test.absolute + test.relative * std::abs(expected);
}

/// Says where \p actual differs from \p expected.
static std::string compare(const nn::HostTensor &actual,
                           const nn::HostTensor &expected,
                           const SuiteTest &test) {
  if (actual.getShape() != expected.getShape() ||
      actual.isFloat() != expected.isFloat())
    return "has another type";
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    if (expected.isFloat() &&
        !isClose(actual.getFloats()[i], expected.getFloats()[i], test))
      return llvm::formatv("element {0} is {1}, not {2}", i,
                           actual.getFloats()[i], expected.getFloats()[i]);
    if (!expected.isFloat() &&
        actual.getIntegers()[i] != expected.getIntegers()[i])
      return llvm::formatv("element {0} is {1}, not {2}", i,
                           actual.getIntegers()[i], expected.getIntegers()[i]);
  }
  return "";
}

/// Says where \p actual, computed by \p what, differs from the outputs of
/// \p test.
static std::string compare(StringRef what, ArrayRef<nn::HostTensor> actual,
                           const SuiteTest &test, MLIRContext *context) {
  if (actual.size() != test.outputs.size())
    return (what + " has no outputs").str();
  for (auto [index, tensor] : llvm::enumerate(test.outputs)) {
    std::string difference =
        compare(actual[index], readTensor(tensor, context), test);
    if (!difference.empty())
      return llvm::formatv("{0}: output {1} {2}", what, index, difference);
  }
  return "";
}

std::string ModelTest::compute(const SuiteTest &test, ModuleOp module) {
  ModelFunction model(module);
  nn::FunctionOp function = model.getFunction();
  Tensors arguments;
  for (const std::string &name : model.getInputs())
    for (auto [info, tensor] : llvm::zip_equal(test.inputInfos, test.inputs))
      if (info.name() == name)
        arguments.push_back(readTensor(tensor, &context));
  llvm::append_range(arguments, model.getParameters());

  const CodegenTarget *target = TargetRegistry::get().find("cpu");
  Tensors outputs = CompiledFunction(function, *target).run(arguments);
  // Random numbers are those of another generator.
  if (model.isRandom())
    return "";
  std::string problem = compare("compiled code", outputs, test, &context);
  if (!problem.empty())
    return problem;
  auto expected =
      nn::evaluateFunction(function, arguments, SymbolTable(model.getModule()));
  if (failed(expected))
    return "the evaluator fails";
  return compare("the evaluator", *expected, test, &context);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

/// The last part of a test's name: no two folders share one.
static std::string
describeParam(const testing::TestParamInfo<std::string> &info) {
  return StringRef(info.param).rsplit('/').second.str();
}

TEST_P(OnnxSuite, GivesTheExpectedOutputs) {
  std::string name = GetParam(), exception = getException(name);
  std::optional<SuiteTest> test = SuiteTest::read(getSuite() + "/" + name);
  ASSERT_TRUE(test);
  OwningOpRef<ModuleOp> module = importEither(*test);
  std::string problem;
  if (module)
    problem = compute(*test, *module);
  else if (test->isInReach())
    problem = "is refused: " + llvm::join(errors, "; ");

  if (!exception.empty()) {
    EXPECT_FALSE(problem.empty()) << "is no exception any more";
    ++score->excepted;
    return;
  }
  ASSERT_EQ(problem, "");
  if (module) {
    ++score->computed;
    return;
  }
  ASSERT_FALSE(errors.empty()) << "is refused without a word";
  llvm::outs() << name << " is refused: " << errors.front() << "\n";
  ++score->refused;
}

INSTANTIATE_TEST_SUITE_P(Models, OnnxSuite, testing::ValuesIn(listSuite()),
                         describeParam);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnnxSuite);

// Without the suite there would be nothing to fail.
TEST(OnnxSuiteFolder, IsThere) {
  EXPECT_GT(listSuite().size(), 1000u)
      << "no tests in " << getSuite() << "; install libonnx-testdata";
}

TEST_P(OperatorCase, GivesTheExpectedOutputs) {
  std::optional<SuiteTest> test = SuiteTest::read(
      (Twine(PIPEWRIGHT_OPERATOR_CASES "/") + GetParam()).str());
  ASSERT_TRUE(test);
  OwningOpRef<ModuleOp> module = import(test->model);
  ASSERT_TRUE(module) << llvm::join(errors, "; ");
  EXPECT_EQ(compute(*test, *module), "");
}

INSTANTIATE_TEST_SUITE_P(
    Models, OperatorCase,
    testing::ValuesIn(listFolders(PIPEWRIGHT_OPERATOR_CASES)),
    [](const testing::TestParamInfo<std::string> &info) { return info.param; });
