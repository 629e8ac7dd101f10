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
#include "ModelTest.h"

#include "pipewright/Dialect/NN/Evaluate.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// Why the test \p name need not give the expected outputs; empty if it must.
static std::string getException(StringRef name) {
  const char *given = std::getenv("PIPEWRIGHT_ONNX_EXCEPTIONS");
  StringRef path = given ? given : PIPEWRIGHT_SUITE_EXCEPTIONS;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  EXPECT_TRUE(buffer) << "cannot read " << path.str();
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

class OnnxSuite : public ModelTest,
                  public testing::WithParamInterface<std::string> {};
class OperatorCase : public ModelTest,
                     public testing::WithParamInterface<std::string> {};

} // namespace

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// Says what is wrong with the outputs of \p module; empty if nothing is.
static std::string compute(const SuiteTest &test, ModuleOp module) {
  MLIRContext *context = module.getContext();
  ModelFunction model(module);
  nn::FunctionOp function = model.getFunction();
  Tensors arguments;
  for (const std::string &name : model.getInputs())
    arguments.push_back(test.readInput(name, context));
  llvm::append_range(arguments, model.getParameters());

  const CodegenTarget *target = TargetRegistry::get().find("cpu");
  Tensors outputs = CompiledFunction(function, *target).run(arguments);
  // Random numbers are those of another generator.
  if (model.isRandom())
    return "";
  std::string problem = test.findDifference("compiled code", outputs, context);
  if (!problem.empty())
    return problem;
  auto expected =
      nn::evaluateFunction(function, arguments, SymbolTable(model.getModule()));
  if (failed(expected))
    return "the evaluator fails";
  return test.findDifference("the evaluator", *expected, context);
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

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
