//===- Cut.h - Cut layers for links, memory and unequal ranks ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The smallest maximum over the stages, exactly, by dynamic programming over
// all places of a cut; each stage recomputes as little as fits. 1,000 layers on
// 64 stages take a fraction of a second; where layers times stages are more
// than 1,024, and layers are not alike, only some of the very many ways to
// recompute are tried. Stages keep their order: to choose that of unequal ranks
// as well is NP-complete (Pinar, Tabak and Aykanat, JPDC 68, 2008). Cuts by
// weights alone are those of Stages/Partition.h. Includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PLAN_CUT_H
#define PIPEWRIGHT_PLAN_CUT_H

#include "pipewright/Plan/RematChooser.h"

#include <limits>

namespace pipewright {

/// Where a stage runs.
struct StageSlot {
  /// Multiplies the times of its layers.
  double slowness = 1;
  InFlight inFlight;
  /// Bytes for its parameters and for what it keeps.
  int64_t memory = std::numeric_limits<int64_t>::max();
  /// Of what crosses from the stage before: picoseconds for a message, and for
  /// each of its bytes.
  double linkLatency = 0, linkTimePerByte = 0;
};

/// What a stage's links add to its time: messages move while it computes, so
/// that the slower of both counts, or while it waits for them.
enum class LinkUse { Overlapped, Serial };

struct CutProblem {
  llvm::ArrayRef<PlanLayer> layers;
  /// One per stage.
  std::vector<StageSlot> slots;
  LinkUse linkUse = LinkUse::Overlapped;
  RematSet remats;
};

struct Cut {
  /// The first layer of each stage.
  std::vector<size_t> begins;
  /// Of each layer.
  std::vector<Remat> remats;
  /// Of the slowest stage, in picoseconds.
  int64_t slowest = 0;
};

/// The cut whose slowest stage is fastest; among those the one with the
/// smallest sum of squared times. Nothing if none fits, or there are more
/// stages than layers.
std::optional<Cut> cutLayers(const CutProblem &problem);

} // namespace pipewright

#endif // PIPEWRIGHT_PLAN_CUT_H
