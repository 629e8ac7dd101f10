//===- ExchangedRows.cpp - What layers get from replicas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/ExchangedRows.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pipewright;

SmallVector<pp::ExchangedOp> pp::findExchanged(LayerOp layer) {
  SmallVector<ExchangedOp> found;
  for (Value argument : layer.getArguments())
    if (auto exchanged = argument.getDefiningOp<ExchangedOp>())
      if (!llvm::is_contained(found, exchanged))
        found.push_back(exchanged);
  return found;
}

int64_t pp::getExchangePicoseconds(LayerOp layer, bool ofGradients) {
  int64_t time = 0;
  for (ExchangedOp exchanged : findExchanged(layer))
    if (!ofGradients || isa<FloatType>(exchanged.getType().getElementType()))
      time += exchanged.getPicoseconds();
  return time;
}

int64_t pp::getExchangedBytes(LayerOp layer) {
  int64_t bytes = 0;
  for (ExchangedOp exchanged : findExchanged(layer))
    bytes += getBytes(exchanged.getType());
  return bytes;
}
