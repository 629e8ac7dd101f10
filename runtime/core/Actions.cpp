//===- Actions.cpp - What compiled programs call --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Random.h"

#include <cstring>

using namespace pprt;

/// The key of a layer's random numbers: the same wherever the layer is.
static void makeKey(const PprtContext &context, int64_t layer,
                    uint32_t microbatch, uint8_t *data) {
  uint64_t key[2] = {context.stepSeed, mix(microbatch, layer)};
  memcpy(data, key, sizeof key);
}

/// Returns the memory of a buffer for a micro-batch, ready to be used by a
/// task.
static uint8_t *prepareBuffer(PprtContext &context, uint32_t index,
                              uint32_t microbatch) {
  const PprtBuffer &buffer = context.descriptor.buffers[index];
  uint8_t *data = context.getData(buffer, microbatch);
  bool isNew = context.claim(index, microbatch);
  bool isInput = buffer.kind == PPRT_BUFFER_INPUT;
  if (!isNew || (!isInput && buffer.kind != PPRT_BUFFER_RANDOM_KEY))
    return data;
  uint8_t *staged = context.device->stage(data, buffer.bytes);
  if (isInput)
    context.dataset->fill(buffer.index, context.step - 1,
                          context.getGlobal(microbatch), staged);
  else
    makeKey(context, buffer.index, context.getGlobal(microbatch), staged);
  context.device->commitStage(data, buffer.bytes);
  return data;
}

static void *resolve(PprtContext &context, const PprtBinding &binding,
                     uint32_t microbatch) {
  switch (binding.kind) {
  case PPRT_BIND_PARAMETER:
    return context.device->at(
        context.descriptor.parameters[binding.index].offset);
  case PPRT_BIND_BUFFER:
    return prepareBuffer(context, binding.index, microbatch);
  default:
    return context.device->at(binding.offset);
  }
}

/// Keeps what a task made for the outside, before the slot is used again.
static void keepResults(PprtContext &context, uint32_t task,
                        uint32_t microbatch) {
  const TaskEffects &effects = context.effects[task];
  Device &device = *context.device;
  if (effects.makesLoss) {
    device.readLater(&context.lossSumBits[microbatch],
                     context.getData(*context.lossSum, microbatch),
                     context.lossSum->bytes);
    device.readLater(&context.lossWeightBits[microbatch],
                     context.getData(*context.lossWeight, microbatch),
                     context.lossWeight->bytes);
  }
  if (context.options.saveOutputs.empty())
    return;
  bool joins = context.groups.getReplicas() > 1;
  for (uint32_t output : effects.outputs) {
    const PprtBuffer &buffer =
        context.descriptor.buffers[context.descriptor.outputs[output].buffer];
    const uint8_t *bytes =
        device.view(context.getData(buffer, microbatch), buffer.bytes);
    if (context.outputs)
      context.outputs->append(output, bytes);
    if (joins)
      context.keptOutputs.push_back({output, {bytes, bytes + buffer.bytes}});
  }
}

void pprtRun(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtTask &task = context->descriptor.tasks[index];
  for (uint32_t i = 0; i < task.bindingCount; ++i)
    context->pointers[i] = resolve(*context, task.bindings[i], microbatch);
  context->progress.begin(Activity::Run, index, microbatch);
  context->delay.wait();
  context->device->run(index, microbatch, context->pointers.data());
  keepResults(*context, index, microbatch);
}

void pprtSend(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtChannel &channel = context->descriptor.channels[index];
  // Two stages of one rank share the buffer.
  if (channel.source == channel.target)
    return;
  // What is only passed on may still be arriving.
  context->claim(channel.buffer, microbatch, Activity::Send, index);
  context->progress.begin(Activity::Send, index, microbatch);
  context->delay.wait();
  context->startMessage(Activity::Send, index, microbatch);
}

void pprtRecv(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtChannel &channel = context->descriptor.channels[index];
  if (channel.source == channel.target)
    return;
  context->claim(channel.buffer, microbatch, Activity::Recv, index);
  context->progress.begin(Activity::Recv, index, microbatch);
  context->delay.wait();
  // Computing goes on while it arrives: the task that uses it waits.
  context->startMessage(Activity::Recv, index, microbatch);
}

void pprtAllToAll(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtExchange &exchange = context->descriptor.exchanges[index];
  for (uint32_t buffer : {exchange.received, exchange.sent})
    context->claim(buffer, microbatch, Activity::SendRows, index);
  context->progress.begin(Activity::SendRows, index, microbatch);
  context->delay.wait();
  context->startExchange(index, microbatch);
}
