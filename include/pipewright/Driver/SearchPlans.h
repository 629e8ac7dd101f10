//===- SearchPlans.h - Which split and schedule is fastest ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every way to share the ranks between pipelines and their replicas, every size
// of micro-batches that divides the batch, and every registered schedule with
// each usual number of chunks is simulated with the layers cut and recomputed
// as they fit into memory. The fastest are searched closer (Plan/CutSearch.h)
// and then planned as a build plans them, to the byte.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_SEARCHPLANS_H
#define PIPEWRIGHT_DRIVER_SEARCHPLANS_H

#include "pipewright/Driver/Compiler.h"
#include "pipewright/Plan/StepLosses.h"

#include <vector>

namespace pipewright {

/// What a search may choose, and what it must keep to.
struct PlanRequest {
  /// The options that are given: the model, ranks of all replicas together,
  /// global batch, device. A micro-batch size or a number of chunks that is
  /// given is kept.
  BuildOptions options;
  bool keepsSchedule = false, keepsRemat = false;
  /// Copies of the pipeline that share the batch; 0: any number.
  int64_t replicas = 1;
  /// How many plans are wanted.
  size_t count = 5;
};

/// A plan as a build of the same options would have it.
struct PlanCandidate {
  /// What `build` takes for one of the replicas.
  BuildOptions options;
  int64_t replicas = 1;
  /// The cut and what it costs.
  JudgedCut cut;
  /// A step, in seconds, and the part of the ranks' time in which they wait.
  double stepSeconds = 0, bubbleRatio = 0;
  /// Of a step of all replicas.
  int64_t samples = 0, tokens = 0;
  /// FLOPs of the model itself over what the devices' peak would do in a step.
  double flopsUse = 0;
  /// Of the rank that needs most.
  int64_t peakBytes = 0;
  /// Whether that is what a build allocates, to the byte. Large plans are
  /// estimated from their layers.
  bool isPlanned = false;
  StepLosses losses;
  /// The stage that computes longest, its rank, and its layers.
  int64_t slowestStage = 0, slowestRank = 0;
  std::vector<std::string> slowestLayers;

  double getSamplesPerSecond() const { return samples / stepSeconds; }
  double getTokensPerSecond() const { return tokens / stepSeconds; }
  /// "none", "selective" or "full" if all layers agree, and "mixed".
  std::string describeRemat() const;
};

/// One thing that could be different, and what that would bring.
struct PlanChange {
  std::string what;
  /// Part of the time for a sample that it saves.
  double gain = 0;
};

struct PlanSearch {
  /// Those that fit, the fastest first.
  std::vector<PlanCandidate> plans;
  /// The one that needs least memory of those that do not fit.
  std::optional<PlanCandidate> smallest;
  /// How many combinations were simulated, and how many of them planned.
  size_t simulated = 0, planned = 0;
  /// The model on one rank, and on all ranks as replicas without a pipeline,
  /// with the micro-batch of the first plan.
  std::optional<PlanCandidate> single, parallel;
  /// Changes to the first plan, the best first.
  std::vector<PlanChange> changes;
};

/// Fails, with diagnostics, if the model is refused or no combination can be
/// built.
mlir::FailureOr<PlanSearch> searchPlans(const PlanRequest &request,
                                        mlir::MLIRContext &context,
                                        PhaseListener listener);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_SEARCHPLANS_H
