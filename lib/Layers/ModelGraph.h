//===- ModelGraph.h - A model's ops, seen for grouping ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_LAYERS_MODELGRAPH_H
#define PIPEWRIGHT_LIB_LAYERS_MODELGRAPH_H

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Layers/NameScope.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pipewright {

/// The ops of a model that belong to exactly one layer, numbered in program
/// order. All others are replicable: constants, parameters, views of them,
/// random keys, and cheap computations on model inputs, of which each layer
/// gets a copy.
class ModelGraph {
public:
  explicit ModelGraph(pp::ModelOp model);

  struct Node {
    mlir::Operation *op;
    /// Nodes whose results this one uses, without repeats.
    llvm::SmallVector<unsigned> producers;
    llvm::SmallVector<unsigned> consumers;
    /// Parameters it reads, directly or through a view.
    llvm::SmallVector<llvm::StringRef> parameters;
    /// The scope of its ONNX node; of its parameters if the node has none.
    NameScope scope;

    /// Whether it is what makes people speak of a layer: a product with a
    /// parameter or a look-up in one.
    bool isContraction() const;
    /// Whether it only makes values for later nodes: no layer can end after.
    bool isSource() const { return producers.empty() && !isContraction(); }
  };

  llvm::ArrayRef<Node> getNodes() const { return nodes; }
  bool isReplicable(mlir::Operation *op) const {
    return replicable.contains(op);
  }

private:
  /// Where the values of a replicable op come from.
  enum class Origin { Constant, Input, Parameter };
  bool addReplicable(mlir::Operation *op);
  void addNode(mlir::Operation *op);
  void addParameters(mlir::Value value, Node &node) const;

  llvm::SmallVector<Node> nodes;
  llvm::DenseMap<mlir::Operation *, unsigned> indices;
  llvm::DenseMap<mlir::Operation *, Origin> replicable;
};

/// Whether \p op only shows the elements of its operand in another
/// arrangement or type.
bool isView(mlir::Operation *op);

/// Which layer each node belongs to: no node uses one of a later layer.
struct LayerAssignment {
  llvm::SmallVector<std::string> names;
  /// The layer of each node of the graph.
  llvm::SmallVector<unsigned> layerOf;
};

/// Layers by numbered name scopes; none if no scope is numbered.
std::optional<LayerAssignment> assignByScopes(const ModelGraph &graph);

/// Layers between the positions where one floating-point tensor is live.
LayerAssignment assignByCutPoints(const ModelGraph &graph);

/// Gives each node without a producer the layer of its first consumer.
void moveSourcesToConsumers(const ModelGraph &graph,
                            llvm::MutableArrayRef<unsigned> layerOf);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_LAYERS_MODELGRAPH_H
