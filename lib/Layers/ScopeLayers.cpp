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
        numbered(nodes.size(), false) {}

  std::optional<LayerAssignment> run();

private:
  void placeNumberedNodes();
  void placeAnchoredNodes();
  void placeFloatingNodes();
  void joinWithProducers();
  std::string nameOfRest(unsigned layer, StringRef fallback) const;
  bool isAnchored(unsigned index) const {
    return numbered[index] || !nodes[index].scope.empty();
  }
  unsigned lastLayer() const { return scopes.size() + 1; }

  ArrayRef<ModelGraph::Node> nodes;
  SmallVector<unsigned> layerOf;
  SmallVector<bool> numbered;
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
    numbered[index] = true;
    layerOf[index] = entry->second;
  }
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
    layerOf[index] = lastLayer();
    if (isAnchored(index) && precedes[index] && !follows[index])
      layerOf[index] = 0;
  }
}

/// Consumers come later in program order, so one walk backwards suffices.
void ScopeAssigner::placeFloatingNodes() {
  for (unsigned index = nodes.size(); index-- > 0;) {
    if (numbered[index] || (isAnchored(index) && layerOf[index] == 0))
      continue;
    for (unsigned consumer : nodes[index].consumers)
      layerOf[index] = std::min(layerOf[index], layerOf[consumer]);
  }
}

/// A node without a scope that joins two values of one layer, as a residual
/// addition does, ends that layer rather than beginning the next: one value
/// crosses instead of two. Then each node moves behind what it uses.
void ScopeAssigner::joinWithProducers() {
  for (auto [index, node] : llvm::enumerate(nodes)) {
    unsigned earliest = 0;
    for (unsigned producer : node.producers)
      earliest = std::max(earliest, layerOf[producer]);
    bool joins = !isAnchored(index) && node.producers.size() > 1;
    if (joins || layerOf[index] < earliest)
      layerOf[index] = earliest;
  }
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
  if (scopes.empty())
    return std::nullopt;
  placeAnchoredNodes();
  placeFloatingNodes();
  joinWithProducers();
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
