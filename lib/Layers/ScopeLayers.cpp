//===- ScopeLayers.cpp - Layers by numbered name scopes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelGraph.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Layer 0 is what comes before the first numbered scope, layers 1..n are the
/// numbered scopes in the order of their first nodes, n + 1 comes after.
class ScopeAssigner {
public:
  explicit ScopeAssigner(const ModelGraph &graph)
      : nodes(graph.getNodes()), layerOf(nodes.size()),
        numbered(nodes.size(), false), placed(nodes.size(), false) {}

  std::optional<LayerAssignment> run();

private:
  void placeNumberedNodes();
  void placeAnchoredNodes();
  void placeFloatingNodes();
  void closeLayers();
  bool tellsLayersApart() const;
  bool followsProducers(unsigned index) const;
  std::string nameOfRest(unsigned layer, StringRef fallback) const;
  bool isAnchored(unsigned index) const {
    return numbered[index] || !nodes[index].scope.empty();
  }
  unsigned lastLayer() const { return scopes.size() + 1; }

  ArrayRef<ModelGraph::Node> nodes;
  SmallVector<unsigned> layerOf;
  SmallVector<bool> numbered;
  /// Whether the scope of a node says all about its layer.
  SmallVector<bool> placed;
  SmallVector<std::string> scopes;
};
} // namespace

void ScopeAssigner::placeNumberedNodes() {
  ScopeLevels levels;
  for (const ModelGraph::Node &node : nodes)
    levels.add(node.scope);
  llvm::StringMap<unsigned> known;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    std::optional<size_t> length = levels.findLayer(node.scope);
    if (!length)
      continue;
    std::string name = node.scope.str(*length);
    auto [entry, isNew] = known.try_emplace(name, scopes.size() + 1);
    if (isNew)
      scopes.push_back(name);
    numbered[index] = placed[index] = true;
    layerOf[index] = entry->second;
  }
}

/// A single numbered scope around all others, such as the `gpu_0` of Caffe2, is
/// no layer.
bool ScopeAssigner::tellsLayersApart() const {
  bool hasOthers = false;
  for (unsigned index = 0; index < nodes.size(); ++index)
    hasOthers |= isAnchored(index) && !numbered[index];
  return scopes.size() > 1 || (!scopes.empty() && hasOthers);
}

/// A node with a scope that is not numbered comes before all layers if it
/// follows none, after all if none follows it, and else with its consumers.
void ScopeAssigner::placeAnchoredNodes() {
  SmallVector<bool> follows(numbered), precedes(numbered);
  for (unsigned index = 0; index < nodes.size(); ++index)
    for (unsigned producer : nodes[index].producers)
      follows[index] |= follows[producer];
  for (unsigned index = nodes.size(); index-- > 0;) {
    for (unsigned consumer : nodes[index].consumers)
      precedes[index] |= precedes[consumer];
    if (numbered[index])
      continue;
    bool isFirst = isAnchored(index) && precedes[index] && !follows[index];
    layerOf[index] = isFirst ? 0 : lastLayer();
    placed[index] = isAnchored(index) && (isFirst || !precedes[index]);
  }
}

/// A node without a scope that computes something from values alone, as an
/// activation or a residual addition does, ends the layer of its producers
/// rather than beginning the next. What only selects or arranges elements, or
/// reads a parameter, goes with its consumers.
bool ScopeAssigner::followsProducers(unsigned index) const {
  const ModelGraph::Node &node = nodes[index];
  return !isAnchored(index) && node.parameters.empty() &&
         !node.producers.empty() && !isView(node.op) &&
         !isa<nn::GatherOp>(node.op);
}

void ScopeAssigner::placeFloatingNodes() {
  SmallVector<unsigned> earliest(layerOf);
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (placed[index])
      continue;
    earliest[index] = 0;
    for (unsigned producer : node.producers)
      earliest[index] = std::max(earliest[index], earliest[producer]);
    if (followsProducers(index))
      layerOf[index] = earliest[index];
  }
  // Consumers come later in program order, so one walk backwards suffices.
  for (unsigned index = nodes.size(); index-- > 0;) {
    if (placed[index] || followsProducers(index))
      continue;
    for (unsigned consumer : nodes[index].consumers)
      layerOf[index] = std::min(layerOf[index], layerOf[consumer]);
  }
}

/// Moves each node behind what it uses.
void ScopeAssigner::closeLayers() {
  for (auto [index, node] : llvm::enumerate(nodes))
    for (unsigned producer : node.producers)
      layerOf[index] = std::max(layerOf[index], layerOf[producer]);
}

/// The scope that the nodes before or after all numbered ones share, unless
/// the numbered ones lie in it too.
std::string ScopeAssigner::nameOfRest(unsigned layer,
                                      StringRef fallback) const {
  const NameScope *shared = nullptr;
  size_t length = 0;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (layerOf[index] != layer || node.scope.empty())
      continue;
    length = shared ? std::min(length, shared->commonLength(node.scope))
                    : node.scope.size();
    shared = shared ? shared : &node.scope;
  }
  for (auto [index, node] : llvm::enumerate(nodes))
    if (shared && numbered[index] && shared->commonLength(node.scope) >= length)
      length = 0;
  return length == 0 ? fallback.str() : shared->str(length);
}

std::optional<LayerAssignment> ScopeAssigner::run() {
  placeNumberedNodes();
  if (!tellsLayersApart())
    return std::nullopt;
  placeAnchoredNodes();
  placeFloatingNodes();
  closeLayers();
  LayerAssignment assignment;
  assignment.names.push_back(nameOfRest(0, "embeddings"));
  llvm::append_range(assignment.names, scopes);
  assignment.names.push_back(nameOfRest(lastLayer(), "head"));
  assignment.layerOf = std::move(layerOf);
  return assignment;
}

std::optional<LayerAssignment>
pipewright::assignByScopes(const ModelGraph &graph) {
  return ScopeAssigner(graph).run();
}
