//===- ModelGraph.cpp - A model's ops, seen for grouping
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelGraph.h"

#include "pipewright/Dialect/PP/NodeName.h"

using namespace mlir;
using namespace pipewright;

bool ModelGraph::Node::isContraction() const {
  return (op->hasTrait<nn::Contraction>() || isa<nn::GatherOp>(op)) &&
         !parameters.empty();
}

/// Whether \p op costs too much to be computed once per layer.
static bool isExpensive(Operation *op) {
  return op->hasTrait<nn::Contraction>() ||
         isa<nn::LayerNormOp, nn::RMSNormOp, nn::SoftmaxOp, nn::LogSoftmaxOp,
             nn::CrossEntropyOp, nn::ScatterAddOp, nn::DropoutMaskOp>(op);
}

bool pipewright::isView(Operation *op) {
  return isa<nn::TransposeOp, nn::ReshapeOp, nn::BroadcastOp, nn::SliceOp,
             nn::CastOp>(op);
}

ModelGraph::ModelGraph(pp::ModelOp model) {
  for (Operation &op : model.getBody().front().without_terminator())
    if (!addReplicable(&op))
      addNode(&op);
  for (unsigned index = 0; index < nodes.size(); ++index)
    for (unsigned producer : nodes[index].producers)
      nodes[producer].consumers.push_back(index);
}

bool ModelGraph::addReplicable(Operation *op) {
  if (isa<nn::ConstantOp, pp::GetParameterOp, pp::RandomKeyOp>(op)) {
    replicable[op] =
        isa<pp::GetParameterOp>(op) ? Origin::Parameter : Origin::Constant;
    return true;
  }
  if (isExpensive(op))
    return false;
  bool readsInput = false, readsParameter = false;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer) {
      readsInput = true;
      continue;
    }
    auto known = replicable.find(producer);
    if (known == replicable.end())
      return false;
    readsInput |= known->second == Origin::Input;
    readsParameter |= known->second == Origin::Parameter;
  }
  if (readsParameter && (readsInput || !isView(op)))
    return false;
  replicable[op] = readsParameter ? Origin::Parameter
                   : readsInput   ? Origin::Input
                                  : Origin::Constant;
  return true;
}

void ModelGraph::addParameters(Value value, Node &node) const {
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || !replicable.contains(op))
      continue;
    if (auto get = dyn_cast<pp::GetParameterOp>(op))
      node.parameters.push_back(get.getParameter());
    llvm::append_range(pending, op->getOperands());
  }
}

void ModelGraph::addNode(Operation *op) {
  Node node;
  node.op = op;
  for (Value operand : op->getOperands()) {
    auto known = indices.find(operand.getDefiningOp());
    if (known == indices.end())
      addParameters(operand, node);
    else if (!llvm::is_contained(node.producers, known->second))
      node.producers.push_back(known->second);
  }
  node.scope = NameScope(getNodeName(op->getLoc()));
  for (StringRef parameter : node.parameters)
    if (node.scope.empty())
      node.scope = NameScope(parameter);
  indices[op] = nodes.size();
  nodes.push_back(std::move(node));
}

void pipewright::moveSourcesToConsumers(const ModelGraph &graph,
                                        MutableArrayRef<unsigned> layerOf) {
  ArrayRef<ModelGraph::Node> nodes = graph.getNodes();
  for (unsigned index = nodes.size(); index-- > 0;) {
    if (!nodes[index].isSource() || nodes[index].consumers.empty())
      continue;
    unsigned first = layerOf[nodes[index].consumers.front()];
    for (unsigned consumer : nodes[index].consumers)
      first = std::min(first, layerOf[consumer]);
    layerOf[index] = first;
  }
}
