//===- TransposedCopies.cpp - Weights that were stored twice
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransposedCopies.h"

#include "Proto/Onnx.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <unordered_map>

using namespace llvm;
using namespace pipewright;
using namespace pipewright::onnx;

static bool isMatrix(const TensorProto &tensor) {
  return tensor.dims_size() == 2 && tensor.dims(0) > 0 && tensor.dims(1) > 0;
}

/// Names that the exporters make up: `onnx::MatMul_858` and `val_297`.
static bool isExportersOwn(const TensorProto &tensor) {
  StringRef name = tensor.name();
  return name.starts_with("onnx::") ||
         (name.consume_front("val_") && all_of(name, &isDigit));
}

/// Stops at the first difference, which for weights that have nothing to do
/// with each other comes at once.
static bool isTranspose(const TensorContents &copy,
                        const TensorContents &weight) {
  int64_t rows = weight.dims[0], columns = weight.dims[1];
  int64_t size = getElementBytes(weight.dataType);
  auto at = [size](const TensorContents &tensor, int64_t position) {
    return tensor.bytes.substr(position * size, size);
  };
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      if (at(copy, column * rows + row) != at(weight, row * columns + column))
        return false;
  return true;
}

static bool isUniform(const TensorContents &tensor) {
  // Equal to itself one element later.
  size_t size = getElementBytes(tensor.dataType);
  return tensor.bytes.drop_front(size) == tensor.bytes.drop_back(size);
}

static StringSet<> getUsedNames(const GraphProto &graph) {
  StringSet<> names;
  for (const NodeProto &node : graph.node())
    for (const std::string &input : node.input())
      names.insert(input);
  return names;
}

namespace {
/// Reads each tensor once, however many it is compared with.
class Reader {
public:
  explicit Reader(OnnxFile &file) : file(file) {}

  /// The contents of \p tensor; null if they cannot be read, which is reported
  /// where the tensor is imported.
  const TensorContents *read(const TensorProto &tensor) {
    auto [known, isNew] = contents.try_emplace(&tensor);
    if (isNew)
      known->second = expectedToOptional(file.read(tensor));
    return known->second ? &*known->second : nullptr;
  }

private:
  OnnxFile &file;
  /// References stay valid: a node per tensor.
  std::unordered_map<const TensorProto *, std::optional<TensorContents>>
      contents;
};
} // namespace

static bool mayBeTranspose(const TensorProto &copy, const TensorProto &weight) {
  return copy.data_type() == weight.data_type() &&
         copy.dims(0) == weight.dims(1) && copy.dims(1) == weight.dims(0);
}

StringMap<std::string>
pipewright::onnx::findTransposedCopies(OnnxFile &file,
                                       const GraphProto &graph) {
  StringMap<std::string> copies;
  SmallVector<const TensorProto *> candidates, weights;
  StringSet<> used = getUsedNames(graph);
  for (const TensorProto &tensor : graph.initializer())
    if (isMatrix(tensor) && used.contains(tensor.name()))
      (isExportersOwn(tensor) ? candidates : weights).push_back(&tensor);

  Reader reader(file);
  for (const TensorProto *candidate : candidates)
    for (const TensorProto *weight : weights) {
      if (!mayBeTranspose(*candidate, *weight))
        continue;
      const TensorContents *copy = reader.read(*candidate);
      const TensorContents *original = reader.read(*weight);
      if (copy && original && !isUniform(*original) &&
          isTranspose(*copy, *original)) {
        copies[candidate->name()] = weight->name();
        break;
      }
    }
  return copies;
}
