//===- AttentionCalls.h - Attention as a library sees it -----------*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_ATTENTIONCALLS_H
#define PIPEWRIGHT_LIB_CODEGEN_ATTENTIONCALLS_H

#include "pipewright/Codegen/Target.h"
#include "pipewright/Dialect/NN/Attention.h"

namespace pipewright {

/// The call that computes \p op, an attention without mask and soft cap, with
/// or without statistics, or the one that its gradient \p op belongs to. Its
/// operands and its result are tensors; it has no statistics yet.
template <typename OpTy>
AttentionCall describeAttention(OpTy op) {
  nn::AttentionSizes sizes(op);
  AttentionCall call{};
  call.query = op.getQuery();
  call.key = op.getKey();
  call.value = op.getValue();
  call.result = op.getResult();
  call.batch = mlir::ShapedType::getNumElements(sizes.batch);
  call.heads = sizes.groups * sizes.headsPerGroup;
  call.groups = sizes.groups;
  call.queries = sizes.queries;
  call.keys = sizes.keys;
  call.size = sizes.size;
  call.valueSize = sizes.valueSize;
  call.scale = op.getScale().convertToDouble();
  call.causal = op.getCausal();
  return call;
}

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_ATTENTIONCALLS_H
