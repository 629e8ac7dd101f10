//===- LayerTable.h - The layers of a model, as a table ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_LAYERTABLE_H
#define PIPEWRIGHT_COST_LAYERTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace pipewright {

/// One layer; FLOPs, bytes and seconds are those of one micro-batch.
struct LayerRow {
  std::string name;
  int64_t ops = 0;
  /// Elements of its parameters; those of a tied one in each of its layers.
  int64_t parameters = 0;
  int64_t flopsForward = 0;
  int64_t flopsBackwardInput = 0;
  int64_t flopsBackwardWeight = 0;
  int64_t activationBytes = 0;
  /// Kept for backward by the policies of recomputation: none, selective, full.
  int64_t residualBytes = 0;
  int64_t residualBytesSelective = 0;
  int64_t residualBytesFull = 0;
  double secondsForward = 0;
  double secondsBackwardInput = 0;
  double secondsBackwardWeight = 0;
  /// Of the policy selective; full takes secondsForward.
  double secondsRecomputeSelective = 0;
  /// "formula" or "measured"; empty: not priced.
  std::string costSource;
};

struct LayerTable {
  /// Elements of all parameters, each counted once.
  int64_t parameters = 0;
  std::vector<LayerRow> layers;
};

/// The layers of \p module, which `--pp-annotate-costs` has priced: the costs
/// of a layer that it has not are 0.
LayerTable makeLayerTable(mlir::ModuleOp module);

/// The table with the keys of `pipewright inspect --json`: "parameters" and
/// "layers".
llvm::json::Object toJSON(const LayerTable &table);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_LAYERTABLE_H
