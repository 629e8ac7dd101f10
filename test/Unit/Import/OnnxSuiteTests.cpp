//===- OnnxSuiteTests.cpp - Tests of operators in ONNX's layout
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Imports each model of ONNX's operator tests, where they are installed, and
// evaluates it on their inputs. A model that is refused must be refused for an
// operator, a type or an operand that we do not support; one that is imported
// must give the expected outputs.
//
// The models in OperatorCases, of ONNX Runtime's operators, must all be
// imported and give what ONNX Runtime computes; make_operator_cases.py says how
// they were made.
//
//===----------------------------------------------------------------------===//

#include "Proto/Onnx.pb.h"
#include "Tensors.h"

#include "pipewright/Dialect/NN/Evaluate.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Import.h"
#include "pipewright/Import/OnnxFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// Where Debian has the tests, unless the environment names another place.
static std::string getSuite() {
  const char *place = std::getenv("PIPEWRIGHT_ONNX_TESTS");
  return place ? place : "/usr/share/libonnx-testdata/data/node";
}

namespace {

/// A test of the suite: a model with inputs and the outputs they lead to.
struct SuiteTest {
  ModelProto model;
  std::vector<TensorProto> inputs, outputs;
};

class OnnxSuite : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("onnx-suite", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::optional<SuiteTest> read(StringRef path);
  OwningOpRef<ModuleOp> import(const ModelProto &model);
  bool canEvaluate(ModuleOp module);
  FailureOr<nn::HostTensor> getTensor(const TensorProto &tensor);
  void compare(StringRef name, const SuiteTest &test, ModuleOp module);

  llvm::SmallString<128> folder;
  MLIRContext context;
  std::vector<std::string> messages;
};

} // namespace

template <typename MessageT>
static bool parse(const Twine &path, MessageT &message) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer && message.ParseFromArray((*buffer)->getBufferStart(),
                                          (*buffer)->getBufferSize());
}

/// The numbered tensors of a data set. Other kinds of values are not for us.
static std::vector<TensorProto> readTensors(const Twine &prefix) {
  std::vector<TensorProto> tensors;
  for (int i = 0;; ++i) {
    TensorProto tensor;
    if (!parse(prefix + Twine(i) + ".pb", tensor))
      return tensors;
    tensors.push_back(std::move(tensor));
  }
}

std::optional<SuiteTest> OnnxSuite::read(StringRef path) {
  SuiteTest test;
  if (!parse(path + "/model.onnx", test.model))
    return std::nullopt;
  test.inputs = readTensors(path + "/test_data_set_0/input_");
  test.outputs = readTensors(path + "/test_data_set_0/output_");
  const GraphProto &graph = test.model.graph();
  if (graph.input_size() != int(test.inputs.size()) ||
      graph.output_size() != int(test.outputs.size()))
    return std::nullopt;
  for (auto [info, tensor] : llvm::zip_equal(graph.output(), test.outputs))
    if (info.type().tensor_type().elem_type() != tensor.data_type())
      return std::nullopt;
  for (auto [info, tensor] : llvm::zip_equal(graph.input(), test.inputs))
    if (info.type().tensor_type().elem_type() != tensor.data_type())
      return std::nullopt;
  return test;
}

/// The model with its integer and scalar inputs known, as they are in real
/// models: shapes, axes, bounds.
static ModelProto promoteInputs(const SuiteTest &test) {
  ModelProto model = test.model;
  GraphProto &graph = *model.mutable_graph();
  for (auto [info, tensor] : llvm::zip_equal(graph.input(), test.inputs)) {
    bool isData = tensor.data_type() == TensorProto::FLOAT &&
                  tensor.dims_size() > 0 && info.name() != "scales";
    if (isData || info.name().empty())
      continue;
    *graph.add_initializer() = tensor;
    graph.mutable_initializer()->rbegin()->set_name(info.name());
  }
  return model;
}

OwningOpRef<ModuleOp> OnnxSuite::import(const ModelProto &model) {
  ImportOptions options;
  options.path = (folder + "/model.onnx").str();
  std::error_code error;
  llvm::raw_fd_ostream(options.path, error) << model.SerializeAsString();
  messages.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    messages.push_back(diag.str());
    return success();
  });
  return importOnnx(options, &context);
}

