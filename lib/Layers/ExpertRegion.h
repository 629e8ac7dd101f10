//===- ExpertRegion.h - What a layer computes per expert --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_LAYERS_EXPERTREGION_H
#define PIPEWRIGHT_LIB_LAYERS_EXPERTREGION_H

#include "pipewright/Dialect/PP/PP.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace pipewright {

/// Ops on rows of which each belongs to one expert: from the first product with
/// experts' weights to the last, and the look-ups of their biases.
struct ExpertRegion {
  mlir::Location loc;
  /// The experts of the rows, and how many there are to choose from.
  mlir::Value numbers;
  int64_t experts;
  /// Values of other ops, of as many rows, that it uses; those of its own that
  /// others use.
  llvm::SetVector<mlir::Value> rows;
  llvm::SetVector<mlir::Value> results;

  int64_t countRows() const {
    return mlir::cast<mlir::RankedTensorType>(numbers.getType()).getDimSize(0);
  }
};

/// The regions of a layer's function, of which none uses what another one
/// makes.
class ExpertRegions {
public:
  /// Reports an error at \p layer, which calls \p function, if its experts
  /// cannot be shared out.
  static mlir::FailureOr<ExpertRegions> find(nn::FunctionOp function,
                                             pp::LayerOp layer);

  llvm::ArrayRef<ExpertRegion> getRegions() const { return regions; }

  /// The ops of all regions, in order.
  llvm::SmallVector<mlir::Operation *> getOps();
  bool isInside(mlir::Operation *op) const { return regionOf.contains(op); }
  /// The index of the region that \p op is inside of.
  unsigned getRegion(mlir::Operation *op) const { return regionOf.lookup(op); }
  /// Whether \p op uses what a region makes, directly or not.
  bool isBehind(mlir::Operation *op) const {
    return behind.contains(op) && !isInside(op);
  }

  /// Where \p op, inside of a region, uses a parameter with a part for each
  /// expert, and the experts of its rows; null if it does not.
  mlir::OpOperand *findParameter(mlir::Operation *op) const;
  mlir::OpOperand *findNumbers(mlir::Operation *op) const;

  /// The value of \p value if it is a constant of one number, which regions
  /// have copies of; null if not.
  static mlir::DenseElementsAttr getSplat(mlir::Value value);

private:
  using Ops = llvm::DenseSet<mlir::Operation *>;

  ExpertRegions(nn::FunctionOp function, pp::LayerOp layer)
      : function(function), layer(layer) {}

  Ops findBehind(const Ops &ops);
  Ops findBefore(const Ops &ops);
  bool isParameter(mlir::Value value);
  bool isBias(nn::GatherOp op, const Ops &products, const Ops &related);
  void findBiases(const Ops &products);
  mlir::LogicalResult checkWeights(nn::ExpertMatMulOp product);
  mlir::FailureOr<unsigned> chooseRegion(mlir::Operation *op);
  unsigned findOrAddRegion(mlir::Operation *op, mlir::OpOperand &numbers);
  mlir::LogicalResult assign(mlir::Operation *op);
  void takeBroadcast(nn::BroadcastOp op);
  void addCrossings(mlir::Operation *op);
  mlir::LogicalResult build();
  mlir::LogicalResult fail(mlir::Operation *op, const llvm::Twine &what);

  nn::FunctionOp function;
  pp::LayerOp layer;
  llvm::SmallVector<ExpertRegion> regions;
  llvm::DenseMap<mlir::Operation *, unsigned> regionOf;
  Ops biases, behind;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_LAYERS_EXPERTREGION_H
