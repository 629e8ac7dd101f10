//===- Progress.cpp - What a rank is doing, for its monitor ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Progress.h"

#include <time.h>

using namespace pprt;

int64_t pprt::getMonotonicTime() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static std::string quote(const char *name) {
  return "'" + std::string(name) + "'";
}

static std::string formatPlace(uint32_t stage, uint32_t microbatch) {
  return " (stage " + std::to_string(stage) + ", micro-batch " +
         std::to_string(microbatch) + ")";
}

/// \p firstRank: of the pipeline whose ranks the descriptor counts.
static std::string describeActivity(Activity activity, uint32_t index,
                                    uint32_t microbatch,
                                    const PprtDescriptor &descriptor,
                                    uint32_t firstRank) {
  auto formatRank = [=](uint32_t rank) {
    return "rank " + std::to_string(firstRank + rank);
  };
  switch (activity) {
  case Activity::Start:
    return "starting";
  case Activity::Run: {
    const PprtTask &task = descriptor.tasks[index];
    return "running " + quote(task.name) + formatPlace(task.stage, microbatch);
  }
  case Activity::Send: {
    const PprtChannel &channel = descriptor.channels[index];
    return "sending " + quote(channel.name) + " to " +
           formatRank(channel.target) +
           formatPlace(channel.sourceStage, microbatch);
  }
  case Activity::Recv: {
    const PprtChannel &channel = descriptor.channels[index];
    return "receiving " + quote(channel.name) + " from " +
           formatRank(channel.source) +
           formatPlace(channel.targetStage, microbatch);
  }
  case Activity::SendRows:
  case Activity::RecvRows: {
    const PprtExchange &exchange = descriptor.exchanges[index];
    return "exchanging rows of " + quote(exchange.name) +
           " with other pipelines" + formatPlace(exchange.stage, microbatch);
  }
  case Activity::SumLoss:
    return "exchanging the loss with " + formatRank(descriptor.lossRank);
  case Activity::TiedGradient: {
    const PprtParameter &parameter = descriptor.parameters[index];
    return "summing the gradient of " + quote(parameter.tensor.name) +
           " with " + formatRank(parameter.owner);
  }
  case Activity::ReplicaGradient:
    return "summing the gradient of " +
           quote(descriptor.parameters[index].tensor.name) +
           " over all pipelines";
  case Activity::ShardGradient:
    return "summing the gradient of " +
           quote(descriptor.parameters[index].tensor.name) +
           " over the pipelines with this part of it";
  case Activity::GradientNorm:
    return "exchanging the gradient norm with " + formatRank(0);
  case Activity::Update:
    return "updating the parameters";
  case Activity::Finish:
    return "finishing";
  }
  return "idle";
}

std::string Progress::describe(const PprtDescriptor &descriptor) const {
  uint64_t word = action.load();
  std::string text =
      describeActivity(static_cast<Activity>(word >> 56), word >> 32 & 0xffffff,
                       static_cast<uint32_t>(word), descriptor, firstRank);
  if (int64_t number = step.load())
    text += " in step " + std::to_string(number);
  return text;
}
