//===- Evaluate.h - Reference semantics of the nn dialect -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes nn ops on the host, one at a time and as plainly as possible. It
// says what each op means: constants are folded with it, gradients are checked
// against its differences, and compiled code against its values. Nothing here
// is fast.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_EVALUATE_H
#define PIPEWRIGHT_DIALECT_NN_EVALUATE_H

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/SymbolTable.h"

namespace pipewright::nn {

/// What becomes of an op's floating-point results, which are computed in
/// double precision.
enum class Rounding {
  /// Rounded to the element type of the result, as a machine would.
  ToElementType,
  /// Kept as they are: derivatives by small differences need all digits.
  None
};

/// The results of \p op for \p operands. Fails with a diagnostic at the op
/// where it has no value: an index out of range, an integer division by zero,
/// or operands of other types than the op's. An `nn.call` looks its function
/// up in \p symbols.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
evaluate(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
         Rounding rounding = Rounding::ToElementType,
         const mlir::SymbolTable *symbols = nullptr);

/// The results of \p function for \p arguments.
mlir::FailureOr<llvm::SmallVector<HostTensor>>
evaluateFunction(FunctionOp function, llvm::ArrayRef<HostTensor> arguments,
                 const mlir::SymbolTable &symbols,
                 Rounding rounding = Rounding::ToElementType);

/// Whether ops of this name can be evaluated: all that compute something.
bool hasEvaluator(mlir::OperationName name);

} // namespace pipewright::nn

#endif // PIPEWRIGHT_DIALECT_NN_EVALUATE_H
