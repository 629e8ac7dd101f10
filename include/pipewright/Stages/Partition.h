//===- Partition.h - Cut a row of layers into stages ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact: the smallest maximum by bisection (Pinar and Aykanat, JPDC 64, 2004),
// the best cut within it by dynamic programming. 100,000 layers on 512 stages
// take up to 20 ms, and 10 s where one layer outweighs all stages, so that
// any cut of the others will do. Includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_STAGES_PARTITION_H
#define PIPEWRIGHT_STAGES_PARTITION_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace pipewright {

struct PartitionProblem {
  /// What each layer weighs, in any unit; not negative.
  llvm::SmallVector<int64_t> weights;
  /// Bytes that cross if a stage begins at the layer; of the first one unused.
  /// May be empty: then nothing crosses anywhere.
  llvm::SmallVector<int64_t> bytesBefore;
  /// Layers at which a stage must begin, ascending. The first layer is implied.
  llvm::SmallVector<size_t> starts;
  size_t stages = 1;
};

/// The first layer of each stage of the best cut: no stage is empty, the
/// heaviest stage is as light as possible; among those the sum of squared
/// stage weights is smallest, and among those the bytes that cross. Those are
/// not looked at where there are more than 2^26 stages to choose from.
///
/// Fails if there are more stages than layers, or more starts than stages.
llvm::Expected<llvm::SmallVector<size_t>>
partitionLayers(const PartitionProblem &problem);

} // namespace pipewright

#endif // PIPEWRIGHT_STAGES_PARTITION_H
