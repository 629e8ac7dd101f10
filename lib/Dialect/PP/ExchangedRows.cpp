//===- ExchangedRows.cpp - What layers get from replicas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/ExchangedRows.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pipewright;

/// What \p layer uses of what replicas exchange, each once.
static llvm::SetVector<Value> findExchanged(pp::LayerOp layer) {
  llvm::SetVector<Value> values;
  for (Value argument : layer.getArguments())
    if (argument.getDefiningOp<pp::ExchangedOp>())
      values.insert(argument);
  return values;
}

int64_t pp::getExchangePicoseconds(LayerOp layer, bool ofGradients) {
  int64_t time = 0;
  for (Value value : findExchanged(layer))
    if (!ofGradients || isa<FloatType>(getElementTypeOrSelf(value)))
      time += value.getDefiningOp<ExchangedOp>().getPicoseconds();
  return time;
}

int64_t pp::getExchangedBytes(LayerOp layer) {
  int64_t bytes = 0;
  for (Value value : findExchanged(layer))
    bytes += getBytes(value.getType());
  return bytes;
}
