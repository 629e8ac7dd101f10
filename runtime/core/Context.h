//===- Context.h - All that a running rank has ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_CONTEXT_H
#define PPRT_CORE_CONTEXT_H

#include "Arena.h"
#include "FuzzDelay.h"
#include "Options.h"
#include "data/OutputWriter.h"
#include "launch/Progress.h"
#include "launch/Transport.h"
#include "log/Trace.h"
#include "pprt/Data.h"
#include "pprt/Descriptor.h"

#include <memory>
#include <vector>

namespace pprt {

/// What a slot of a buffer holds.
struct Slot {
  int64_t microbatch = -1; ///< whose data; -1: none of this step
  Transport::Request pendingSend = Transport::noRequest;
  Transport::Request pendingRecv = Transport::noRequest;
  uint32_t channel = 0; ///< that the pending receive is of
};

/// What a task does beyond computing.
struct TaskEffects {
  bool makesLoss = false;
  std::vector<uint32_t> outputs; ///< of the descriptor, made by this task
};

/// A parameter's part of the gradient norm.
struct NormPart {
  uint64_t order; ///< of the parameter in the model
  double squares;
};

/// What a step found out; the same on all ranks but for the loss, which is
/// valid where the loss is made, and after an update everywhere.
struct StepResult {
  double lossSum = 0;
  double lossWeight = 0;
  double gradientNorm = 0;
  double learningRate = 0;
  float lossScale = 1;      ///< with which the gradients were made
  bool lowersScale = false; ///< because the gradients overflow
  bool skipped = false;     ///< the parameters are those of the step before

  double getLoss() const { return lossSum / lossWeight; }
};

} // namespace pprt

/// The type that compiled code passes through.
struct PprtContext {
  PprtContext(const PprtDescriptor &descriptor,
              const pprt::RankOptions &options, pprt::Transport &transport,
              pprt::Progress &progress);

  /// Forgets the last step's data and zeroes the gradients.
  void beginStep(int64_t number);
  /// Waits until all messages have arrived.
  void finishMessages();

  uint32_t getSlot(const PprtBuffer &buffer, uint32_t microbatch) const {
    return eval ? 0 : buffer.slotOf[microbatch];
  }
  uint8_t *getSlotData(const PprtBuffer &buffer, uint32_t slot) const {
    return arena.at(buffer.offset + slot * buffer.stride);
  }
  /// Waits for the send, if any, that still reads the slot.
  void finishSend(const PprtBuffer &buffer, pprt::Slot &slot);
  /// Waits for the receive, if any, that still fills the slot.
  void finishRecv(pprt::Slot &slot);
  /// Has this rank the loss, once the losses of both directions are there?
  bool ownsLoss() const {
    return lossSum && descriptor.rank == descriptor.lossRank;
  }

  const PprtDescriptor &descriptor;
  const pprt::RankOptions &options;
  pprt::Transport &transport;
  pprt::Progress &progress;
  pprt::Arena arena;
  pprt::Trace trace;
  pprt::FuzzDelay delay;
  std::unique_ptr<pprt::Dataset> dataset;
  std::unique_ptr<pprt::OutputWriter> outputs; ///< null: not saved

  bool eval;
  int64_t step = 0;    ///< from 1
  int64_t updates = 0; ///< of the parameters: steps without the skipped ones
  uint64_t stepSeed = 0;
  pprt::LossScale lossScale;
  std::vector<std::vector<pprt::Slot>> slots; ///< per buffer
  std::vector<pprt::TaskEffects> effects;     ///< per task
  std::vector<void *> pointers;               ///< of the task that runs
  std::vector<double> lossSums, lossWeights;  ///< per micro-batch
  const PprtBuffer *lossSum = nullptr;        ///< null: on another rank
  const PprtBuffer *lossWeight = nullptr;
  std::vector<pprt::NormPart> normParts; ///< kept for its memory
  pprt::StepResult result;

private:
  void findEffects();
  void writeLossScale();
};

#endif // PPRT_CORE_CONTEXT_H
