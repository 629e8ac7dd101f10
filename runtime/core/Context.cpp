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
                         const RankOptions &options, Transport &all,
                         Progress &progress)
    : descriptor(descriptor), options(options), groups(descriptor, all),
      progress(progress), delay(options.fuzzSeed, all.getRank()),
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
  for (std::vector<double> *losses : {&lossSums, &lossWeights})
    losses->resize(descriptor.microbatches);
  for (std::vector<uint64_t> *bits : {&lossSumBits, &lossWeightBits})
    bits->resize(descriptor.microbatches);
  findEffects();
  progress.setFirstRank(groups.getPeer(0));
  device = createDevice({descriptor, options, all, progress, trace});
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
  for (uint32_t i = 0; i < descriptor.bufferCount; ++i) {
    const PprtBuffer &buffer = descriptor.buffers[i];
    if (buffer.kind != PPRT_BUFFER_LOSS_SCALE)
      continue;
    void *data = device->at(buffer.offsets[0]);
    writeReal(device->stage(data, buffer.bytes), buffer.bytes,
              result.lossScale);
    device->commitStage(data, buffer.bytes);
  }
}

void PprtContext::beginStep(int64_t number) {
  step = number;
  progress.beginStep(number);
  stepSeed = mix(options.data.seed, number);
  result = StepResult();
  for (std::vector<int64_t> &buffer : holders)
    std::fill(buffer.begin(), buffer.end(), -1);
  device->beginStep();
  if (eval)
    return;
  writeLossScale();
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    for (uint32_t j = 0; j < parameter.contributionCount; ++j)
      if (parameter.contributions[j].rank == descriptor.rank)
        device->zero(device->at(parameter.contributions[j].offset),
                     parameter.tensor.bytes);
  }
}

void PprtContext::startMessage(Activity activity, uint32_t index,
                               uint32_t microbatch) {
  const PprtChannel &channel = descriptor.channels[index];
  const PprtBuffer &buffer = descriptor.buffers[channel.buffer];
  bool sends = activity == Activity::Send;
  DeviceMessage message = {
      activity,
      index,
      microbatch,
      groups.getPeer(sends ? channel.target : channel.source),
      FirstChannelTag + channel.id * descriptor.microbatches + microbatch,
      getData(buffer, microbatch),
      buffer.bytes};
  pendingMessages.push_back(sends ? device->startSend(message)
                                  : device->startRecv(message));
}

void PprtContext::startExchange(uint32_t index, uint32_t microbatch) {
  const PprtExchange &exchange = descriptor.exchanges[index];
  BlockExchange blocks = {
      index,
      microbatch,
      FirstChannelTag + exchange.id * descriptor.microbatches + microbatch,
      groups.getPlace(),
      /*peers=*/{},
      getData(descriptor.buffers[exchange.sent], microbatch),
      getData(descriptor.buffers[exchange.received], microbatch),
      exchange.blockBytes};
  for (uint32_t place = 0; place < groups.getGroupSize(); ++place)
    blocks.peers.push_back(groups.getMember(place));
  for (const StartedMessage &started : device->startExchange(blocks))
    pendingMessages.push_back(started);
}

bool PprtContext::finish(const StartedMessage &started, Activity next,
                         uint32_t index) {
  const DeviceMessage &message = started.message;
  progress.begin(message.activity, message.channel, message.microbatch);
  if (next != Activity::Run)
    return device->waitBefore(started, next, index);
  device->wait(started);
  return true;
}

void PprtContext::finishMessages() {
  for (const StartedMessage &started : pendingMessages)
    finish(started, Activity::Run, /*index=*/0);
  pendingMessages.clear();
}

/// Does \p message use any of \p bytes at \p data?
static bool meets(const DeviceMessage &message, const uint8_t *data,
                  uint64_t bytes) {
  auto *begin = static_cast<const uint8_t *>(message.data);
  return begin < data + bytes && data < begin + message.bytes;
}

static bool isSend(const DeviceMessage &message) {
  return message.activity == Activity::Send ||
         message.activity == Activity::SendRows;
}

bool PprtContext::claim(uint32_t bufferIndex, uint32_t microbatch,
                        Activity next, uint32_t index) {
  const PprtBuffer &buffer = descriptor.buffers[bufferIndex];
  int64_t &holder = holders[bufferIndex][getSlot(buffer, microbatch)];
  bool isNew = holder != microbatch;
  holder = microbatch;
  const uint8_t *data = getData(buffer, microbatch);
  // That never blocks for ever: the program is proved to come to its end even
  // if each message waits for its other end at once.
  for (size_t i = 0; i < pendingMessages.size();) {
    const StartedMessage &started = pendingMessages[i];
    // Its own value may be read while it is being sent.
    bool isRead = !isNew && isSend(started.message);
    if (isRead || !meets(started.message, data, buffer.bytes) ||
        !finish(started, next, index)) {
      ++i;
      continue;
    }
    pendingMessages.erase(pendingMessages.begin() + i);
  }
  return isNew;
}

Reals PprtContext::getReals(const PprtParameter &parameter,
                            uint64_t offset) const {
  Reals reals = {device->at(offset), 0, parameter.tensor.dtype == PPRT_F64};
  reals.count = parameter.tensor.bytes / reals.getElementBytes();
  return reals;
}

Reals PprtContext::getGradient(uint32_t index) const {
  const PprtParameter &parameter = descriptor.parameters[index];
  return getReals(parameter, parameter.gradient);
}

/// The number in \p bits, which begin with a float of \p bytes.
static double readReal(const uint64_t &bits, uint64_t bytes) {
  double wide;
  float value;
  if (bytes == sizeof wide) {
    memcpy(&wide, &bits, sizeof wide);
    return wide;
  }
  memcpy(&value, &bits, sizeof value);
  return value;
}

void PprtContext::addLosses() {
  for (size_t i = 0; i < lossSums.size(); ++i) {
    result.lossSum += lossSums[i];
    result.lossWeight += lossWeights[i];
  }
}

void PprtContext::synchronize() {
  device->synchronize();
  if (!lossSum)
    return;
  for (uint32_t i = 0; i < descriptor.microbatches; ++i) {
    lossSums[i] = readReal(lossSumBits[i], lossSum->bytes);
    lossWeights[i] = readReal(lossWeightBits[i], lossWeight->bytes);
  }
}
