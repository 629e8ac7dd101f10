//===- WeightCopies.cpp - Weights that were stored twice
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightCopies.h"

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

bool pipewright::onnx::isExportersName(StringRef name) {
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

bool pipewright::onnx::isUniform(const TensorContents &tensor) {
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

static bool areTransposed(const TensorProto &copy, const TensorProto &weight) {
  return copy.dims(0) == weight.dims(1) && copy.dims(1) == weight.dims(0);
}

static bool areAlike(const TensorProto &copy, const TensorProto &weight) {
  return copy.dims(0) == weight.dims(0) && copy.dims(1) == weight.dims(1);
}

/// The names of tables that are looked up in.
static StringSet<> getTables(const GraphProto &graph) {
  StringSet<> names;
  for (const NodeProto &node : graph.node())
    if (node.op_type() == "Gather" && node.input_size() > 0)
      names.insert(node.input(0));
  return names;
}

namespace {
class CopyFinder {
public:
  CopyFinder(OnnxFile &file, const GraphProto &graph)
      : graph(graph), reader(file), tables(getTables(graph)) {}

  StringMap<WeightCopy> run();

private:
  std::optional<WeightCopy> compare(const TensorProto &copy,
                                    const TensorProto &weight);

  const GraphProto &graph;
  Reader reader;
  StringSet<> tables;
};
} // namespace

std::optional<WeightCopy> CopyFinder::compare(const TensorProto &copy,
                                              const TensorProto &weight) {
  bool isOwn = isExportersName(copy.name());
  bool mayBeTransposed = isOwn && areTransposed(copy, weight);
  // A model's own weights may begin alike, as those of its experts, and yet be
  // weights of their own; not so what is a table and something else.
  bool mayBeEqual =
      areAlike(copy, weight) && (isOwn || (tables.contains(weight.name()) &&
                                           !tables.contains(copy.name())));
  if (copy.data_type() != weight.data_type() ||
      !(mayBeTransposed || mayBeEqual))
    return std::nullopt;
  const TensorContents *contents = reader.read(copy);
  const TensorContents *original = reader.read(weight);
  if (!contents || !original)
    return std::nullopt;
  bool isEqual = mayBeEqual && contents->bytes == original->bytes;
  bool isTransposed =
      !isEqual && mayBeTransposed && isTranspose(*contents, *original);
  if (!(isEqual || isTransposed) || isUniform(*original))
    return std::nullopt;
  return WeightCopy{weight.name(), isTransposed};
}

StringMap<WeightCopy> CopyFinder::run() {
  SmallVector<const TensorProto *> matrices;
  StringSet<> used = getUsedNames(graph);
  for (const TensorProto &tensor : graph.initializer())
    if (isMatrix(tensor) && used.contains(tensor.name()))
      matrices.push_back(&tensor);
  StringMap<WeightCopy> copies;
  for (const TensorProto *copy : matrices)
    for (const TensorProto *weight : matrices) {
      // An exporter's own name is never that of the weight.
      if (copy == weight || isExportersName(weight->name()))
        continue;
      if (std::optional<WeightCopy> found = compare(*copy, *weight)) {
        copies[copy->name()] = *found;
        break;
      }
    }
  return copies;
}

StringMap<WeightCopy>
pipewright::onnx::findWeightCopies(OnnxFile &file, const GraphProto &graph) {
  return CopyFinder(file, graph).run();
}
