//===- StageGraph.h - The stages of a module and what joins them *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_STAGEGRAPH_H
#define PIPEWRIGHT_SCHEDULE_STAGEGRAPH_H

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/RoleParts.h"
#include "pipewright/Schedule/Simulator.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace pipewright {

/// What a module declares about its pipeline, by number: stage i of a direction
/// is the one whose index is i, channel i the i-th that is declared.
class StageGraph {
public:
  /// Emits an error and fails if the stages of a direction are not numbered
  /// from 0 without gaps, directions have not equally many stages, a stage has
  /// two tasks of one role and part, or parts are not in order.
  static mlir::FailureOr<StageGraph> get(mlir::ModuleOp module);

  int64_t getDirections() const { return directions; }
  /// Of one direction.
  int64_t getStages() const { return stages.size() / directions; }
  int64_t getRanks() const { return ranks; }
  /// Stages of one direction on the rank that has most.
  int64_t getChunks() const { return chunks; }
  pp::StageOp getStage(int64_t stage, int64_t direction = 0) const {
    return stages[direction * getStages() + stage];
  }
  int64_t getRank(int64_t stage, int64_t direction = 0) const;
  Placement getPlacement() const;
  /// The tasks of \p stage for \p role, part by part; empty if there are none.
  llvm::ArrayRef<pp::TaskOp> getParts(int64_t stage, pp::Role role,
                                      int64_t direction = 0) const;
  /// True if any stage has a backward task.
  bool hasBackward() const;
  /// CheckOptions::roles of the tasks that exist.
  std::vector<std::vector<ActionKind>> getRoles() const;
  /// The costs that the stages carry, in microseconds; 1 where there are none.
  CostModel getCosts() const;

  int64_t getStageNumber(llvm::StringRef name) const;
  /// The direction of the stage called \p name.
  int64_t getDirection(llvm::StringRef name) const;
  int64_t getChannelNumber(llvm::StringRef name) const;
  /// The task called \p name.
  pp::TaskOp getTask(llvm::StringRef name) const;

  llvm::ArrayRef<pp::ChannelOp> getChannels() const { return channels; }
  /// The ranks that hold the ends of \p channel.
  int64_t getSourceRank(int64_t channel) const;
  int64_t getTargetRank(int64_t channel) const;
  bool crossesRanks(int64_t channel) const {
    return getSourceRank(channel) != getTargetRank(channel);
  }
  /// The channels that \p task has as arguments, or as results, ascending.
  llvm::SmallVector<int64_t> getReads(pp::TaskOp task) const;
  llvm::SmallVector<int64_t> getWrites(pp::TaskOp task) const;
  /// The exchanges for which \p task makes what is sent.
  static llvm::SmallVector<llvm::StringRef> getExchanges(pp::TaskOp task);

private:
  mlir::LogicalResult addStages(mlir::ModuleOp module);
  mlir::LogicalResult checkNumbers();
  mlir::LogicalResult addTasks(mlir::ModuleOp module);
  llvm::SmallVector<int64_t> getChannels(mlir::ArrayAttr bindings) const;

  /// Direction by direction.
  std::vector<pp::StageOp> stages;
  /// Per stage, by role.
  using Parts = llvm::SmallVector<pp::TaskOp, 1>;
  std::vector<llvm::SmallVector<Parts, 5>> tasks;
  llvm::SmallVector<pp::ChannelOp> channels;
  llvm::StringMap<int64_t> stageNumbers, channelNumbers;
  llvm::StringMap<pp::TaskOp> taskNames;
  int64_t directions = 1;
  int64_t ranks = 0;
  int64_t chunks = 0;
};

/// The times of \p layer, which has a cost, in units of \p unit picoseconds.
LayerCost getLayerCost(pp::LayerOp layer, double unit);

/// The action of a task of \p role.
ActionKind getActionKind(pp::Role role);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_STAGEGRAPH_H
