//===- NNOps.td - All ops of the nn dialect ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_NNOPS
#define PIPEWRIGHT_DIALECT_NN_NNOPS

include "pipewright/Dialect/NN/Ops/Attention.td"
include "pipewright/Dialect/NN/Ops/Convolution.td"
include "pipewright/Dialect/NN/Ops/Elementwise.td"
include "pipewright/Dialect/NN/Ops/Embedding.td"
include "pipewright/Dialect/NN/Ops/Experts.td"
include "pipewright/Dialect/NN/Ops/Function.td"
include "pipewright/Dialect/NN/Ops/Loss.td"
include "pipewright/Dialect/NN/Ops/MatMul.td"
include "pipewright/Dialect/NN/Ops/Normalization.td"
include "pipewright/Dialect/NN/Ops/Random.td"
include "pipewright/Dialect/NN/Ops/Reduction.td"
include "pipewright/Dialect/NN/Ops/Shape.td"

#endif // PIPEWRIGHT_DIALECT_NN_NNOPS
