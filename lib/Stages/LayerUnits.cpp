//===- LayerUnits.cpp - What a stage may begin with
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/LayerUnits.h"

#include "pipewright/Dialect/PP/ExchangedRows.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace pipewright;

LayerUnits::LayerUnits(pp::ModelOp model, ArrayRef<size_t> starts)
    : layers(model.getBody().getOps<pp::LayerOp>()) {
  bool anyParameters = llvm::any_of(
      layers, [](pp::LayerOp layer) { return !layer.getParameters().empty(); });
  for (auto [index, layer] : llvm::enumerate(layers)) {
    // Replicas exchange rows within a stage.
    bool isUnit = (!anyParameters || !layer.getParameters().empty()) &&
                  pp::findExchanged(layer).empty();
    if (index == 0 || isUnit || llvm::is_contained(starts, index))
      begins.push_back(index);
  }
}

/// Each value crosses from the unit behind the layer that makes it up to that
/// of the last layer which uses it.
SmallVector<int64_t> LayerUnits::getBytesBefore() const {
  llvm::DenseMap<Operation *, size_t> unitOf;
  for (size_t unit = 0; unit < size(); ++unit)
    for (pp::LayerOp layer : (*this)[unit])
      unitOf[layer] = unit;
  SmallVector<int64_t> bytes(size(), 0);
  for (pp::LayerOp layer : layers)
    for (Value output : layer.getOutputs()) {
      size_t first = unitOf[layer], last = first;
      for (Operation *user : output.getUsers())
        if (auto unit = unitOf.find(user); unit != unitOf.end())
          last = std::max(last, unit->second);
      for (size_t unit = first + 1; unit <= last; ++unit)
        bytes[unit] += pp::getBytes(output.getType());
    }
  return bytes;
}
