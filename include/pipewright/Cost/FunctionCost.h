//===- FunctionCost.h - Work and time of a function -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_FUNCTIONCOST_H
#define PIPEWRIGHT_COST_FUNCTIONCOST_H

#include "pipewright/Cost/Device.h"
#include "pipewright/Dialect/PP/PP.h"

namespace pipewright {

struct FunctionCost {
  Work work;
  double seconds = 0;
};

/// The cost of the ops of \p function one after the other on \p device; only
/// of its contractions if \p contractionsOnly. Products by expert compute for
/// the part \p filledRows of their rows, as others have no expert.
FunctionCost priceFunction(nn::FunctionOp function, const Device &device,
                           bool contractionsOnly = false,
                           double filledRows = 1);

/// The bytes that \p policy keeps of \p layer for its backward: saved results,
/// and its own arguments and results as far as its B and W read them. With the
/// policy `selective`, what its recompute function reads, and not what that
/// makes; with the policy `full`, what enters the layer.
/// Parameters, model inputs and random keys are there anyway.
int64_t getKeptBytes(pp::LayerOp layer, nn::DerivativeOp derivative,
                     nn::FunctionOp forward, pp::RematPolicy policy);

/// The bytes of what enters \p layer from others.
int64_t getInputBytes(pp::LayerOp layer);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_FUNCTIONCOST_H
