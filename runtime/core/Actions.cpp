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
  if (!context.claim(index, microbatch))
    return data;
  if (buffer.kind == PPRT_BUFFER_INPUT)
    context.dataset->fill(buffer.index, context.step - 1, microbatch, data);
  else if (buffer.kind == PPRT_BUFFER_RANDOM_KEY)
    makeKey(context, buffer.index, microbatch, data);
  return data;
}

static void *resolve(PprtContext &context, const PprtBinding &binding,
                     uint32_t microbatch) {
  switch (binding.kind) {
  case PPRT_BIND_PARAMETER:
    return context.arena.at(
        context.descriptor.parameters[binding.index].offset);
  case PPRT_BIND_BUFFER:
    return prepareBuffer(context, binding.index, microbatch);
  default:
    return context.arena.at(binding.offset);
  }
}

/// The one float in a buffer of losses.
static double readReal(const PprtContext &context, const PprtBuffer &buffer,
                       uint32_t microbatch) {
  const uint8_t *data = context.getData(buffer, microbatch);
  double wide;
  float value;
  if (buffer.bytes == sizeof wide) {
    memcpy(&wide, data, sizeof wide);
    return wide;
  }
  memcpy(&value, data, sizeof value);
  return value;
}

/// Keeps what a task made for the outside, before the slot is used again.
static void keepResults(PprtContext &context, uint32_t task,
                        uint32_t microbatch) {
  const TaskEffects &effects = context.effects[task];
  if (effects.makesLoss) {
    context.lossSums[microbatch] =
        readReal(context, *context.lossSum, microbatch);
    context.lossWeights[microbatch] =
        readReal(context, *context.lossWeight, microbatch);
  }
  if (!context.outputs)
    return;
  for (uint32_t output : effects.outputs) {
    const PprtBuffer &buffer =
        context.descriptor.buffers[context.descriptor.outputs[output].buffer];
    context.outputs->append(output, context.getData(buffer, microbatch));
  }
}

void pprtRun(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtTask &task = context->descriptor.tasks[index];
  for (uint32_t i = 0; i < task.bindingCount; ++i)
    context->pointers[i] = resolve(*context, task.bindings[i], microbatch);
  context->progress.begin(Activity::Run, index, microbatch);
  context->delay.wait();
  TraceScope scope(context->trace, Activity::Run, index, microbatch);
  task.function(context->pointers.data());
  keepResults(*context, index, microbatch);
}

void pprtSend(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtChannel &channel = context->descriptor.channels[index];
  // Two stages of one rank share the buffer.
  if (channel.source == channel.target)
    return;
  // What is only passed on may still be arriving.
  context->claim(channel.buffer, microbatch);
  context->progress.begin(Activity::Send, index, microbatch);
  context->delay.wait();
  TraceScope scope(context->trace, Activity::Send, index, microbatch);
  context->startMessage(Activity::Send, index, microbatch);
}

void pprtRecv(PprtContext *context, uint32_t index, uint32_t microbatch) {
  const PprtChannel &channel = context->descriptor.channels[index];
  if (channel.source == channel.target)
    return;
  context->claim(channel.buffer, microbatch);
  context->progress.begin(Activity::Recv, index, microbatch);
  context->delay.wait();
  // Computing goes on while it arrives: the task that uses it waits.
  context->startMessage(Activity::Recv, index, microbatch);
}
