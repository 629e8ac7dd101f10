//===- Profile.h - Measured times of a model's layers -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What `pipewright profile` writes and others read; docs/Devices.md tells the
// keys of the file. It includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_PROFILE_H
#define PIPEWRIGHT_COST_PROFILE_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pipewright {

/// A time that was measured several times.
struct Measurement {
  /// What one takes in a sum of many: the mean, as times have a tail that their
  /// median ignores. Those above longestPerMedian times the median are left
  /// out: then something else ran.
  double seconds = 0;
  /// The distance of the quartiles.
  double spread = 0;
  int64_t samples = 0;

  static constexpr double longestPerMedian = 3;
  /// Of at least one sample, in any order.
  static Measurement of(std::vector<double> samples);
};

/// One of the functions that layers of a model share, on one micro-batch.
struct MeasuredLayer {
  std::string function;
  /// As getLayerKey gives it.
  std::string key;
  /// The layers that run it, by name.
  std::vector<std::string> layers;
  Measurement forward;
  /// None where the layer has no such role; `recompute` is what the policy
  /// `selective` computes again.
  std::optional<Measurement> backwardInput, backwardWeight, recompute;
};

/// How long messages between two ranks take, as measured and as the line
/// `latencySeconds + bytes / bytesPerSecond` that fits best.
struct MeasuredLink {
  struct Point {
    int64_t bytes = 0;
    Measurement time;
  };

  /// The two that it joins, the smaller one first.
  std::vector<int64_t> ranks;
  double latencySeconds = 0;
  double bytesPerSecond = 0;
  std::vector<Point> points;
};

/// What a step does with parameters beside running layers: it zeroes their
/// gradients, takes the norm of these and updates.
struct MeasuredUpdate {
  /// "sgd", "adamw".
  std::string optimizer;
  /// Of f32, that were updated in the time.
  int64_t parameters = 1;
  Measurement time;

  double getSeconds(int64_t count) const {
    return time.seconds / parameters * count;
  }
};

struct Profile {
  std::string toolVersion, date;
  std::string model, modelSha256;
  /// As given on the command line; the shapes say what they led to.
  std::map<std::string, int64_t> bindings;
  std::map<std::string, std::vector<int64_t>> inputs;
  int64_t microbatchSize = 1;
  /// "f32", "bf16", "f16"; empty: as the model says.
  std::string precision;
  /// As given on the command line.
  std::string loss;
  bool forwardOnly = false;
  /// Processes that timed the layers at once.
  int64_t ranks = 1;
  /// The processor's own name, and what was compiled for.
  std::string device, target, targetCpu;
  std::vector<MeasuredLayer> layers;
  std::vector<MeasuredUpdate> updates;
  /// Of each rank that exchanged messages.
  std::vector<std::string> hosts;
  /// Of each pair of them.
  std::vector<MeasuredLink> links;

  /// For those who tell no pairs apart: the link of middle speed for large
  /// messages, or null if there is none.
  const MeasuredLink *getTypicalLink() const;
  /// The layer with \p key, or null.
  const MeasuredLayer *find(llvm::StringRef key) const;
};

llvm::json::Value toJSON(const Profile &profile);

/// Reads the file at \p path. The error names the file and the key that is
/// missing, unknown or wrong.
llvm::Expected<Profile> readProfile(llvm::StringRef path);

/// Fits latency and bandwidth of \p link to its points, of which there must be
/// at least two sizes: the line with the smallest sum of squares of relative
/// deviations, so that small messages count as much as large ones. A latency
/// below 0 is 0.
void fitLink(MeasuredLink &link);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_PROFILE_H
