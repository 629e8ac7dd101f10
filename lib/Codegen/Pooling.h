//===- Pooling.h - Pooling among reductions ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_POOLING_H
#define PIPEWRIGHT_LIB_CODEGEN_POOLING_H

#include "pipewright/Codegen/Target.h"

#include "mlir/IR/PatternMatch.h"

namespace pipewright {

/// The pooling over one or two axes that \p op does together with moves before
/// and scaling after it, if it does. The call has tensors for operands and for
/// its result, whose type may have more digits.
std::optional<PoolingCall> matchPooling(nn::ReduceOp op);

/// The gradient of pooling that \p op is the end of, likewise. Casts of what is
/// read are created before the op.
std::optional<PoolingCall> matchPoolingGradient(nn::Col2ImOp op,
                                                mlir::RewriterBase &rewriter);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_POOLING_H
