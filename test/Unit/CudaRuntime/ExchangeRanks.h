//===- ExchangeRanks.h - Ranks that exchange rows ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks are threads with a device of the stand-in each, or one for all, on
// which the runtime's device works as in the executables of ranks.
//
//===----------------------------------------------------------------------===//

#ifndef CUDARUNTIME_EXCHANGERANKS_H
#define CUDARUNTIME_EXCHANGERANKS_H

#include "CudaDouble/Double.h"
#include "core/Device.h"
#include "core/Options.h"
#include "log/Trace.h"

#include <functional>

namespace pprt::cuda {

/// How many ranks there are and what connects them.
struct Ranks {
  uint32_t replicas = 2;
  uint32_t peers = 2; ///< in a group
  uint32_t ranks = 1; ///< of a pipeline; only the last one has experts
  TransportKind transport = TransportKind::Threads;
  bool cudaGraph = false;
  std::string traceFile = {};
  uint64_t seed = 0;
  cudadouble::SeededFault fault = {};

  uint32_t getCount() const { return ranks * replicas; }
};

/// Where things are in the arena of a rank, and what the runtime is told of
/// it. There are two micro-batches.
class ExchangeModel {
public:
  static constexpr uint32_t microbatches = 2;
  /// Of a block, and of a gradient.
  static constexpr uint32_t numbers = 5;

  ExchangeModel(const Ranks &ranks, uint32_t rank);
  ExchangeModel(const ExchangeModel &) = delete;

  uint64_t own[microbatches], kept[microbatches], other;
  uint64_t sent[microbatches], received[microbatches];
  PprtDescriptor descriptor = {};
  enum Gradient { Whole, Shard };
  /// Of parameters that each replica has, and of those that it shares with
  /// others at its place.
  uint64_t ownGradients[2], gradients[2], keptSums[2];

private:
  PprtExchange exchange = {};
  PprtParameter parameters[2] = {};
  PprtTask tasks[6] = {};
};

class ExchangeRank {
public:
  ExchangeRank(const Ranks &ranks, const ExchangeModel &model,
               Transport &transport);

  /// Puts what is sent in step \p step onto the device.
  void load(int32_t step);
  /// Copies \p bytes as a task does.
  void copy(uint64_t to, uint64_t from, uint64_t bytes);
  /// Makes the blocks of a micro-batch and begins to exchange them.
  void send(uint32_t microbatch);
  /// Uses what was received; waits for it before, if \p waits.
  void keep(uint32_t microbatch, bool waits = true);
  /// Begins to add the gradients up, if the transport does that by itself.
  void sum();
  void keepSums();
  /// Does all of this.
  void runStep(int32_t step);
  /// Whether the results of that step are right.
  void expectResults(int32_t step);

  bool hasExperts() const { return model.descriptor.exchangeCount > 0; }
  uint64_t getBytes() const { return blockBytes * peers; }

  static constexpr uint64_t blockBytes =
      ExchangeModel::numbers * sizeof(int32_t);

  const ExchangeModel &model;
  Transport &transport;
  uint32_t replica, peers;
  RankOptions options;
  Progress progress;
  Trace trace;
  std::unique_ptr<Device> device;

private:
  std::vector<StartedMessage> exchanges[ExchangeModel::microbatches];
  std::vector<StartedMessage> sums;
};

/// Runs \p program on all ranks; returns what went wrong, and what was not
/// given back.
std::vector<std::string>
runRanks(const Ranks &ranks,
         const std::function<void(ExchangeRank &)> &program);

} // namespace pprt::cuda

#endif // CUDARUNTIME_EXCHANGERANKS_H
