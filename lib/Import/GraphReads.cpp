//===- GraphReads.cpp - The names that nodes read
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphReads.h"

#include "Proto/Onnx.pb.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright::onnx;

StringSet<> pipewright::onnx::getDefinitions(const GraphProto &graph) {
  StringSet<> defined;
  for (const ValueInfoProto &input : graph.input())
    defined.insert(input.name());
  for (const TensorProto &initializer : graph.initializer())
    defined.insert(initializer.name());
  for (const NodeProto &node : graph.node())
    defined.insert(node.output().begin(), node.output().end());
  return defined;
}

/// What \p graph, which a node holds, reads but does not define.
static std::vector<std::string> getCaptures(const GraphProto &graph) {
  StringSet<> defined = getDefinitions(graph);
  std::vector<std::string> captures;
  auto capture = [&](const std::string &name) {
    if (!defined.contains(name))
      captures.push_back(name);
  };
  for (const NodeProto &node : graph.node())
    for_each(getReads(node), capture);
  for (const ValueInfoProto &output : graph.output())
    capture(output.name());
  return captures;
}

std::vector<std::string> pipewright::onnx::getReads(const NodeProto &node) {
  std::vector<std::string> reads;
  for (const std::string &name : node.input())
    if (!name.empty())
      reads.push_back(name);
  for (const AttributeProto &attribute : node.attribute())
    if (attribute.has_g())
      append_range(reads, getCaptures(attribute.g()));
  return reads;
}
