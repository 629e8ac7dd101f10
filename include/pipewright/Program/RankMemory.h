//===- RankMemory.h - What a rank holds, and when ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read from the programs of a rank: what lasts as long as the run, and between
// which actions each buffer holds the value of a micro-batch.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PROGRAM_RANKMEMORY_H
#define PIPEWRIGHT_PROGRAM_RANKMEMORY_H

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Program/Arena.h"

#include "llvm/ADT/MapVector.h"

namespace pipewright {

/// When a buffer holds a value: positions are those of getPositions().
struct BufferUse {
  int64_t bytes = 0;
  /// It comes from another rank or goes to one.
  bool isMessage = false;
  /// Of each micro-batch, in the step; all unused if the step does not use it.
  llvm::SmallVector<Lifetime> microbatches;
  /// In eval, in which one micro-batch follows the other: of each of them, by
  /// the position among the micro-batch's own actions.
  Lifetime eval;
};

/// The memory of one rank.
///
/// A buffer is needed from the first to the last action on its micro-batch. Of
/// a message that leaves the rank it is needed longer: the send may not be over
/// when the next task runs, and the runtime would wait for it before anything
/// else may use the memory. So it is kept while one more task, or the update,
/// runs.
class RankMemory {
public:
  /// What a binding that lasts takes, in bytes.
  using Lasting = llvm::MapVector<pp::BindingAttr, int64_t>;
  using Buffers = llvm::MapVector<pp::BindingAttr, BufferUse>;

  struct Action {
    mlir::Operation *op;
    int64_t microbatch;
  };
  /// What happens at one position: an action, or several tasks that overlap.
  using Position = llvm::SmallVector<Action, 1>;

  /// Emits an error and fails for an action on a micro-batch that is not there
  /// and for a task of unknown workspace.
  static mlir::FailureOr<RankMemory> get(mlir::ModuleOp module,
                                         const mlir::SymbolTable &symbols,
                                         int64_t rank, int64_t microbatches);

  /// What `pp.step` needs to add gradients over replicas.
  static pp::BindingAttr getStepWorkspace(mlir::MLIRContext *context);

  /// Parameters, gradients and optimizer state, in the order of the model, and
  /// the scale of the loss.
  const Lasting &getLasting() const { return lasting; }
  int64_t getLastingBytes() const;
  /// All else, in the order of its first use.
  const Buffers &getBuffers() const { return buffers; }
  /// The positions of the step.
  llvm::ArrayRef<Position> getPositions() const { return positions; }
  /// Those of a micro-batch in eval, of the one that has most.
  llvm::ArrayRef<Position> getEvalPositions() const { return evalPositions; }

private:
  RankMemory(mlir::ModuleOp module, const mlir::SymbolTable &symbols,
             int64_t microbatches)
      : module(module), symbols(symbols), microbatches(microbatches) {}

  pp::BindingAttr bind(pp::BindingKind kind, llvm::StringRef name = "",
                       int64_t index = 0);
  mlir::LogicalResult visitStep(pp::ProgramOp program);
  mlir::LogicalResult visitEval(pp::ProgramOp program);
  mlir::LogicalResult visitAction(mlir::Operation *op, int64_t microbatch,
                                  bool isEval);
  mlir::LogicalResult touchTask(pp::TaskOp task);
  void touchChannel(llvm::StringRef name, bool isSend);
  void touchExchange(llvm::StringRef name);
  void touchStep();
  void keepSends();
  void touch(pp::BindingAttr binding, int64_t bytes);
  void addParameters();
  void addUpdates();

  mlir::ModuleOp module;
  const mlir::SymbolTable &symbols;
  int64_t microbatches;

  Lasting lasting, lossScales;
  Buffers buffers;
  std::vector<Position> positions, evalPositions;

  /// Of the action that is being visited.
  int64_t position = 0;
  int64_t microbatch = 0;
  bool isEval = false;
  llvm::SetVector<pp::BindingAttr> parameters, gradients;
  /// Sends after which no task has run yet: channels and micro-batches.
  llvm::SmallVector<std::pair<pp::BindingAttr, int64_t>> sends;
};

} // namespace pipewright

#endif // PIPEWRIGHT_PROGRAM_RANKMEMORY_H
