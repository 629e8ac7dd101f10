//===- StageOutliner.h - Makes the tasks of one stage -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_STAGES_STAGEOUTLINER_H
#define PIPEWRIGHT_LIB_STAGES_STAGEOUTLINER_H

#include "StagedModel.h"
#include "TaskBuilder.h"

namespace pipewright {

/// Makes the F task of a stage, then its backward tasks, which decide what F
/// saves.
///
/// Values come in two kinds: those of the model (results of its layers, its
/// inputs), and those of the tasks that are built, which stand for them.
class StageOutliner {
public:
  StageOutliner(StagedModel &model, int64_t stage, bool splitsBackward);
  void run(mlir::SymbolTable &symbols);

private:
  // Forward.
  void buildForward();
  void callForward(StagedLayer &layer);
  void bindModelResults();

  // Backward, from the last layer to the first.
  void buildBackward();
  void callBackward(StagedLayer &layer);
  void callWeight(StagedLayer &layer, nn::CallOp backward);
  void returnGradients();

  /// The memory of \p value in this stage's tasks if it is not made here: a
  /// model input, a random key or a received activation; null otherwise.
  pp::BindingAttr findIncoming(mlir::Value value);
  pp::BindingAttr bindParameter(pp::BindingKind kind, StagedLayer &layer,
                                int64_t argument);

  /// \p value of the model in the forward task.
  mlir::Value getForwardValue(mlir::Value value);
  /// \p value of the model in the backward task \p task.
  mlir::Value fetch(mlir::Value value, TaskBuilder &task);
  /// \p value of the task \p maker in the later task \p task, saved for it.
  mlir::Value restore(mlir::Value value, TaskBuilder &maker, TaskBuilder &task);

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

  StagedModel &model;
  int64_t stage;
  pp::StageOp stageOp;
  TaskBuilder forward;
  /// BW or B; W if the backward is split.
  std::optional<TaskBuilder> backward, splitWeight;
  bool splitsBackward;
  TaskBuilder &getWeightTask() {
    return splitWeight ? *splitWeight : *backward;
  }

  /// The calls of the layers' F, and the values of the model they make.
  llvm::DenseMap<mlir::Operation *, nn::CallOp> forwardCalls;
  llvm::DenseMap<mlir::Value, mlir::Value> forwardValues;
  /// The number under which each value of a task is saved.
  llvm::DenseMap<mlir::Value, int64_t> savedNumbers;
  /// Sums of gradients, and those to which nothing is added any more.
  llvm::DenseMap<mlir::Value, mlir::Value> gradients, finishedGradients;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_STAGES_STAGEOUTLINER_H
