//===- Context.cpp - All that a running rank has --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Random.h"
#include "launch/Collectives.h"

#include <algorithm>
#include <cstring>

using namespace pprt;

PprtContext::PprtContext(const PprtDescriptor &descriptor,
                         const RankOptions &options, Transport &transport,
                         Progress &progress)
    : descriptor(descriptor), options(options), transport(transport),
      progress(progress), delay(options.fuzzSeed, descriptor.rank),
      eval(options.eval || descriptor.forwardOnly),
      lossScale(options.lossScale) {
  for (uint32_t i = 0; i < descriptor.bufferCount; ++i) {
    const PprtBuffer &buffer = descriptor.buffers[i];
    holders.emplace_back(buffer.slots);
    if (buffer.kind == PPRT_BUFFER_LOSS_SUM)
      lossSum = &buffer;
    if (buffer.kind == PPRT_BUFFER_LOSS_WEIGHT)
      lossWeight = &buffer;
  }
  lossSums.resize(descriptor.microbatches);
  lossWeights.resize(descriptor.microbatches);
  findEffects();
}

static bool isBoundTo(const PprtTask &task, uint32_t buffer) {
  return std::any_of(task.bindings, task.bindings + task.bindingCount,
                     [=](const PprtBinding &binding) {
                       return binding.kind == PPRT_BIND_BUFFER &&
                              binding.index == buffer;
                     });
}

void PprtContext::findEffects() {
  effects.resize(descriptor.taskCount);
  std::vector<bool> found(descriptor.outputCount);
  uint32_t mostBindings = 0;
  for (uint32_t i = 0; i < descriptor.taskCount; ++i) {
    const PprtTask &task = descriptor.tasks[i];
    mostBindings = std::max(mostBindings, task.bindingCount);
    if (task.role != PPRT_ROLE_F)
      continue;
    effects[i].makesLoss =
        lossSum && isBoundTo(task, lossSum - descriptor.buffers);
    for (uint32_t output = 0; output < descriptor.outputCount; ++output) {
      uint32_t buffer = descriptor.outputs[output].buffer;
      if (buffer == UINT32_MAX || found[output] || !isBoundTo(task, buffer))
        continue;
      found[output] = true;
      effects[i].outputs.push_back(output);
    }
  }
  pointers.resize(mostBindings);
}

/// Writes \p value as the float that has \p bytes.
static void writeReal(uint8_t *data, uint64_t bytes, float value) {
  double wide = value;
  if (bytes == sizeof wide)
    memcpy(data, &wide, sizeof wide);
  else
    memcpy(data, &value, sizeof value);
}

/// For the backward tasks that begin with the loss, if they run here.
void PprtContext::writeLossScale() {
  result.lossScale = lossScale.get();
  for (uint32_t i = 0; i < descriptor.bufferCount; ++i)
    if (descriptor.buffers[i].kind == PPRT_BUFFER_LOSS_SCALE)
      writeReal(arena.at(descriptor.buffers[i].offsets[0]),
                descriptor.buffers[i].bytes, result.lossScale);
}

void PprtContext::beginStep(int64_t number) {
  step = number;
  progress.beginStep(number);
  stepSeed = mix(options.data.seed, number);
  result = StepResult();
  for (std::vector<int64_t> &buffer : holders)
    std::fill(buffer.begin(), buffer.end(), -1);
  if (eval)
    return;
  writeLossScale();
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    for (uint32_t j = 0; j < parameter.contributionCount; ++j)
      if (parameter.contributions[j].rank == descriptor.rank)
        memset(arena.at(parameter.contributions[j].offset), 0,
               parameter.tensor.bytes);
  }
}

void PprtContext::startMessage(Activity activity, uint32_t index,
                               uint32_t microbatch) {
  const PprtChannel &channel = descriptor.channels[index];
  const PprtBuffer &buffer = descriptor.buffers[channel.buffer];
  uint64_t offset = getOffset(buffer, microbatch);
  uint32_t tag =
      FirstChannelTag + channel.id * descriptor.microbatches + microbatch;
  Transport::Request request =
      activity == Activity::Send
          ? transport.startSend(channel.target, tag, arena.at(offset),
                                buffer.bytes)
          : transport.startRecv(channel.source, tag, arena.at(offset),
                                buffer.bytes);
  pendingMessages.push_back(
      {activity, index, microbatch, offset, buffer.bytes, request});
}

void PprtContext::finish(const PendingMessage &message) {
  progress.begin(message.activity, message.channel, message.microbatch);
  if (message.activity == Activity::Send) {
    transport.wait(message.request);
    return;
  }
  TraceScope scope(trace, Activity::Recv, message.channel, message.microbatch);
  transport.wait(message.request);
}

void PprtContext::finishMessages() {
  for (const PendingMessage &message : pendingMessages)
    finish(message);
  pendingMessages.clear();
}

bool PprtContext::claim(uint32_t index, uint32_t microbatch) {
  const PprtBuffer &buffer = descriptor.buffers[index];
  int64_t &holder = holders[index][getSlot(buffer, microbatch)];
  bool isNew = holder != microbatch;
  holder = microbatch;
  uint64_t begin = getOffset(buffer, microbatch);
  uint64_t end = begin + buffer.bytes;
  // That never blocks for ever: the program is proved to come to its end even
  // if each message waits for its other end at once.
  for (size_t i = 0; i < pendingMessages.size();) {
    const PendingMessage &message = pendingMessages[i];
    bool meets = message.offset < end && begin < message.offset + message.bytes;
    // Its own value may be read while it is being sent.
    if (!meets || (!isNew && message.activity == Activity::Send)) {
      ++i;
      continue;
    }
    finish(message);
    pendingMessages.erase(pendingMessages.begin() + i);
  }
  return isNew;
}
