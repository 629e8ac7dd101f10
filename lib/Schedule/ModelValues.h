//===- ModelValues.h - What the model computes, by number -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_MODELVALUES_H
#define PIPEWRIGHT_SCHEDULE_MODELVALUES_H

#include "ValueTable.h"

#include "pipewright/Schedule/Schedule.h"

#include "llvm/ADT/MapVector.h"

namespace pipewright {

/// Runs the model layer by layer, micro-batch after micro-batch, forward and
/// then backward, and numbers what it computes. Neither stages nor tasks have
/// a part in it: it is what the pipeline is compared with.
class ModelValues {
public:
  /// A result, and its micro-batch; 0 for a gradient, which sums them all.
  using Result = std::pair<pp::BindingAttr, int64_t>;

  ModelValues(mlir::ModuleOp module, pp::ModelOp model, ValueTable &table);

  /// Computes the micro-batches of \p schedule; with \p isTrained the gradients
  /// too, for which each layer must have a derivative. Each direction has
  /// gradients of its own, and direction 0 alone has outputs.
  mlir::LogicalResult run(const Schedule &schedule, bool isTrained);

  /// Outputs, loss and gradients, by the memory that tasks bind them to.
  const llvm::MapVector<Result, int64_t> &getResults() const { return results; }
  /// If \p number is a gradient after the first micro-batches only: how many.
  std::optional<int64_t> findPartialSum(int64_t number) const;

private:
  /// The calls of one layer for one micro-batch.
  struct Layer {
    pp::LayerOp op;
    int64_t index;
    nn::DerivativeOp derivative;
    /// The first result of its F, and of its B.
    int64_t forward = 0;
    int64_t backward = 0;
  };

  void runForward(bool isTrained);
  void runForward(Layer &layer, bool isTrained);
  int64_t exchange(pp::ExchangedOp exchanged, int64_t number);
  void knowRecomputed(Layer &layer);
  void runBackward();
  void runBackward(Layer &layer);
  void bindResults();
  int64_t resolve(Layer &layer, nn::OperandAttr operand);
  llvm::SmallVector<int64_t> resolveAll(Layer &layer, mlir::ArrayAttr operands);
  int64_t getCotangent(mlir::Value value);
  void addGradient(mlir::Value value, int64_t contribution);
  int64_t makeZero(mlir::Type type);
  int64_t countResults(llvm::StringRef callee);
  int64_t call(llvm::StringRef callee, mlir::Attribute name,
               llvm::ArrayRef<int64_t> operands);
  pp::BindingAttr bind(pp::BindingKind kind, llvm::StringRef name = "",
                       int64_t index = 0);
  /// The parameter, or its gradient, behind the layer's operand \p index.
  pp::BindingAttr bindParameter(pp::BindingKind kind, Layer &layer,
                                int64_t index);

  mlir::ModuleOp module;
  pp::ModelOp model;
  ValueTable &table;
  mlir::SymbolTable symbols;
  llvm::SmallVector<Layer> layers;
  int64_t microbatch = 0;
  int64_t direction = 0;
  /// Of the direction.
  int64_t firstMicrobatch = 0;
  /// Of the current micro-batch.
  llvm::DenseMap<mlir::Value, int64_t> values, gradients, cotangents;
  llvm::MapVector<Result, int64_t> results;
  llvm::DenseMap<int64_t, int64_t> partialSums;
};

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_MODELVALUES_H
