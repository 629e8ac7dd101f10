//===- InputWeights.cpp - Weights that are inputs of the graph
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputWeights.h"

#include "Proto/Onnx.pb.h"
#include "Safetensors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Regex.h"

using namespace llvm;
using namespace pipewright::onnx;

/// `float[2,?]`: as a model and a file of weights can both say it.
static std::string describeType(int32_t dataType, ArrayRef<int64_t> shape) {
  auto sizes = map_range(shape, [](int64_t size) {
    return size < 0 ? std::string("?") : std::to_string(size);
  });
  return getDataTypeName(dataType) + "[" + join(sizes, ",") + "]";
}

/// The sizes that \p type declares, -1 for those that are symbols.
static SmallVector<int64_t> getDeclaredShape(const TypeProto::Tensor &type) {
  SmallVector<int64_t> shape;
  for (const TensorShapeProto::Dimension &dim : type.shape().dim())
    shape.push_back(dim.has_dim_value() ? dim.dim_value() : -1);
  return shape;
}

/// Whether a tensor of \p shape is one that \p type declares.
static bool isDeclared(const TypeProto::Tensor &type, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> declared = getDeclaredShape(type);
  return !type.has_shape() ||
         equal(declared, shape, [](int64_t size, int64_t actual) {
           return size < 0 || size == actual;
         });
}

namespace {
class InputPromoter {
public:
  InputPromoter(OnnxFile &file, StringRef weights)
      : file(file), weights(weights) {}

  std::vector<std::string> run(const Regex &pattern);

private:
  void promote(const ValueInfoProto &input);

  OnnxFile &file;
  StringRef weights;
  StringMap<StoredTensor> tensors;
  std::vector<std::string> problems;
};
} // namespace

void InputPromoter::promote(const ValueInfoProto &input) {
  auto problem = [&](const Twine &what) {
    problems.push_back(("has input '" + input.name() +
                        "', which is to be a parameter, " + what)
                           .str());
  };
  auto stored = tensors.find(input.name());
  if (stored == tensors.end())
    return problem("but '" + weights + "' has no tensor of that name");
  const TypeProto::Tensor &type = input.type().tensor_type();
  const StoredTensor &tensor = stored->second;
  if (type.elem_type() != tensor.dataType || !isDeclared(type, tensor.shape))
    return problem("of " +
                   describeType(type.elem_type(), getDeclaredShape(type)) +
                   ", but is " + describeType(tensor.dataType, tensor.shape) +
                   " in '" + weights + "'");
  TensorProto initializer;
  initializer.set_name(input.name());
  initializer.set_data_type(tensor.dataType);
  initializer.mutable_dims()->Add(tensor.shape.begin(), tensor.shape.end());
  file.addInitializer(std::move(initializer),
                      {weights.str(), tensor.offset, tensor.bytes});
}

std::vector<std::string> InputPromoter::run(const Regex &pattern) {
  Expected<StringRef> bytes = file.mapWeights(weights);
  if (!bytes)
    return {"cannot be given weights: " + toString(bytes.takeError())};
  Expected<StringMap<StoredTensor>> read = readSafetensors(*bytes);
  if (!read)
    return {
        ("cannot be given the weights in '" + weights +
         "', which is not a safetensors file: " + toString(read.takeError()))
            .str()};
  tensors = std::move(*read);

  const GraphProto &graph = file.getModel().graph();
  StringSet<> initializers;
  for (const TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  SmallVector<StringRef> names;
  bool matchesAny = false;
  for (const ValueInfoProto &input : graph.input()) {
    names.push_back(input.name());
    if (!pattern.match(input.name()))
      continue;
    matchesAny = true;
    if (!initializers.contains(input.name()))
      promote(input);
  }
  if (!matchesAny)
    problems.push_back("has no input to make a parameter of; its inputs are " +
                       join(names, ", "));
  return problems;
}

std::vector<std::string> pipewright::onnx::promoteInputs(OnnxFile &file,
                                                         StringRef pattern,
                                                         StringRef weights) {
  if (pattern.empty() && weights.empty())
    return {};
  if (pattern.empty() || weights.empty())
    return {"needs --params-from-inputs, the inputs that are parameters, and "
            "--weights, the file with their values, together"};
  Regex regex(pattern);
  std::string error;
  if (!regex.isValid(error))
    return {("cannot match its inputs with --params-from-inputs '" + pattern +
             "', which is not a regular expression: " + error)
                .str()};
  return InputPromoter(file, weights).run(regex);
}
