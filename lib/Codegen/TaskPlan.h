//===- TaskPlan.h - Where the values of a task lie --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TASKPLAN_H
#define PIPEWRIGHT_LIB_CODEGEN_TASKPLAN_H

#include "pipewright/Codegen/TaskSignature.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace pipewright {

/// `offset` bytes after the task's pointer number `pointer`.
struct Place {
  unsigned pointer = 0;
  int64_t offset = 0;

  bool operator==(const Place &other) const {
    return pointer == other.pointer && offset == other.offset;
  }
};

/// Where each value of a task lies. A value that is yielded is made in the
/// memory of its binding; others lie in the task's workspace for as long as
/// they are used, and so does the workspace of each call.
class TaskPlan {
public:
  /// \p layerWorkspaces are the bytes that each callee needs.
  static llvm::FailureOr<TaskPlan>
  compute(pp::TaskOp task, const llvm::StringMap<int64_t> &layerWorkspaces);

  const TaskSignature &getSignature() const { return signature; }
  Place getPlace(mlir::Value value) const { return places.lookup(value); }
  /// Of the result number \p index of the task.
  Place getResultPlace(pp::TaskOp task, unsigned index) const {
    return {signature.indexOf(task.getResultBinding(index)), 0};
  }
  /// Where the workspace of \p call begins.
  Place getCalleeWorkspace(nn::CallOp call) const {
    return callees.lookup(call);
  }
  int64_t getWorkspaceBytes() const { return workspaceBytes; }

private:
  explicit TaskPlan(pp::TaskOp task) : signature(task) {}

  void placeResults(pp::TaskOp task, nn::CallOp call,
                    const LayerSignature &callee);
  void placeInWorkspace(pp::TaskOp task,
                        const llvm::StringMap<int64_t> &layerWorkspaces);

  TaskSignature signature;
  llvm::DenseMap<mlir::Value, Place> places;
  /// Values of the workspace, each with those that share its memory.
  llvm::SmallVector<llvm::SmallVector<mlir::Value, 1>> temporaries;
  llvm::DenseMap<mlir::Operation *, Place> callees;
  int64_t workspaceBytes = 0;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_TASKPLAN_H
