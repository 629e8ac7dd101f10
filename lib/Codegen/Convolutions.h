//===- Convolutions.h - Convolutions among products -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_CONVOLUTIONS_H
#define PIPEWRIGHT_LIB_CODEGEN_CONVOLUTIONS_H

#include "pipewright/Codegen/Target.h"

#include "mlir/IR/PatternMatch.h"

namespace pipewright {

/// The convolution over one or two axes, or the gradient of one, that \p op
/// computes together with moves before and after it, if it does. \p product
/// describes the op itself. The call has tensors for operands and for its
/// result, which is the only use of the product; moves and casts of operands
/// that are not at hand are created before the op.
std::optional<ConvolutionCall> matchConvolution(nn::MatMulOp op,
                                                const MatMulCall &product,
                                                mlir::RewriterBase &rewriter);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_CONVOLUTIONS_H
