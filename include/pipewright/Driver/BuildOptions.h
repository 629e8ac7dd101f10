//===- BuildOptions.h - What a build is asked for -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_BUILDOPTIONS_H
#define PIPEWRIGHT_DRIVER_BUILDOPTIONS_H

#include "pipewright/Schedule/Placement.h"

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pipewright {

/// What the phases before Schedule have to know of the schedule and the model.
struct ScheduleNeeds {
  /// The rank of each stage, one list per direction. Empty: one direction, in
  /// loops over the ranks.
  Placement placement;
  /// Whether B and W are tasks of their own.
  bool splitsBackward = false;
  /// The policy of recomputation of each layer: none, selective or full; empty:
  /// that of `remat` for all.
  std::vector<std::string> layerRemats;
  /// Layers of each stage; empty: as balanced.
  std::vector<int64_t> stageSizes;
  /// The stages that the model itself asks for, by the names of its nodes.
  llvm::StringMap<int64_t> stageHints;
};

/// What the topology of a build says of its ranks; filled in by addTopology.
struct DeviceNeeds {
  /// Per kind of device, how many times longer layers take than their costs
  /// say.
  std::vector<double> kindFactors;
  /// Of each rank, its device. Empty: devices are all alike, and are given to
  /// the ranks once their messages are known.
  std::vector<int64_t> devices;
};

/// The options of `pipewright build`, under the names of the command line.
struct BuildOptions {
  /// `.onnx`, or `.mlir` as imported.
  std::string model;
  std::string output;
  bool force = false;

  /// 0: as many as the schedule has, or by default.
  int64_t ranks = 0;
  int64_t chunks = 0;
  int64_t microbatches = 0;
  /// Pipelines with the same ranks, each with its part of the samples.
  int64_t replicas = 1;
  /// Pipelines in a group, each with its part of all experts; divides
  /// `replicas`.
  int64_t peers = 1;
  /// Most rows that go from one of them to another, as a multiple of an even
  /// share; absent: no limit.
  std::optional<double> expertCapacity;
  /// Samples in a micro-batch; absent: as the model or `bind` says.
  std::optional<int64_t> microbatchSize;
  /// Samples in a step; absent: micro-batches of all replicas times their size.
  std::optional<int64_t> globalBatch;
  llvm::StringMap<int64_t> bind;
  bool allowExternalSymlinks = false;
  /// Weights that the file stores twice are two parameters.
  bool separateCopies = false;
  /// Inputs of the model that are parameters, and the file with their values,
  /// which all but a build can do without.
  std::string paramsFromInputs, weights;

  std::string loss;
  int64_t ignoreIndex = -100;
  std::string optimizer = "adamw";
  std::string train, freeze;
  bool forwardOnly = false;
  /// What is computed in: f32, bf16, f16; empty: as the model says.
  std::string precision;

  /// What layers are priced on: a device's name, or its file.
  std::string device = "cpu";
  /// A file of measured times, which come before those of the formula; empty:
  /// none.
  std::string profile;
  /// A file of times of layers, which come before the others; empty: none.
  std::string layerTimes;
  /// The machine that ranks run on: a topology's name, or its file; empty: all
  /// ranks and links are alike.
  std::string topology;
  DeviceNeeds devices;

  /// Empty: where the model itself asks for, or else `time`.
  std::string balance;
  std::vector<std::string> splitAt;
  /// Megatron's pipeline layout, in place of a balance.
  std::string layout;
  /// none, selective or full.
  std::string remat = "none";
  /// A name, or a file that holds a schedule.
  std::string schedule = "1f1b";
  /// Filled in by build, resolveSchedule and choosePlacement.
  ScheduleNeeds needs;
  /// Limit for the arena of a rank, in bytes; 0: none.
  int64_t memory = 0;

  std::string target = "cpu";
  /// The processor, by the target's own names.
  std::string processor = "native";
  /// Whether convolutions and pooling are calls of the target's library;
  /// absent: as it does best.
  std::optional<bool> libraryConvolutions;
  /// Whether attention is, where the library has it.
  bool libraryAttention = false;
  /// Where the IR after each phase goes; empty: nowhere.
  std::string emitIr;
};

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_BUILDOPTIONS_H
