//===- PP.h - The pp dialect: who computes what, when -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_PP_H
#define PIPEWRIGHT_DIALECT_PP_PP_H

#include "pipewright/Dialect/NN/NN.h"

#include "pipewright/Dialect/PP/PPDialect.h.inc"
#include "pipewright/Dialect/PP/PPEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "pipewright/Dialect/PP/PPAttrs.h.inc"
#define GET_OP_CLASSES
#include "pipewright/Dialect/PP/PPOps.h.inc"

namespace pipewright::pp {

/// The phase that \p module has reached; Import if it does not say.
Phase getPhase(mlir::ModuleOp module);
void setPhase(mlir::ModuleOp module, Phase phase);

/// The model of \p module, which has at most one; null if it has none.
ModelOp getModel(mlir::ModuleOp module);

/// Calls \p visit with each action of \p program in the order in which the rank
/// runs them, repeats unrolled, and its micro-batch (0 for pp.step). A
/// pp.overlap comes, with micro-batch 0, before the runs of its branches.
void walkActions(ProgramOp program,
                 llvm::function_ref<void(mlir::Operation *, int64_t)> visit);

/// What the channel of number \p number among those of \p kind that leave
/// \p source is called: `act.0.1`, or `grad.u3.0` in direction 1.
std::string nameChannel(ChannelKind kind, StageOp source, int64_t number);

/// Fails unless \p type is of \p peers blocks of equally many rows.
mlir::LogicalResult verifyBlocks(mlir::Operation *op, mlir::Type type,
                                 int64_t peers);

/// Tensors of state that \p optimizer keeps for each parameter.
int64_t countStates(Optimizer optimizer);

/// The size of a value of the (static) type \p type, in bytes; i1 takes one.
int64_t getBytes(mlir::Type type);

} // namespace pipewright::pp

#endif // PIPEWRIGHT_DIALECT_PP_PP_H
