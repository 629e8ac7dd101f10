//===- ExchangedRows.h - What layers get from replicas ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_EXCHANGEDROWS_H
#define PIPEWRIGHT_DIALECT_PP_EXCHANGEDROWS_H

#include "pipewright/Dialect/PP/PP.h"

namespace pipewright::pp {

/// What \p layer uses of what replicas exchange, each once.
llvm::SmallVector<ExchangedOp> findExchanged(LayerOp layer);

/// How long replicas exchange what \p layer uses, or the gradients of that,
/// which only floats have.
int64_t getExchangePicoseconds(LayerOp layer, bool ofGradients = false);

/// The bytes that \p layer gets so.
int64_t getExchangedBytes(LayerOp layer);

} // namespace pipewright::pp

#endif // PIPEWRIGHT_DIALECT_PP_EXCHANGEDROWS_H
