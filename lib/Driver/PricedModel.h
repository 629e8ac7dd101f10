//===- PricedModel.h - A model as a planner sees it -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_PRICEDMODEL_H
#define PIPEWRIGHT_LIB_DRIVER_PRICEDMODEL_H

#include "pipewright/Cost/Device.h"
#include "pipewright/Plan/PlanLayer.h"
#include "pipewright/Stages/LayerUnits.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pipewright {

/// The layers of \p units, which have costs, for Plan: one for each unit.
std::vector<PlanLayer> makePlanLayers(mlir::ModuleOp module,
                                      const LayerUnits &units);

/// FLOPs of F, B and W of all layers for one micro-batch.
int64_t countFlops(const LayerUnits &units);

/// The type of elements in which \p module does most of its arithmetic.
FloatKind getMainKind(mlir::ModuleOp module);

/// What a micro-batch is counted in, as the executables count it: elements of
/// the labels or, without any, of the first input of integers, or samples.
int64_t countTokens(mlir::ModuleOp module);

/// A model whose layers are priced, for one size of micro-batches.
struct PricedModel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  LayerUnits units;
  std::vector<PlanLayer> layers;
  int64_t copies, flops, tokens;
  FloatKind kind;

  explicit PricedModel(mlir::OwningOpRef<mlir::ModuleOp> read);
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_PRICEDMODEL_H
