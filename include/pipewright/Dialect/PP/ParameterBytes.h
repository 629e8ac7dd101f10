//===- ParameterBytes.h - What parameters need on a rank --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_PARAMETERBYTES_H
#define PIPEWRIGHT_DIALECT_PP_PARAMETERBYTES_H

#include "pipewright/Dialect/PP/PP.h"

namespace pipewright::pp {

/// How many tensors of the size of a trainable parameter of \p module a rank
/// holds: itself and, where it is updated, its gradient and the states.
int64_t countCopies(mlir::ModuleOp module);

/// The bytes that a rank holds for \p parameters, which are symbols of
/// \p symbols: \p copies of each that is trainable.
int64_t getParameterBytes(llvm::ArrayRef<mlir::Attribute> parameters,
                          const mlir::SymbolTable &symbols, int64_t copies);

} // namespace pipewright::pp

#endif // PIPEWRIGHT_DIALECT_PP_PARAMETERBYTES_H
