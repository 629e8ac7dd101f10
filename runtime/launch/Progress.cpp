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

static std::string describeActivity(Activity activity, uint32_t index,
                                    uint32_t microbatch,
                                    const PprtDescriptor &descriptor) {
  switch (activity) {
  case Activity::Start:
    return "starting";
  case Activity::Run: {
    const PprtTask &task = descriptor.tasks[index];
    return "running " + quote(task.name) + formatPlace(task.stage, microbatch);
  }
  case Activity::Send: {
    const PprtChannel &channel = descriptor.channels[index];
    return "sending " + quote(channel.name) + " to rank " +
           std::to_string(channel.target) +
           formatPlace(channel.sourceStage, microbatch);
  }
  case Activity::Recv: {
    const PprtChannel &channel = descriptor.channels[index];
    return "receiving " + quote(channel.name) + " from rank " +
           std::to_string(channel.source) +
           formatPlace(channel.targetStage, microbatch);
  }
  case Activity::SumLoss:
    return "exchanging the loss with rank " +
           std::to_string(descriptor.lossRank);
  case Activity::TiedGradient: {
    const PprtParameter &parameter = descriptor.parameters[index];
    return "summing the gradient of " + quote(parameter.tensor.name) +
           " with rank " + std::to_string(parameter.owner);
  }
  case Activity::GradientNorm:
    return "exchanging the gradient norm with rank 0";
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
                       static_cast<uint32_t>(word), descriptor);
  if (int64_t number = step.load())
    text += " in step " + std::to_string(number);
  return text;
}
