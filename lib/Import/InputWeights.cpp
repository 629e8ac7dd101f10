//===- InputWeights.cpp - Weights that are inputs of the graph
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InputWeights.h"

#include "Proto/Onnx.pb.h"
#include "Safetensors.h"

#include "llvm/ADT/STLExtras.h"
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

/// An initializer like \p input, of \p shape.
static TensorProto makeInitializer(const ValueInfoProto &input,
                                   ArrayRef<int64_t> shape) {
  TensorProto initializer;
  initializer.set_name(input.name());
  initializer.set_data_type(input.type().tensor_type().elem_type());
  initializer.mutable_dims()->Add(shape.begin(), shape.end());
  return initializer;
}

namespace {
class InputPromoter {
public:
  /// \p weights is empty if only shapes are known.
  InputPromoter(OnnxFile &file, StringRef weights)
      : file(file), weights(weights) {}

  std::vector<std::string> run(const Regex &pattern);

private:
  bool readWeights();
  void promote(const ValueInfoProto &input);
  void promoteToShape(const ValueInfoProto &input);
  void addProblem(const ValueInfoProto &input, const Twine &what) {
    problems.push_back(("has input '" + input.name() +
                        "', which is to be a parameter, " + what)
                           .str());
  }

  OnnxFile &file;
  StringRef weights;
  StringMap<StoredTensor> tensors;
  std::vector<std::string> problems;
};
} // namespace

void InputPromoter::promote(const ValueInfoProto &input) {
  auto stored = tensors.find(input.name());
  if (stored == tensors.end())
    return addProblem(input,
                      "but '" + weights + "' has no tensor of that name");
  const TypeProto::Tensor &type = input.type().tensor_type();
  const StoredTensor &tensor = stored->second;
  if (type.elem_type() != tensor.dataType || !isDeclared(type, tensor.shape))
    return addProblem(
        input, "of " + describeType(type.elem_type(), getDeclaredShape(type)) +
                   ", but is " + describeType(tensor.dataType, tensor.shape) +
                   " in '" + weights + "'");
  file.addInitializer(makeInitializer(input, tensor.shape),
                      {weights.str(), tensor.offset, tensor.bytes});
}

/// What decides about the model's shapes cannot be left open: integers, scalars
/// and sizes.
void InputPromoter::promoteToShape(const ValueInfoProto &input) {
  const TypeProto::Tensor &type = input.type().tensor_type();
  SmallVector<int64_t> shape = getDeclaredShape(type);
  bool isFloat = is_contained({TensorProto::FLOAT, TensorProto::DOUBLE,
                               TensorProto::FLOAT16, TensorProto::BFLOAT16},
                              type.elem_type());
  if (!isFloat || shape.empty() || is_contained(shape, -1))
    return addProblem(input,
                      "of " + describeType(type.elem_type(), shape) +
                          ", but only a tensor of floats whose sizes are known "
                          "can be one without --weights");
  file.addInitializer(makeInitializer(input, shape));
}

bool InputPromoter::readWeights() {
  Expected<StringRef> bytes = file.mapWeights(weights);
  if (!bytes) {
    problems.push_back("cannot be given weights: " +
                       toString(bytes.takeError()));
    return false;
  }
  Expected<StringMap<StoredTensor>> read = readSafetensors(*bytes);
  if (!read) {
    problems.push_back(
        ("cannot be given the weights in '" + weights +
         "', which is not a safetensors file: " + toString(read.takeError()))
            .str());
    return false;
  }
  tensors = std::move(*read);
  return true;
}

std::vector<std::string> InputPromoter::run(const Regex &pattern) {
  if (!weights.empty() && !readWeights())
    return problems;

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
    if (initializers.contains(input.name()))
      continue;
    if (weights.empty())
      promoteToShape(input);
    else
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
  if (pattern.empty())
    return {"is given --weights, but not --params-from-inputs, the inputs that "
            "have their values there"};
  Regex regex(pattern);
  std::string error;
  if (!regex.isValid(error))
    return {("cannot match its inputs with --params-from-inputs '" + pattern +
             "', which is not a regular expression: " + error)
                .str()};
  return InputPromoter(file, weights).run(regex);
}
