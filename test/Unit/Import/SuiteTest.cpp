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
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

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
