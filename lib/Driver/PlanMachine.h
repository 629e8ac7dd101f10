//===- PlanMachine.h - What a step meets beside its stages ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DRIVER_PLANMACHINE_H
#define PIPEWRIGHT_LIB_DRIVER_PLANMACHINE_H

#include "pipewright/Cost/Device.h"
#include "pipewright/Cost/Profile.h"
#include "pipewright/Cost/Topology.h"
#include "pipewright/Driver/BuildOptions.h"
#include "pipewright/Plan/PlanLayer.h"
#include "pipewright/Schedule/Simulator.h"

namespace pipewright {

/// Messages, updates and peaks, as far as device, topology and profile tell.
class PlanMachine {
public:
  /// Reads the files that \p options name, but for the profile.
  static llvm::Expected<PlanMachine>
  read(const BuildOptions &options, const std::optional<Profile> &profile);

  /// The machine of a step with \p schedule, without the costs of its stages;
  /// in seconds and bytes. With a topology, ranks take the devices that suit
  /// equal stages of \p layers; \p options are those of addTopology.
  llvm::Expected<CostModel> makeCosts(const BuildOptions &options,
                                      const Schedule &schedule,
                                      llvm::ArrayRef<PlanLayer> layers) const;
  /// How long a rank updates for each byte that it holds of parameters and of
  /// what is kept for their update: \p copies tensors of a parameter's size.
  double getUpdateSecondsPerByte(int64_t copies) const;
  /// How long \p replicas of a rank take, for each such byte, to add up their
  /// gradients in a ring: each sends and receives 2 (n - 1) / n of them, on the
  /// link from the first device of a pipeline of \p ranks to that of the next;
  /// and, whatever the bytes, the latency of 2 (n - 1) messages.
  double getReduceSecondsPerByte(int64_t copies, int64_t replicas,
                                 int64_t ranks) const;
  double getReduceLatency(int64_t replicas, int64_t ranks) const;
  /// How long two ranks that hold the same parameters take, for each such byte,
  /// to send gradients and get their sums back.
  double getExchangeSecondsPerByte(int64_t copies) const {
    return bandwidth > 0 ? 2 / (bandwidth * copies) : 0;
  }
  /// FLOP/s of all ranks.
  double getPeak(FloatKind kind, int64_t ranks) const {
    return device.flopsPerSecond[static_cast<size_t>(kind)] * ranks;
  }

private:
  /// Between replicas, as one rank has it.
  LinkClass getReduceLink(int64_t ranks) const;

  Device device;
  /// Of the profile's links.
  double latency = 0, bandwidth = 0;
  std::optional<Topology> topology;
  /// Of a parameter of four bytes, if it was measured.
  std::optional<double> measuredUpdate;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_DRIVER_PLANMACHINE_H
