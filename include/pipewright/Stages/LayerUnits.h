//===- LayerUnits.h - What a stage may begin with ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_STAGES_LAYERUNITS_H
#define PIPEWRIGHT_STAGES_LAYERUNITS_H

#include "pipewright/Dialect/PP/PP.h"

namespace pipewright {

/// The layers of a model in runs that are never cut apart: layers without
/// parameters (the loss) stay with the layer before them, unless no layer has
/// any.
class LayerUnits {
public:
  /// At the layers numbered \p starts begins a unit in any case.
  explicit LayerUnits(pp::ModelOp model, llvm::ArrayRef<size_t> starts = {});

  size_t size() const { return begins.size(); }
  llvm::ArrayRef<pp::LayerOp> getLayers() const { return layers; }
  /// The layers of the unit numbered \p unit.
  llvm::ArrayRef<pp::LayerOp> operator[](size_t unit) const {
    return getLayers().slice(begins[unit], getEnd(unit) - begins[unit]);
  }
  /// The number of its first layer, and of the one behind its last.
  size_t getBegin(size_t unit) const { return begins[unit]; }
  size_t getEnd(size_t unit) const {
    return unit + 1 < begins.size() ? begins[unit + 1] : layers.size();
  }

  /// The bytes of all values that earlier layers make and that layers of the
  /// unit or later ones use, for each unit.
  llvm::SmallVector<int64_t> getBytesBefore() const;

private:
  llvm::SmallVector<pp::LayerOp> layers;
  llvm::SmallVector<size_t> begins;
};

} // namespace pipewright

#endif // PIPEWRIGHT_STAGES_LAYERUNITS_H