FailureOr<nn::HostTensor> OnnxSuite::getTensor(const TensorProto &tensor) {
  llvm::Expected<std::unique_ptr<OnnxFile>> file =
      OnnxFile::open((folder + "/model.onnx").str());
  if (!file) {
    llvm::consumeError(file.takeError());
    return failure();
  }
  llvm::Expected<TensorContents> contents = (*file)->read(tensor);
  if (!contents) {
    llvm::consumeError(contents.takeError());
    return failure();
  }
  return nn::HostTensor::fromAttribute(convertTensor(*contents, &context));
}

static bool isClose(double actual, double expected) {
  if (std::isnan(expected) || std::isinf(expected))
    return std::isnan(expected) ? std::isnan(actual) : actual == expected;
  return std::abs(actual - expected) <= 1e-6 + 1e-3 * std::abs(expected);
}

static bool isClose(const nn::HostTensor &actual,
                    const nn::HostTensor &expected) {
  if (actual.getShape() != expected.getShape() ||
      actual.isFloat() != expected.isFloat())
    return false;
  if (!actual.isFloat())
    return actual.getIntegers() == expected.getIntegers();
  return llvm::all_of(
      llvm::zip_equal(actual.getFloats(), expected.getFloats()),
      [](auto pair) { return isClose(std::get<0>(pair), std::get<1>(pair)); });
}

/// Whether the model has ops of nn only: weights are not the suite's subject,
/// and its random numbers are NumPy's.
bool OnnxSuite::canEvaluate(ModuleOp module) {
  Block &body = pp::getModel(module).getBody().front();
  return body.getOps<pp::GetParameterOp>().empty() &&
         body.getOps<pp::RandomKeyOp>().empty();
}

void OnnxSuite::compare(StringRef name, const SuiteTest &test,
                        ModuleOp module) {
  pp::ModelOp model = pp::getModel(module);
  llvm::DenseMap<Value, nn::HostTensor> values;
  for (auto [info, tensor] :
       llvm::zip_equal(test.model.graph().input(), test.inputs))
    if (BlockArgument argument = model.findInput(info.name()))
      values.try_emplace(argument, *getTensor(tensor));
  for (Operation &op : model.getBody().front()) {
    if (auto result = dyn_cast<pp::ReturnOp>(op)) {
      for (auto [i, output] : llvm::enumerate(result.getOutputs()))
        EXPECT_TRUE(isClose(values.at(output), *getTensor(test.outputs[i])))
            << name.str() << " output " << i;
      return;
    }
    SmallVector<nn::HostTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    FailureOr<SmallVector<nn::HostTensor>> results =
        nn::evaluate(&op, operands);
    ASSERT_TRUE(succeeded(results)) << name.str();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      values.try_emplace(value, tensor);
  }
}

/// Calls \p visit with the path of each test in \p suite.
static void visitTests(StringRef suite,
                       llvm::function_ref<void(StringRef path)> visit) {
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(suite, error), end;
       it != end && !error; it.increment(error))
    visit(it->path());
}

TEST_F(OnnxSuite, GivesTheExpectedOutputs) {
  if (!llvm::sys::fs::is_directory(getSuite()))
    GTEST_SKIP() << "the ONNX tests are not in " << getSuite();
  int compared = 0;
  visitTests(getSuite(), [&](StringRef path) {
    std::optional<SuiteTest> test = read(path);
    if (!test)
      return;
    StringRef name = llvm::sys::path::filename(path);
    OwningOpRef<ModuleOp> module = import(promoteInputs(*test));
    if (!module) {
      EXPECT_FALSE(messages.empty()) << name.str() << " fails silently";
      return;
    }
    if (!canEvaluate(*module))
      return;
    compare(name, *test, *module);
    ++compared;
  });
  llvm::outs() << compared << " models compared\n";
  // Fewer mean that operators were lost.
  EXPECT_GE(compared, 500);
}

TEST_F(OnnxSuite, ComputesWhatOnnxRuntimeDoes) {
  int compared = 0;
  visitTests(PIPEWRIGHT_OPERATOR_CASES, [&](StringRef path) {
    std::string name = llvm::sys::path::filename(path).str();
    std::optional<SuiteTest> test = read(path);
    ASSERT_TRUE(test) << name;
    OwningOpRef<ModuleOp> module = import(test->model);
    ASSERT_TRUE(module) << name << ": "
                        << (messages.empty() ? "" : messages.front());
    ASSERT_TRUE(canEvaluate(*module)) << name;
    compare(name, *test, *module);
    ++compared;
  });
  EXPECT_GT(compared, 0);
}
