//===- NN.h - The nn dialect: what is computed ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_NN_H
#define PIPEWRIGHT_DIALECT_NN_NN_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace pipewright::nn {

/// Marks ops whose result is made of sums of products of their first two
/// operands: where a model's work is, and what mixed precision narrows.
template <typename ConcreteType>
class Contraction : public mlir::OpTrait::TraitBase<ConcreteType, Contraction> {
};

} // namespace pipewright::nn

#include "pipewright/Dialect/NN/NNDialect.h.inc"
#include "pipewright/Dialect/NN/NNEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "pipewright/Dialect/NN/NNAttrs.h.inc"
#define GET_OP_CLASSES
#include "pipewright/Dialect/NN/NNOps.h.inc"

#endif // PIPEWRIGHT_DIALECT_NN_NN_H
