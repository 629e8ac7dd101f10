//===- AttentionScores.h - From a product to a softmax ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_ATTENTIONSCORES_H
#define PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_ATTENTIONSCORES_H

#include "pipewright/Import/NNBuilder.h"

namespace pipewright {

/// What lies between the product Q K^T and the softmax of an attention: a
/// scale, perhaps a soft cap, then masks. Matching changes nothing.
struct AttentionScores {
  /// Takes \p value, the operand of a softmax along its last axis, apart. On
  /// failure \p why says what stands in the way.
  static mlir::FailureOr<AttentionScores> match(mlir::Value value,
                                                llvm::StringRef &why);

  /// The sum of all masks but the causal one, with the rank of the scores and
  /// size 1 where it is repeated; null if there is none.
  mlir::Value buildMask(mlir::OpBuilder &builder, mlir::Location loc) const;

  nn::MatMulOp product;
  double scale = 1;
  /// What bounds the scaled products: softcap tanh(x / softcap).
  std::optional<double> softcap;
  /// Whether queries see no later keys.
  bool causal = false;
  /// The shape of the scores where they have most axes: [batch..., heads,
  /// queries, keys].
  llvm::SmallVector<int64_t> shape;

private:
  bool skipScale(mlir::Value &value);
  bool skipCap(nn::TanhOp op, mlir::Value &value);
  bool skipSum(nn::AddOp op, mlir::Value &value);
  bool skipSelection(nn::SelectOp op, mlir::Value &value);
  bool meet(llvm::ArrayRef<int64_t> masked);

  /// What is added to the scores: an addend, or a choice between 0 and a number
  /// that is lower than any score.
  struct Mask {
    mlir::Value addend;
    mlir::Value condition;
    llvm::ArrayRef<int64_t> shape; ///< in which it meets the scores
    double onTrue = 0;
    double onFalse = 0;
  };
  mlir::Type getMaskType() const;
  mlir::Value build(const Mask &mask, mlir::OpBuilder &builder,
                    mlir::Location loc) const;

  llvm::SmallVector<Mask, 2> masks;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_ATTENTIONSCORES_H
