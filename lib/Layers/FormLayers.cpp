//===- FormLayers.cpp - Group the ops of the model into layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Layers/Passes.h"

#include "ModelGraph.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

namespace pipewright {
#define GEN_PASS_DEF_FORMLAYERS
#include "pipewright/Layers/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Adjusting an assignment
//===----------------------------------------------------------------------===//

/// Joins layers without a contraction to the layer before them (the first ones
/// to the layer after), and drops layers without nodes.
static void joinBareLayers(const ModelGraph &graph,
                           LayerAssignment &assignment) {
  SmallVector<bool> hasContraction(assignment.names.size(), false);
  for (auto [index, node] : llvm::enumerate(graph.getNodes()))
    hasContraction[assignment.layerOf[index]] |= node.isContraction();

  SmallVector<std::string> names;
  SmallVector<unsigned> newIndex;
  for (auto [index, name] : llvm::enumerate(assignment.names)) {
    if (hasContraction[index])
      names.push_back(name);
    newIndex.push_back(names.empty() ? 0 : names.size() - 1);
  }
  if (names.empty())
    names.push_back(assignment.names.front());
  for (unsigned &layer : assignment.layerOf)
    layer = newIndex[layer];
  assignment.names = std::move(names);
}

static void makeNamesUnique(LayerAssignment &assignment) {
  llvm::StringSet<> known;
  for (std::string &name : assignment.names) {
    std::string base = name;
    for (unsigned suffix = 1; !known.insert(name).second; ++suffix)
      name = base + "." + std::to_string(suffix);
  }
}

//===----------------------------------------------------------------------===//
// BlockBuilder
//===----------------------------------------------------------------------===//

namespace {
/// Moves the nodes of one layer into a block.
class BlockBuilder {
public:
  BlockBuilder(const ModelGraph &graph, pp::ModelOp model)
      : graph(graph),
        modelReturn(cast<pp::ReturnOp>(model.getBody().front().back())) {}

  /// Makes the block for \p nodes; the last one also computes what the model
  /// returns without any layer.
  void build(StringRef name, ArrayRef<unsigned> nodes, bool isLast);

private:
  Location findLocation(ArrayRef<unsigned> nodes);
  SmallVector<Value> findResults(ArrayRef<unsigned> nodes, bool isLast) const;
  void copyReplicable(Operation *user, Block *body);
  Value copyReplicable(Value value, Operation *user);

  const ModelGraph &graph;
  pp::ReturnOp modelReturn;
  /// The copies in the block that is being built.
  llvm::DenseMap<Value, Value> copies;
};
} // namespace

/// The first contraction names a layer best.
Location BlockBuilder::findLocation(ArrayRef<unsigned> nodes) {
  for (unsigned index : nodes)
    if (graph.getNodes()[index].isContraction())
      return graph.getNodes()[index].op->getLoc();
  return nodes.empty() ? modelReturn.getLoc()
                       : graph.getNodes()[nodes.front()].op->getLoc();
}

SmallVector<Value> BlockBuilder::findResults(ArrayRef<unsigned> nodes,
                                             bool isLast) const {
  llvm::DenseSet<Operation *> inside;
  for (unsigned index : nodes)
    inside.insert(graph.getNodes()[index].op);
  SmallVector<Value> results;
  for (unsigned index : nodes)
    for (Value result : graph.getNodes()[index].op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return !inside.contains(user); }))
        results.push_back(result);
  for (Value output : modelReturn->getOperands())
    if (isLast && output.getDefiningOp() &&
        graph.isReplicable(output.getDefiningOp()) &&
        !llvm::is_contained(results, output))
      results.push_back(output);
  return results;
}

Value BlockBuilder::copyReplicable(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || !graph.isReplicable(op))
    return value;
  if (Value copy = copies.lookup(value))
    return copy;
  // Operands first. A replicable computation is a few ops deep.
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, copyReplicable(operand, user));
  Operation *copy = OpBuilder(user).clone(*op, mapping);
  for (auto [original, result] :
       llvm::zip_equal(op->getResults(), copy->getResults()))
    copies[original] = result;
  return copies.lookup(value);
}

