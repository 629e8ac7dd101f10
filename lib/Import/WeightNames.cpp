//===- WeightNames.cpp - What PyTorch calls a weight
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WeightNames.h"

#include "Proto/Onnx.pb.h"
#include "WeightCopies.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>

using namespace llvm;
using namespace pipewright::onnx;

std::string pipewright::onnx::getModule(StringRef path) {
  if (!path.consume_front("/") || !path.contains('/'))
    return "";
  std::string module = path.rsplit('/').first.str();
  std::replace(module.begin(), module.end(), '/', '.');
  return module;
}

/// The only reader of each value that has one, by its index.
static StringMap<int> findOnlyReaders(const GraphProto &graph) {
  StringMap<int> readers;
  constexpr int several = -1;
  for (auto [index, node] : enumerate(graph.node()))
    for (const std::string &name : node.input()) {
      auto [reader, isNew] = readers.try_emplace(name, int(index));
      if (!isNew)
        reader->second = several;
    }
  for (auto it = readers.begin(); it != readers.end();) {
    auto reader = it++;
    if (reader->second == several)
      readers.erase(reader);
  }
  return readers;
}

static bool multipliesWith(const NodeProto &node, StringRef weight) {
  return (node.op_type() == "MatMul" || node.op_type() == "Gemm") &&
         node.input_size() > 1 && node.input(1) == weight;
}

StringMap<std::string>
pipewright::onnx::findWeightNames(const GraphProto &graph,
                                  function_ref<std::string(int)> getPath) {
  StringMap<int> readers = findOnlyReaders(graph);
  StringSet<> taken;
  for (const TensorProto &tensor : graph.initializer())
    taken.insert(tensor.name());
  StringMap<std::string> names;
  for (const TensorProto &tensor : graph.initializer()) {
    auto reader = readers.find(tensor.name());
    if (tensor.dims_size() != 2 || !isExportersName(tensor.name()) ||
        reader == readers.end() ||
        !multipliesWith(graph.node(reader->second), tensor.name()))
      continue;
    std::string module = getModule(getPath(reader->second));
    if (!module.empty() && taken.insert(module + ".weight").second)
      names[tensor.name()] = module + ".weight";
  }
  return names;
}
