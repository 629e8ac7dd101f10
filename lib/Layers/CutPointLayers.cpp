//===- CutPointLayers.cpp - Layers between single live tensors
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelGraph.h"

using namespace mlir;
using namespace pipewright;

namespace {
class CutPointAssigner {
public:
  explicit CutPointAssigner(const ModelGraph &graph)
      : nodes(graph.getNodes()), isStart(nodes.size(), false) {
    findLastUses();
  }
  LayerAssignment run(const ModelGraph &graph);

private:
  void findLastUses();
  bool isCutPoint(unsigned index) const;
  void cutBetweenContractions();
  void cutPlainLayers();
  bool isPlain(unsigned begin, unsigned end) const;
  void cutPlainLayer(unsigned begin, unsigned end);
  std::string nameOf(const LayerAssignment &assignment, unsigned layer) const;

  ArrayRef<ModelGraph::Node> nodes;
  /// The last node that uses each floating-point value of a node.
  SmallVector<SmallVector<unsigned>> lastUses;
  SmallVector<bool> isStart;
};
} // namespace

void CutPointAssigner::findLastUses() {
  llvm::DenseMap<Operation *, unsigned> indices;
  for (auto [index, node] : llvm::enumerate(nodes))
    indices[node.op] = index;
  for (const ModelGraph::Node &node : nodes) {
    SmallVector<unsigned> &uses = lastUses.emplace_back();
    if (node.isSource())
      continue;
    for (Value result : node.op->getResults()) {
      unsigned last = 0;
      for (Operation *user : result.getUsers())
        if (auto known = indices.find(user); known != indices.end())
          last = std::max(last, known->second);
      auto type = cast<RankedTensorType>(result.getType());
      if (isa<FloatType>(type.getElementType()) && last != 0)
        uses.push_back(last);
    }
  }
}

/// Whether one floating-point tensor is live before node \p index, and the
/// node goes on with it.
bool CutPointAssigner::isCutPoint(unsigned index) const {
  unsigned live = 0;
  bool goesOn = false;
  for (unsigned producer = 0; producer < index; ++producer) {
    unsigned crossing = llvm::count_if(
        lastUses[producer], [&](unsigned last) { return last >= index; });
    live += crossing;
    goesOn |= crossing && llvm::is_contained(nodes[index].producers, producer);
  }
  return live == 1 && goesOn;
}

/// A layer begins at the last cut point before its first contraction, so that
/// activations and norms end a layer.
void CutPointAssigner::cutBetweenContractions() {
  bool hasContraction = false;
  std::optional<unsigned> cut;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (hasContraction && isCutPoint(index))
      cut = index;
    if (!node.isContraction())
      continue;
    if (cut)
      isStart[*cut] = true;
    hasContraction = true;
    cut.reset();
  }
}

/// Whether the nodes are linear layers without norms or attention, which
/// would make people see one layer in them.
bool CutPointAssigner::isPlain(unsigned begin, unsigned end) const {
  return llvm::all_of(
      nodes.slice(begin, end - begin), [](const ModelGraph::Node &node) {
        if (node.op->hasTrait<nn::Contraction>())
          return node.isContraction();
        return !isa<nn::LayerNormOp, nn::RMSNormOp, nn::SoftmaxOp>(node.op);
      });
}

/// Cuts before each contraction of a value that no earlier one contracts:
/// several of one value are branches.
void CutPointAssigner::cutPlainLayer(unsigned begin, unsigned end) {
  llvm::DenseSet<unsigned> contracted;
  bool hasContraction = false;
  for (unsigned index = begin; index < end; ++index) {
    if (!nodes[index].isContraction())
      continue;
    bool isNew = llvm::none_of(nodes[index].producers, [&](unsigned producer) {
      return contracted.contains(producer);
    });
    if (hasContraction && isNew && !nodes[index].producers.empty())
      isStart[index] = true;
    contracted.insert_range(nodes[index].producers);
    hasContraction = true;
  }
}

/// A skip connection over linear layers leaves no cut point between them, but
/// people still count them one by one.
void CutPointAssigner::cutPlainLayers() {
  unsigned begin = 0;
  for (unsigned end = 1; end <= nodes.size(); ++end) {
    if (end < nodes.size() && !isStart[end])
      continue;
    if (isPlain(begin, end))
      cutPlainLayer(begin, end);
    begin = end;
  }
}

/// The scope that the contractions of \p layer share, else a number.
std::string CutPointAssigner::nameOf(const LayerAssignment &assignment,
                                     unsigned layer) const {
  const NameScope *shared = nullptr;
  size_t length = 0;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    if (assignment.layerOf[index] != layer || !node.isContraction())
      continue;
    length = shared ? std::min(length, shared->commonLength(node.scope))
                    : node.scope.size();
    shared = shared ? shared : &node.scope;
  }
  return length == 0 ? "layer." + std::to_string(layer) : shared->str(length);
}

LayerAssignment CutPointAssigner::run(const ModelGraph &graph) {
  cutBetweenContractions();
  cutPlainLayers();
  LayerAssignment assignment;
  unsigned layer = 0;
  for (bool start : isStart) {
    layer += start;
    assignment.layerOf.push_back(layer);
  }
  moveSourcesToConsumers(graph, assignment.layerOf);
  for (unsigned index = 0; index <= layer; ++index)
    assignment.names.push_back(nameOf(assignment, index));
  return assignment;
}

LayerAssignment pipewright::assignByCutPoints(const ModelGraph &graph) {
  return CutPointAssigner(graph).run(graph);
}
