//===- PlanSummary.h - What a finished plan says about itself -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Read once from the IR, for the manifest, the report and the tables on the
// terminal, which therefore agree.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_PLANSUMMARY_H
#define PIPEWRIGHT_PACKAGE_PLANSUMMARY_H

#include "pipewright/Program/MemoryPeak.h"

#include "mlir/IR/BuiltinOps.h"
#include <cstdint>
#include <string>
#include <vector>

namespace pipewright {

struct TensorSummary {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

/// The tensor is the whole one.
struct ParameterSummary : TensorSummary {
  bool trainable = false;
  /// Equal parts along its first axis, of which a rank has one.
  int64_t shards = 1;
  /// What it is called where it comes from; empty: as here.
  std::string originalName;

  int64_t getRankBytes() const { return bytes / shards; }
};

/// Costs are those of one micro-batch, in seconds.
struct StageSummary {
  int64_t index = 0, direction = 0, rank = 0, chunk = 0;
  std::vector<std::string> layers;
  std::vector<ParameterSummary> parameters;
  double secondsForward = 0, secondsBackwardInput = 0,
         secondsBackwardWeight = 0, secondsRecompute = 0;
  /// "formula" or "measured"; empty: not priced.
  std::string costSource;
};

struct InputSummary : TensorSummary {
  /// Axis along which micro-batches are cut; -1: replicated.
  int64_t axis = -1;
  int64_t labelClasses = 0, ignoreIndex = 0, indexLimit = 0;
  /// The pipeline ranks that read it.
  std::vector<int64_t> ranks;
};

struct OutputSummary : TensorSummary {
  /// Axis along which micro-batches follow each other.
  int64_t axis = 0;
};

/// What one stage sends to another, once for each micro-batch.
struct MessageSummary : TensorSummary {
  /// "activation" or "gradient".
  std::string kind;
  /// Of stages, and the direction that they belong to.
  int64_t source = 0, target = 0, direction = 0;
};

/// Bytes of a rank's arena by what they are for when it holds most: parameters,
/// gradients, optimizer state, activations and workspace add up to `arena`.
struct MemorySummary {
  int64_t arena = 0, parameters = 0, gradients = 0, optimizer = 0,
          activations = 0, workspace = 0;
  /// Of the activations: values kept for the backward, messages, what the model
  /// reads and makes, and what lies unused between other things.
  int64_t saved = 0, channels = 0, boundary = 0, gaps = 0;
  MemoryPeak peak;
};

struct PlanSummary {
  std::string model;
  std::string schedule;
  /// Of each of the replicas.
  int64_t ranks = 0, microbatches = 0, chunks = 1;
  int64_t replicas = 1;
  /// Replicas in a group, of which each has a part of all experts.
  int64_t peers = 1;
  /// Samples in a micro-batch; 1 if no input is cut.
  int64_t microbatchSize = 1;
  bool forwardOnly = false;
  /// The ranks that make the losses of the first and of the second half of the
  /// micro-batches.
  int64_t lossRank = 0, secondLossRank = 0;
  std::string optimizer;
  std::vector<StageSummary> stages;
  std::vector<InputSummary> inputs;
  std::vector<OutputSummary> outputs;
  std::vector<MessageSummary> messages;
  std::vector<MemorySummary> memory; // Per rank.
};

/// Requires the phase Program.
PlanSummary summarizePlan(mlir::ModuleOp module);

/// "1.5 KiB", "12.0 MiB", ….
std::string formatBytes(int64_t bytes);

/// "1.20 s", "3.40 ms", ….
std::string formatSeconds(double seconds);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_PLANSUMMARY_H
