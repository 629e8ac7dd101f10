//===- FusedAttention.h - Attention of ONNX Runtime's fusions ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What com.microsoft's Attention and MultiHeadAttention have in common: masks
// as integers, and heads with those of the past.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_FUSEDATTENTION_H
#define PIPEWRIGHT_LIB_IMPORT_FUSEDATTENTION_H

#include "AttentionHeads.h"

namespace pipewright {

/// [batch, length, all heads]; keys and values may have [batch, heads, length,
/// size of a head].
struct Projections {
  mlir::Value query, key, value;
};

/// Which operands of a node say what; a past may be null.
struct FusedOperands {
  unsigned mask; ///< the number of the operand that hides padding
  unsigned bias; ///< the number of the operand that is added to scores
  mlir::Value pastKey, pastValue;
};

/// Fails if the node decodes in place: in buffers that are larger than what
/// they hold, which \p operands, if given, tell.
mlir::LogicalResult
checkIsUnshared(OnnxNode &node,
                llvm::ArrayRef<std::pair<unsigned, llvm::StringRef>> operands);

/// Results: the heads, and the steps to their attention.
mlir::FailureOr<std::pair<AttentionHeads, AttentionSteps>>
attend(OnnxNode &node, const Projections &projections,
       const FusedOperands &operands);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_FUSEDATTENTION_H
