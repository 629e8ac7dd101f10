//===- Recomputation.h - Saved values that are cheap to make again *- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The policy `selective` keeps what contractions make and computes the rest
// again: elementwise ops, norms, softmax, dropout masks, and the scores of
// attention, which are large and cheap for their size (Korthikanti et al.,
// "Reducing Activation Recomputation in Large Transformer Models",
// arXiv:2205.05198).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_RECOMPUTATION_H
#define PIPEWRIGHT_TRAINING_RECOMPUTATION_H

#include "pipewright/Dialect/NN/NN.h"

#include "llvm/ADT/DenseSet.h"

namespace pipewright {

/// How F's saved values are made again.
struct Recomputation {
  /// All saved values by number, those that `function` makes last.
  llvm::SmallVector<int64_t> order;
  /// In no module; null if nothing is worth making again. Its results are the
  /// last saved values in the new order.
  nn::FunctionOp function;
  /// What it takes: arguments of F, and saved values by their new number.
  llvm::SmallVector<nn::OperandAttr> operands;
};

/// Finds which of the saved values of \p forward, its results from number
/// \p results on, can be made again by cheap ops from its arguments and the
/// other ones. Arguments from \p firstParameter on are parameters; those in
/// \p keptArguments are kept for backward in any case: nothing is made again if
/// other arguments had to be kept for it that are no smaller.
///
/// The function has the ops of \p forward as they are, and no op of it may be
/// fused with another where that is not so in \p forward: it makes the same
/// bits.
Recomputation findRecomputation(nn::FunctionOp forward, unsigned results,
                                unsigned firstParameter,
                                const llvm::DenseSet<int64_t> &keptArguments);

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_RECOMPUTATION_H
