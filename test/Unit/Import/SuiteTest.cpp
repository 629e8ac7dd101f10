//===- SuiteTest.cpp - A model with what it must compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SuiteTest.h"

#include "OpsetImports.h"
#include "Tensors.h"
#include "TypedData.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

template <typename MessageT>
static bool parse(const Twine &path, MessageT &message) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer && message.ParseFromArray((*buffer)->getBufferStart(),
                                          (*buffer)->getBufferSize());
}

/// The numbered tensors of a data set, up to the first value of another kind.
static std::vector<TensorProto> readTensors(const Twine &prefix) {
  std::vector<TensorProto> tensors;
  for (int i = 0;; ++i) {
    TensorProto tensor;
    if (!parse(prefix + Twine(i) + ".pb", tensor))
      return tensors;
    tensors.push_back(std::move(tensor));
  }
}

/// The suite says of bf16, which NumPy lacks, that it is the integers that have
/// its bits.
template <typename InfosT>
static void restoreBFloat16(const InfosT &infos,
                            std::vector<TensorProto> &tensors) {
  for (auto [info, tensor] : llvm::zip(infos, tensors))
    if (info.type().tensor_type().elem_type() == TensorProto::BFLOAT16 &&
        tensor.data_type() == TensorProto::UINT16)
      tensor.set_data_type(TensorProto::BFLOAT16);
}

/// A test may ask for bounds of its own.
static void readTolerance(const Twine &path, SuiteTest &test) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return;
  llvm::Expected<llvm::json::Value> data =
      llvm::json::parse((*buffer)->getBuffer());
  if (!data)
    return llvm::consumeError(data.takeError());
  if (const llvm::json::Object *object = data->getAsObject()) {
    test.relative = object->getNumber("rtol").value_or(test.relative);
    test.absolute = object->getNumber("atol").value_or(test.absolute);
  }
}

std::optional<SuiteTest> SuiteTest::read(StringRef path) {
  SuiteTest test;
  if (!parse(path + "/model.onnx", test.model))
    return std::nullopt;
  llvm::StringSet<> initializers;
  for (const TensorProto &tensor : test.model.graph().initializer())
    initializers.insert(tensor.name());
  for (const ValueInfoProto &info : test.model.graph().input())
    if (!initializers.contains(info.name()))
      test.inputInfos.push_back(info);
  test.inputs = readTensors(path + "/test_data_set_0/input_");
  test.outputs = readTensors(path + "/test_data_set_0/output_");
  restoreBFloat16(test.inputInfos, test.inputs);
  restoreBFloat16(test.model.graph().output(), test.outputs);
  readTolerance(path + "/data.json", test);
  return test;
}

nn::HostTensor pipewright::readTensor(const TensorProto &tensor,
                                      MLIRContext *context) {
  TensorContents contents;
  contents.dataType = tensor.data_type();
  contents.dims.assign(tensor.dims().begin(), tensor.dims().end());
  contents.bytes = tensor.raw_data();
  if (!tensor.has_raw_data()) {
    contents.decoded = decodeTypedData(tensor);
    contents.bytes =
        StringRef(contents.decoded.data(), contents.decoded.size());
  }
  return *nn::HostTensor::fromAttribute(convertTensor(contents, context));
}

std::vector<std::string> pipewright::listFolders(const Twine &path) {
  std::vector<std::string> names;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(path, error), end;
       it != end && !error; it.increment(error))
    if (it->type() == llvm::sys::fs::file_type::directory_file)
      names.push_back(llvm::sys::path::filename(it->path()).str());
  llvm::sort(names);
  return names;
}

//===----------------------------------------------------------------------===//
// What a test asks for
//===----------------------------------------------------------------------===//

template <typename InfosT>
static bool haveTypes(const InfosT &infos, ArrayRef<TensorProto> tensors) {
  if (int(infos.size()) != int(tensors.size()))
    return false;
  return llvm::all_of(llvm::zip_equal(infos, tensors), [](auto pair) {
    const auto &[info, tensor] = pair;
    return info.type().tensor_type().elem_type() == tensor.data_type();
  });
}

