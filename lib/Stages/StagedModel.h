//===- StagedModel.h - What crosses between stages --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_STAGES_STAGEDMODEL_H
#define PIPEWRIGHT_LIB_STAGES_STAGEDMODEL_H

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pipewright {

/// A layer with the functions of its roles.
struct StagedLayer {
  pp::LayerOp op;
  /// As `pp.stage` numbers layers.
  int64_t index;
  int64_t stage;
  /// Null where nothing is trained.
  nn::DerivativeOp derivative;
  /// F; the layer function itself where nothing is trained.
  nn::FunctionOp forward;
  /// Null if no role that runs needs it.
  nn::FunctionOp backward;
  nn::FunctionOp weight;

  /// The gradient for argument i if B runs: its number among B's results.
  std::optional<unsigned> findInputGradient(unsigned argument);
};

/// A value on its way from the stage that makes or received it to the next
/// one that uses it.
struct Crossing {
  mlir::Value value;
  int64_t source;
  int64_t target;
  /// Whether a gradient comes back.
  bool hasGradient;
  pp::ChannelOp activation;
  pp::ChannelOp gradient;
};

/// The layers and the stages of one direction of a module, and the values that
/// cross.
class StagedModel {
public:
  /// Fails with a diagnostic if the stages do not hold the layers in order, or
  /// only some layers have a derivative.
  static mlir::FailureOr<StagedModel>
  get(mlir::ModuleOp module, mlir::SymbolTable &symbols, uint64_t direction);

  pp::ModelOp getModel() { return model; }
  pp::ReturnOp getReturn() {
    return llvm::cast<pp::ReturnOp>(model.getBody().front().back());
  }
  llvm::ArrayRef<pp::StageOp> getStages() const { return stages; }
  llvm::MutableArrayRef<StagedLayer> getLayers(int64_t stage);
  /// The layers of \p stage and what they exchange with replicas, in order.
  llvm::SmallVector<mlir::Operation *> getOps(int64_t stage);
  StagedLayer &getLayer(pp::LayerOp layer) {
    return layers[numbers.lookup(layer)];
  }
  bool isTrained() const { return trained; }
  uint64_t getDirection() { return pp::StageOp(stages.front()).getDirection(); }

  /// Whether the layer that makes \p value, be it on other replicas, uses its
  /// gradient.
  bool wantsGradient(mlir::Value value) const;
  /// The stage that makes \p value; the last one for a model input.
  int64_t getStage(mlir::Value value) const;

  /// All crossings, by value and then from its first stage on.
  llvm::MutableArrayRef<Crossing> getCrossings() { return crossings; }

private:
  mlir::LogicalResult assignLayers(mlir::SymbolTable &symbols);
  mlir::LogicalResult checkExchanges();
  mlir::LogicalResult findRoles(mlir::ModuleOp module,
                                mlir::SymbolTable &symbols);
  void findWantedGradients(mlir::SymbolTable &symbols);
  void findCrossings(mlir::Value value, int64_t source);

  pp::ModelOp model;
  llvm::SmallVector<pp::StageOp> stages;
  llvm::SmallVector<StagedLayer> layers;
  /// The number of a layer in `layers`.
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseSet<mlir::Value> wanted;
  llvm::SmallVector<Crossing> crossings;
  bool trained = false;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_STAGES_STAGEDMODEL_H
