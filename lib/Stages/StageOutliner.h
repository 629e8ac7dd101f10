//===- StageOutliner.h - Makes the tasks of one stage -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_STAGES_STAGEOUTLINER_H
#define PIPEWRIGHT_LIB_STAGES_STAGEOUTLINER_H

#include "StagedModel.h"
#include "TaskBuilder.h"

#include <deque>

namespace pipewright {

/// Makes the F task of a stage, then its backward tasks, which decide what F
/// saves. Where replicas exchange values, F and the backward go on in another
/// part: the exchange is between them.
///
/// Values come in two kinds: those of the model (results of its layers, its
/// inputs), and those of the tasks that are built, which stand for them.
class StageOutliner {
public:
  StageOutliner(StagedModel &model, mlir::SymbolTable &symbols, int64_t stage,
                bool splitsBackward);
  void run();

private:
  // Forward.
  void buildForward();
  void callForward(StagedLayer &layer);
  void sendForward(pp::ExchangedOp exchanged);
  void bindModelResults();

  // Backward, from the last layer to the first.
  void buildBackward();
  void callBackward(StagedLayer &layer);
  void callWeight(StagedLayer &layer, nn::CallOp backward);
  void sendBackward(pp::ExchangedOp exchanged);
  void returnGradients();

  /// The memory of \p value in this stage's tasks if it is not made here: a
  /// model input, a random key, a received activation, or what replicas have
  /// exchanged; null otherwise.
  pp::BindingAttr findIncoming(mlir::Value value);
  pp::BindingAttr bindParameter(pp::BindingKind kind, StagedLayer &layer,
                                int64_t argument);

  /// \p value of the model in a part of F, the last one if it comes from
  /// elsewhere.
  mlir::Value getForwardValue(mlir::Value value);
  /// \p value of the model in \p task.
  mlir::Value fetch(mlir::Value value, TaskBuilder &task);
  /// \p value of a task in the same or a later task \p task, saved for it.
  mlir::Value restore(mlir::Value value, TaskBuilder &task);
  /// Has the task that makes \p value leave it in \p binding.
  void yield(mlir::Value value, pp::BindingAttr binding);

  /// What \p operand of a derivative of \p layer is in \p task.
  mlir::Value resolve(StagedLayer &layer, nn::OperandAttr operand,
                      TaskBuilder &task, nn::CallOp backward);

  /// The gradient of \p value as far as it is summed up, or null.
  mlir::Value findGradient(mlir::Value value);
  void addGradient(mlir::Value value, mlir::Value contribution);
  /// The finished gradient of a value that this stage makes.
  mlir::Value getCotangent(mlir::Value value);

  pp::BindingAttr bind(pp::BindingKind kind, llvm::StringRef name = "",
                       int64_t index = 0) {
    return pp::BindingAttr::get(stageOp.getContext(), kind, name, index);
  }

  /// The parts of a role. The last one is still being built.
  using Parts = std::deque<TaskBuilder>;
  /// Adds one to \p parts, those of F or of the backward.
  void addPart(Parts &parts);
  TaskBuilder &getOwner(mlir::Value value);

  /// An exchange: where its value arrives, and which part sent it.
  struct Exchange {
    pp::BindingAttr received;
    size_t part;
  };
  Exchange exchange(pp::ExchangedOp like, mlir::Value value,
                    const Parts &parts);
  /// Begins a new part if the last one sent what is to be received now.
  void await(const Exchange &exchange, Parts &parts);
  void awaitGradient(mlir::Value value);

  StagedModel &model;
  mlir::SymbolTable &symbols;
  int64_t stage;
  pp::StageOp stageOp;
  Parts forward;
  /// BW or B; W if the backward is split.
  Parts backward;
  std::optional<TaskBuilder> splitWeight;
  bool splitsBackward;
  TaskBuilder &getWeightTask() {
    return splitWeight ? *splitWeight : backward.back();
  }

  /// The calls of the layers' F, and the values of the model they make.
  llvm::DenseMap<mlir::Operation *, nn::CallOp> forwardCalls;
  llvm::DenseMap<mlir::Value, mlir::Value> forwardValues;
  /// Of values of the model: what they are exchanged to be, and the exchanges
  /// in which their gradients begin.
  llvm::DenseMap<mlir::Value, Exchange> forwardExchanges, gradientExchanges;
  int64_t exchanges = 0;
  /// The number under which each value of a task is saved.
  llvm::DenseMap<mlir::Value, int64_t> savedNumbers;
  /// Sums of gradients, and those to which nothing is added any more.
  llvm::DenseMap<mlir::Value, mlir::Value> gradients, finishedGradients;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_STAGES_STAGEOUTLINER_H
