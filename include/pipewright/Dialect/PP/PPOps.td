//===- PPOps.td - All ops of the pp dialect ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_PPOPS
#define PIPEWRIGHT_DIALECT_PP_PPOPS

include "pipewright/Dialect/PP/Ops/Model.td"
include "pipewright/Dialect/PP/Ops/Program.td"
include "pipewright/Dialect/PP/Ops/Stage.td"
include "pipewright/Dialect/PP/Ops/Training.td"

#endif // PIPEWRIGHT_DIALECT_PP_PPOPS
