//===- TaskSignature.h - The pointers of tasks and layers -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a compiled task and a compiled layer function expect of their callers.
// The descriptor of a rank lists a task's pointers in the order given here.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_TASKSIGNATURE_H
#define PIPEWRIGHT_CODEGEN_TASKSIGNATURE_H

#include "pipewright/Dialect/PP/PP.h"

#include <optional>
#include <string>

namespace pipewright {

/// A compiled task is `void task(void *const *pointers)` with one pointer for
/// each distinct binding: first those of its arguments, then those that only
/// its results have, each in the order in which it first appears, and last the
/// workspace, always.
struct TaskSignature {
  explicit TaskSignature(pp::TaskOp task);

  /// The position of \p binding, which the task must have.
  unsigned indexOf(pp::BindingAttr binding) const;
  unsigned getWorkspaceIndex() const { return bindings.size() - 1; }

  llvm::SmallVector<pp::BindingAttr> bindings;
};

/// A compiled layer function is `void layer(ptr arguments…, ptr results…, ptr
/// workspace)`. Results that are an accumulator argument plus contributions
/// have no pointer of their own: they are summed where the argument lives.
struct LayerSignature {
  explicit LayerSignature(nn::FunctionOp function);

  /// For each result, the argument whose memory it shares, if any.
  llvm::SmallVector<std::optional<unsigned>> sharedArguments;
};

/// The linker symbols of the compiled layer function and task named \p name:
/// prefixed, since a layer may be called `main` or `exp`.
std::string getLayerSymbol(llvm::StringRef name);
std::string getTaskSymbol(llvm::StringRef name);

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_TASKSIGNATURE_H
