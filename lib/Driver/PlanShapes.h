//===- PlanShapes.h - What a plan can look like -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_PLANSHAPES_H
#define PIPEWRIGHT_LIB_DRIVER_PLANSHAPES_H

#include "pipewright/Driver/SearchPlans.h"

namespace pipewright {

/// How ranks and samples are shared out.
struct PlanShape {
  /// Copies of the pipeline, and the ranks of each.
  int64_t replicas = 1, ranks = 1;
  int64_t microbatchSize = 1;
  /// Of one replica.
  int64_t microbatches = 1;
  std::string schedule;
  int64_t chunks = 1;
};

/// The sizes of micro-batches that \p request leaves: the given one, or those
/// that divide the batch of a replica and leave, where it is large enough, a
/// micro-batch for each of its ranks. Of many, the eight smallest. \p measured:
/// the only size that is known, or 0.
std::vector<int64_t> listMicrobatchSizes(const PlanRequest &request,
                                         int64_t measured);

/// The shapes that \p request leaves for micro-batches of \p microbatchSize and
/// a model that can be cut into \p units.
std::vector<PlanShape> listShapes(const PlanRequest &request,
                                  int64_t microbatchSize, int64_t units);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_PLANSHAPES_H
