//===- Progress.h - What a rank is doing, for its monitor -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LAUNCH_PROGRESS_H
#define PPRT_LAUNCH_PROGRESS_H

#include "pprt/Descriptor.h"

#include <atomic>
#include <cstdint>
#include <string>

namespace pprt {

enum class Activity : uint8_t {
  Start,
  Run,      ///< index: task
  Send,     ///< index: channel
  Recv,     ///< index: channel
  SendRows, ///< index: exchange
  RecvRows, ///< index: exchange
  SumLoss,
  TiedGradient,    ///< index: parameter
  ReplicaGradient, ///< index: parameter
  ShardGradient,   ///< index: parameter
  GradientNorm,
  Update,
  Finish,
};

/// Nanoseconds of a clock that only goes forward.
int64_t getMonotonicTime();

/// Written by the rank's thread, read by its monitor's.
class Progress {
public:
  Progress() { begin(Activity::Start); }

  /// Where the rank's pipeline begins among all processes.
  void setFirstRank(uint32_t rank) { firstRank = rank; }

  void beginStep(int64_t number) { step.store(number); }
  void begin(Activity activity, uint32_t index = 0, uint32_t microbatch = 0) {
    // One word, so that the monitor never sees halves of two actions.
    action.store(uint64_t(activity) << 56 | uint64_t(index & 0xffffff) << 32 |
                 microbatch);
    since.store(getMonotonicTime());
  }

  int64_t getSince() const { return since.load(); }
  /// Such as "receiving 'a.0.0' from rank 0 (stage 1, micro-batch 3) in step
  /// 7".
  std::string describe(const PprtDescriptor &descriptor) const;

private:
  std::atomic<uint64_t> action;
  std::atomic<int64_t> since;
  uint32_t firstRank = 0;
  std::atomic<int64_t> step{0}; ///< from 1; 0 before the first
};

} // namespace pprt

#endif // PPRT_LAUNCH_PROGRESS_H