bool SuiteTest::hasTensors() const {
  return haveTypes(inputInfos, inputs) &&
         haveTypes(model.graph().output(), outputs);
}

bool SuiteTest::isInReach() const {
  if (!hasTensors())
    return false;
  MLIRContext context;
  auto isKnown = [&](const TensorProto &tensor) {
    return bool(convertElementType(tensor.data_type(), &context));
  };
  return llvm::all_of(inputs, isKnown) && llvm::all_of(outputs, isKnown) &&
         llvm::all_of(model.graph().node(), [](const NodeProto &node) {
           return OnnxOpRegistry::get().find(normalizeDomain(node.domain()),
                                             node.op_type());
         });
}

ModelProto SuiteTest::promoteInputs() const {
  ModelProto promoted = model;
  GraphProto &graph = *promoted.mutable_graph();
  for (auto [info, tensor] : llvm::zip_equal(inputInfos, inputs)) {
    bool isData = tensor.data_type() == TensorProto::FLOAT &&
                  tensor.dims_size() > 0 && info.name() != "scales" &&
                  info.name() != "roi";
    if (isData || info.name().empty())
      continue;
    *graph.add_initializer() = tensor;
    graph.mutable_initializer()->rbegin()->set_name(info.name());
  }
  return promoted;
}

//===----------------------------------------------------------------------===//
// What it leads to
//===----------------------------------------------------------------------===//

nn::HostTensor SuiteTest::readInput(StringRef name,
                                    MLIRContext *context) const {
  auto info = llvm::find_if(inputInfos, [&](const ValueInfoProto &info) {
    return info.name() == name;
  });
  return readTensor(inputs[info - inputInfos.begin()], context);
}

namespace {
struct Bounds {
  double absolute, relative;
};
} // namespace

/// How far apart, relatively, \p output may be from what \p test expects if
/// both are rounded to 16 bits after different steps: two units of the last
/// place. What is only converted to 16 bits has no such excuse.
static double getPrecision(const TensorProto &output, const SuiteTest &test) {
  bool isComputed = !test.inputs.empty() &&
                    test.inputs.front().data_type() == output.data_type();
  if (isComputed && output.data_type() == TensorProto::BFLOAT16)
    return std::ldexp(1.0, -6);
  if (isComputed && output.data_type() == TensorProto::FLOAT16)
    return std::ldexp(1.0, -9);
  return 0;
}

static bool isClose(double actual, double expected, Bounds bounds) {
  if (std::isnan(expected) || std::isinf(expected))
    return std::isnan(expected) ? std::isnan(actual) : actual == expected;
  return std::abs(actual - expected) <=
         bounds.absolute + bounds.relative * std::abs(expected);
}

static std::string findDifference(const nn::HostTensor &actual,
                                  const nn::HostTensor &expected,
                                  Bounds bounds) {
  if (actual.getShape() != expected.getShape() ||
      actual.isFloat() != expected.isFloat())
    return "has another type";
  for (int64_t i = 0; i < expected.getNumElements(); ++i) {
    if (expected.isFloat() &&
        !isClose(actual.getFloats()[i], expected.getFloats()[i], bounds))
      return llvm::formatv("element {0} is {1:F6}, not {2:F6}", i,
                           actual.getFloats()[i], expected.getFloats()[i]);
    if (!expected.isFloat() &&
        actual.getIntegers()[i] != expected.getIntegers()[i])
      return llvm::formatv("element {0} is {1}, not {2}", i,
                           actual.getIntegers()[i], expected.getIntegers()[i]);
  }
  return "";
}

std::string SuiteTest::findDifference(StringRef what,
                                      ArrayRef<nn::HostTensor> actual,
                                      MLIRContext *context) const {
  if (actual.size() != outputs.size())
    return (what + " has no outputs").str();
  for (auto [index, tensor] : llvm::enumerate(outputs)) {
    Bounds bounds{absolute, std::max(relative, getPrecision(tensor, *this))};
    std::string difference =
        ::findDifference(actual[index], readTensor(tensor, context), bounds);
    if (!difference.empty())
      return llvm::formatv("{0}: output {1} {2}", what, index, difference);
  }
  return "";
}
