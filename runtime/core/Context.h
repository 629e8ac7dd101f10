//===- Context.h - All that a running rank has ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_CONTEXT_H
#define PPRT_CORE_CONTEXT_H

#include "Device.h"
#include "FuzzDelay.h"
#include "Options.h"
#include "Replicas.h"
#include "data/OutputWriter.h"
#include "launch/Progress.h"
#include "launch/Transport.h"
#include "log/Trace.h"
#include "pprt/Data.h"
#include "pprt/Descriptor.h"

#include <memory>
#include <vector>

namespace pprt {

/// What a task does beyond computing.
struct TaskEffects {
  bool makesLoss = false;
  std::vector<uint32_t> outputs; ///< of the descriptor, made by this task
};

/// What a task made for the outside in a micro-batch, of several pipelines.
struct KeptOutput {
  uint32_t output; ///< of the descriptor
  std::vector<uint8_t> bytes;
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
              const pprt::RankOptions &options, pprt::Transport &all,
              pprt::Progress &progress);

  /// Forgets the last step's data and zeroes the gradients.
  void beginStep(int64_t number);
  /// Sends what a channel's buffer holds, or receives into it, while the rank
  /// goes on.
  void startMessage(pprt::Activity activity, uint32_t channel,
                    uint32_t microbatch);
  /// Exchanges blocks with the group, while the rank goes on.
  void startExchange(uint32_t exchange, uint32_t microbatch);
  /// Waits until all messages have arrived.
  void finishMessages();
  /// Readies a buffer's memory for a micro-batch: for a task, or only for what
  /// \p next and \p index say, a message or an exchange. If it holds another
  /// value, or lies where others do, waits for the messages that use the memory
  /// and returns true; else waits for what the buffer receives and returns
  /// false.
  bool claim(uint32_t buffer, uint32_t microbatch,
             pprt::Activity next = pprt::Activity::Run, uint32_t index = 0);
  /// Waits for the device, and reads the losses that it has made.
  void synchronize();
  /// Adds the micro-batches' losses in their order.
  void addLosses();

  uint32_t getSlot(const PprtBuffer &buffer, uint32_t microbatch) const {
    return eval ? buffer.evalSlot : buffer.slotOf[microbatch];
  }
  uint64_t getOffset(const PprtBuffer &buffer, uint32_t microbatch) const {
    return buffer.offsets[getSlot(buffer, microbatch)];
  }
  uint8_t *getData(const PprtBuffer &buffer, uint32_t microbatch) const {
    return device->at(getOffset(buffer, microbatch));
  }
  /// Has this rank the loss, once the losses of both directions and of all
  /// pipelines are there?
  bool ownsLoss() const { return lossSum && speaks(); }
  /// Is this the rank that tells the user of the run?
  bool speaks() const {
    return descriptor.rank == descriptor.lossRank && groups.getReplica() == 0;
  }
  /// The micro-batch of a step that is this pipeline's micro-batch
  /// \p microbatch.
  uint32_t getGlobal(uint32_t microbatch) const {
    return groups.getReplica() * descriptor.microbatches + microbatch;
  }
  /// The numbers at \p offset, as many as \p parameter has.
  pprt::Reals getReals(const PprtParameter &parameter, uint64_t offset) const;
  /// The sum that parameter \p index is updated with.
  pprt::Reals getGradient(uint32_t index) const;

  const PprtDescriptor &descriptor;
  const pprt::RankOptions &options;
  pprt::RankGroups groups;
  pprt::Progress &progress;
  pprt::Trace trace;
  std::unique_ptr<pprt::Device> device;
  pprt::FuzzDelay delay;
  std::unique_ptr<pprt::Dataset> dataset;
  std::unique_ptr<pprt::OutputWriter> outputs; ///< null: not written here
  std::vector<pprt::KeptOutput> keptOutputs;   ///< of this step

  bool eval;
  int64_t step = 0;    ///< from 1
  int64_t updates = 0; ///< of the parameters: steps without the skipped ones
  uint64_t stepSeed = 0;
  pprt::LossScale lossScale;
  /// Per buffer and slot, the micro-batch whose data it holds; -1: none of this
  /// step.
  std::vector<std::vector<int64_t>> holders;
  std::vector<pprt::StartedMessage> pendingMessages;
  std::vector<pprt::StartedMessage> startedReductions;
  std::vector<uint32_t> lateReductions; ///< parameters to reduce in the update
  std::vector<pprt::TaskEffects> effects; ///< per task
  std::vector<void *> pointers;           ///< of the task that runs
  /// Per micro-batch; of this step after `synchronize`. Where they are joined,
  /// those of all pipelines.
  std::vector<double> lossSums, lossWeights;
  /// Where the device puts these, as it has them.
  std::vector<uint64_t> lossSumBits, lossWeightBits;
  const PprtBuffer *lossSum = nullptr; ///< null: on another rank
  const PprtBuffer *lossWeight = nullptr;
  std::vector<pprt::NormPart> normParts; ///< kept for its memory
  pprt::StepResult result;

private:
  void findEffects();
  void writeLossScale();
  /// Waits as `claim` says; returns whether the message is over.
  bool finish(const pprt::StartedMessage &started, pprt::Activity next,
              uint32_t index);
};

#endif // PPRT_CORE_CONTEXT_H
