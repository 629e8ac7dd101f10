//===- FakeExperts.cpp - Replicas as the compiler would make them ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeRank.h"

/// Of an input, and experts.
static int64_t width, blocks;

static float *getFloats(void *const *pointers, int index) {
  return static_cast<float *>(pointers[index]);
}

// (x, factor) -> a block for each expert
static void makeRows(void *const *pointers) {
  for (int64_t expert = 0; expert < blocks; ++expert)
    for (int64_t i = 0; i < width; ++i)
      getFloats(pointers, 2)[expert * width + i] =
          getFloats(pointers, 1)[expert] * getFloats(pointers, 0)[i];
}

// (blocks of all replicas, expert) -> the same
static void runExpert(void *const *pointers) {
  for (int64_t i = 0; i < blocks * width; ++i)
    getFloats(pointers, 2)[i] =
        *getFloats(pointers, 1) * getFloats(pointers, 0)[i];
}

// (blocks of all experts, target) -> prediction, loss sum, loss weight
static void combine(void *const *pointers) {
  float sum = 0;
  for (int64_t i = 0; i < width; ++i) {
    float prediction = 0;
    for (int64_t expert = 0; expert < blocks; ++expert)
      prediction += getFloats(pointers, 0)[expert * width + i];
    getFloats(pointers, 2)[i] = prediction;
    float error = prediction - getFloats(pointers, 1)[i];
    sum += error * error;
  }
  *getFloats(pointers, 3) = sum;
  *getFloats(pointers, 4) = static_cast<float>(width);
}

// (prediction, target, scale) -> a block of gradients for each expert
static void makeGradients(void *const *pointers) {
  for (int64_t expert = 0; expert < blocks; ++expert)
    for (int64_t i = 0; i < width; ++i)
      getFloats(pointers, 3)[expert * width + i] =
          *getFloats(pointers, 2) * 2 *
          (getFloats(pointers, 0)[i] - getFloats(pointers, 1)[i]);
}

// (blocks of gradients, blocks, expert) -> gradient of the expert, of blocks
static void runExpertBackward(void *const *pointers) {
  for (int64_t i = 0; i < blocks * width; ++i) {
    float gradient = getFloats(pointers, 0)[i];
    *getFloats(pointers, 3) +=
        FakeRank::limit(gradient * getFloats(pointers, 1)[i]);
    getFloats(pointers, 4)[i] = gradient * *getFloats(pointers, 2);
  }
}

// (blocks of gradients, x) -> gradient of the factor
static void combineGradients(void *const *pointers) {
  for (int64_t expert = 0; expert < blocks; ++expert)
    for (int64_t i = 0; i < width; ++i)
      getFloats(pointers, 2)[expert] +=
          getFloats(pointers, 0)[expert * width + i] *
          getFloats(pointers, 1)[i];
}

uint32_t FakeRank::addExchange() {
  uint32_t index = exchanges.size();
  uint64_t bytes = spec.group * spec.width * sizeof(float);
  PprtExchange exchange = {};
  exchange.name = names.emplace_back("x." + std::to_string(index)).c_str();
  exchange.id = index;
  exchange.blockBytes = bytes / spec.group;
  exchange.sent = addBuffer(PPRT_BUFFER_SENT, bytes, index, spec.slots);
  exchange.received = addBuffer(PPRT_BUFFER_RECEIVED, bytes, index);
  exchanges.push_back(exchange);
  return index;
}

/// Tasks and exchanges are numbered as one micro-batch meets them.
void FakeRank::addExpertTasks() {
  width = spec.width;
  blocks = spec.group;
  for (int i = 0; i < 4; ++i)
    addExchange();
  PprtBinding x = bindBuffer(stages[0].input), goal = bindBuffer(target),
              made = bindBuffer(prediction);
  PprtBinding expert = {PPRT_BIND_PARAMETER, 0, 0},
              factor = {PPRT_BIND_PARAMETER, 1, 0};
  auto bindGradient = [&](uint32_t parameter) -> PprtBinding {
    return {PPRT_BIND_GRADIENT, 0, parameters[parameter].gradient};
  };
  auto sent = [&](int i) { return bindBuffer(exchanges[i].sent); };
  auto received = [&](int i) { return bindBuffer(exchanges[i].received); };
  addTask("s0.f", PPRT_ROLE_F, 0, makeRows, {x, factor, sent(0)});
  addTask("s0.f.1", PPRT_ROLE_F, 0, runExpert, {received(0), expert, sent(1)});
  addTask(
      "s0.f.2", PPRT_ROLE_F, 0, combine,
      {received(1), goal, made, bindBuffer(lossSum), bindBuffer(lossWeight)});
  addTask("s0.bw", PPRT_ROLE_BW, 0, makeGradients,
          {made, goal, bindBuffer(lossScale), sent(2)});
  addTask("s0.bw.1", PPRT_ROLE_BW, 0, runExpertBackward,
          {received(2), received(0), expert, bindGradient(0), sent(3)});
  addTask("s0.bw.2", PPRT_ROLE_BW, 0, combineGradients,
          {received(3), x, bindGradient(1)});
}

/// In a step all micro-batches are exchanged at a time; evaluation has memory
/// for one.
void FakeRank::addExpertProgram() {
  uint32_t microbatches = spec.microbatches;
  auto add = [&](std::vector<Action> &program, uint32_t task, uint32_t mb) {
    program.push_back({pprtRun, task, mb});
    // The last tasks of both directions have what they need.
    if (task % 3 != 2)
      program.push_back({pprtAllToAll, task - task / 3, mb});
  };
  for (uint32_t task = 0; task < 6; ++task)
    for (uint32_t mb = 0; mb < microbatches; ++mb)
      add(stepProgram, task, mb);
  for (uint32_t mb = 0; mb < microbatches; ++mb)
    for (uint32_t task = 0; task < 3; ++task)
      add(evalProgram, task, mb);
}