void BlockBuilder::build(StringRef name, ArrayRef<unsigned> nodes,
                         bool isLast) {
  SmallVector<Value> results = findResults(nodes, isLast);
  OpBuilder builder(modelReturn);
  auto block = pp::BlockOp::create(builder, findLocation(nodes),
                                   ValueRange(results).getTypes(), name);
  Block &body = block.getBody().emplaceBlock();
  for (unsigned index : nodes)
    graph.getNodes()[index].op->moveBefore(&body, body.end());
  builder.setInsertionPointToEnd(&body);
  pp::YieldOp::create(builder, block.getLoc(), results);

  copies.clear();
  for (Operation &op : llvm::make_early_inc_range(body))
    for (OpOperand &operand : op.getOpOperands())
      operand.set(copyReplicable(operand.get(), &op));
  for (auto [inside, outside] : llvm::zip_equal(results, block.getOutputs())) {
    // Other blocks compute a replicable value themselves.
    bool isReplicable = graph.isReplicable(inside.getDefiningOp());
    inside.replaceUsesWithIf(outside, [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return isReplicable ? user == modelReturn : user->getBlock() != &body;
    });
  }
}

//===----------------------------------------------------------------------===//
// FormLayers
//===----------------------------------------------------------------------===//

/// A copy of \p value for \p user, if it is a small tensor in another shape.
static Value copyView(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<nn::BroadcastOp, nn::ReshapeOp>(op))
    return value;
  IRMapping mapping;
  mapping.map(op->getOperand(0), copyView(op->getOperand(0), user));
  Operation *copy = OpBuilder(user).clone(*op, mapping);
  copy->setLoc(user->getLoc());
  return copy->getResult(0);
}

/// Gives each user of a broadcast one of its own, which belongs to the layer of
/// the user: then the small tensor crosses the borders of layers, and not what
/// is made of it; and layers that do the same with it are alike.
static void copyBroadcasts(pp::ModelOp model) {
  Block &body = model.getBody().front();
  SmallVector<OpOperand *> uses;
  for (auto broadcast : body.getOps<nn::BroadcastOp>())
    for (OpOperand &use : broadcast->getUses())
      if (!isa<pp::ReturnOp>(use.getOwner()))
        uses.push_back(&use);
  for (OpOperand *use : uses)
    use->set(copyView(use->get(), use->getOwner()));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isa<nn::BroadcastOp, nn::ReshapeOp>(op) && isOpTriviallyDead(&op))
      op.erase();
}

namespace {
struct FormLayers : pipewright::impl::FormLayersBase<FormLayers> {
  void runOnOperation() override;
};
} // namespace

static void eraseReplicable(pp::ModelOp model) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(model.getBody().front())))
    if (!isa<pp::BlockOp, pp::ReturnOp>(op))
      op.erase();
}

void FormLayers::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model) {
    getOperation().emitError("has no 'pp.model' to form layers of");
    return signalPassFailure();
  }
  copyBroadcasts(model);
  ModelGraph graph(model);
  std::optional<LayerAssignment> byScopes = assignByScopes(graph);
  LayerAssignment assignment =
      byScopes ? std::move(*byScopes) : assignByCutPoints(graph);
  joinBareLayers(graph, assignment);
  makeNamesUnique(assignment);

  SmallVector<SmallVector<unsigned>> members(assignment.names.size());
  for (auto [index, layer] : llvm::enumerate(assignment.layerOf))
    members[layer].push_back(index);
  BlockBuilder builder(graph, model);
  for (auto [index, name] : llvm::enumerate(assignment.names))
    builder.build(name, members[index],
                  /*isLast=*/index + 1 == assignment.names.size());
  eraseReplicable(model);
}
