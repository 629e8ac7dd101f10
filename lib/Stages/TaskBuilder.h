//===- TaskBuilder.h - Builds a task binding by binding ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_STAGES_TASKBUILDER_H
#define PIPEWRIGHT_LIB_STAGES_TASKBUILDER_H

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace pipewright {

/// Builds one task. Arguments are added when they are first asked for.
class TaskBuilder {
public:
  /// The task's name ends with \p suffix, and with \p part if that is not the
  /// first one.
  TaskBuilder(pp::StageOp stage, pp::Role role, llvm::StringRef suffix,
              int64_t part = 0);

  /// Whether \p value is an argument of the task or made by it.
  bool owns(mlir::Value value) const;

  /// The argument that is bound to \p binding.
  mlir::Value getArgument(pp::BindingAttr binding, mlir::Type type);
  void addResult(mlir::Value value, pp::BindingAttr binding);

  nn::CallOp call(pp::LayerOp layer, nn::FunctionOp function,
                  mlir::ValueRange operands);
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  /// A tensor of zeros.
  mlir::Value makeZero(mlir::Type type);

  /// The binding of \p value if it is an argument of the task, else null.
  pp::BindingAttr findBinding(mlir::Value value) const;

  /// Ends the task and adds it to the module.
  void finish(mlir::SymbolTable &symbols);

private:
  mlir::OpBuilder builder;
  pp::TaskOp task;
  llvm::SmallVector<mlir::Attribute> argumentBindings;
  llvm::SmallVector<mlir::Attribute> resultBindings;
  llvm::SmallVector<mlir::Value> results;
  llvm::DenseMap<mlir::Attribute, mlir::Value> arguments;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_STAGES_TASKBUILDER_H
