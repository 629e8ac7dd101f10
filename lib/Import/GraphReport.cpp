//===- GraphReport.cpp - Diagnostics about a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphReport.h"

#include "Proto/Onnx.pb.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

/// The modules around \p node, outermost first, as dynamo exports record them:
/// a printed Python list such as `['', 'blocks.2', 'blocks.2.mlp', 'linear_8']`
/// whose last entry is the node itself.
static SmallVector<std::string> getScopes(const NodeProto &node) {
  SmallVector<std::string> scopes;
  for (const StringStringEntryProto &entry : node.metadata_props()) {
    if (entry.key() != "pkg.torch.onnx.name_scopes")
      continue;
    SmallVector<StringRef> parts;
    StringRef(entry.value()).trim("[] ").split(parts, ',');
    for (StringRef part : parts)
      scopes.push_back(part.trim(" '\"").str());
  }
  if (!scopes.empty())
    scopes.pop_back();
  return scopes;
}

/// `/blocks.2/mlp/` for the scopes '', 'blocks.2', 'blocks.2.mlp': each is
/// written without the one around it, as TorchScript exports do in node names.
static std::string getScopePath(const NodeProto &node) {
  std::string path, outer;
  for (const std::string &scope : getScopes(node)) {
    if (scope.empty())
      continue;
    StringRef inner(scope);
    if (!outer.empty() && inner.consume_front(outer))
      inner.consume_front(".");
    path += "/" + inner.str();
    outer = scope;
  }
  return path.empty() ? path : path + "/";
}

GraphReport::GraphReport(const GraphReport &outer, const GraphProto &graph,
                         Location nodeLoc)
    : path(outer.path), graph(graph), context(outer.context) {
  if (auto name = dyn_cast<NameLoc>(nodeLoc))
    prefix = name.getName().str();
}

Location GraphReport::getNodeLoc(int64_t index) const {
  const NodeProto &node = graph.node(index);
  std::string name = node.name();
  if (name.empty())
    name = node.op_type() + "_" + std::to_string(index);
  // TorchScript exports name even inner nodes by their whole path.
  if (name.front() != '/')
    name = (prefix.empty() ? getScopePath(node) : prefix + "/") + name;
  return NameLoc::get(StringAttr::get(context, name));
}

InFlightDiagnostic GraphReport::error() {
  failed = true;
  return emitError(UnknownLoc::get(context)) << "'" << path << "' ";
}

InFlightDiagnostic GraphReport::nodeError(int64_t index) {
  failed = true;
  const NodeProto &node = graph.node(index);
  return emitError(getNodeLoc(index))
         << "node #" << index << " (" << node.op_type() << ") ";
}

std::string GraphReport::describeNode(int64_t index) const {
  const NodeProto &node = graph.node(index);
  std::string name = node.name().empty() ? "" : " '" + node.name() + "'";
  return "#" + std::to_string(index) + " (" + node.op_type() + name + ")";
}
