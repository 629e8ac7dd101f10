//===- DualPipeSteps.cpp - The steps of dualpipe and dualpipev
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/DualPipeSteps.h"

#include <deque>

using namespace llvm;
using namespace pipewright;

namespace {
class DualPipeWriter {
public:
  DualPipeWriter(Schedule &schedule, int64_t rank, const DualPipeRank &steps)
      : lane(schedule, rank), microbatches(schedule.getMicrobatches()),
        near(steps.near), far(steps.far), depth(steps.depth),
        position(steps.position), toMiddle(depth - 1 - position) {}

  void run() {
    fill();
    overlap();
    drain();
  }

private:
  /// Steps 1 to 3.
  void fill() {
    for (int64_t i = 0; i < 2 * toMiddle; ++i)
      lane.add({near.forward()});
    for (int64_t i = 0; i <= position; ++i)
      lane.add({near.forward(), far.forward()});
    for (int64_t i = 0; i < toMiddle; ++i)
      lane.add({far.inputGradient(), far.weightGradient(), far.forward()});
  }

  /// Steps 4 and 5. On the ranks in the middle the first pair would make the
  /// other stream wait, so it runs as two actions.
  void overlap() {
    int64_t rounds = microbatches - 2 * depth + position + 1;
    for (int64_t i = 0; i < rounds; ++i) {
      if (i == 0 && toMiddle == 0)
        lane.add({near.forward(), far.backward()});
      else
        addPair(near, far);
      addPair(far, near);
    }
    for (int64_t i = 0; i < toMiddle; ++i) {
      lane.add({far.backward()});
      addPair(far, near);
    }
  }

  /// Steps 6 to 8. From the middle of step 6 on, gradients for the weights
  /// wait until the others are on their way.
  void drain() {
    int64_t backwards = 2 * (position + 1);
    for (int64_t i = 0; i < backwards; ++i)
      addDrainBackward(i % 2 == 0 ? far : near, /*isSplit=*/i > position);
    for (int64_t i = 0; i < toMiddle; ++i) {
      addWaitingWeights();
      addDrainBackward(near, /*isSplit=*/true);
    }
    for (int64_t i = 0; i <= position; ++i)
      addWaitingWeights();
  }

  void addPair(StageLane &forward, StageLane &backward) {
    lane.add({Action(ActionKind::FB, 0, 0, 0,
                     {forward.forward(), backward.backward()})});
  }

  void addDrainBackward(StageLane &stage, bool isSplit) {
    if (!isSplit)
      return lane.add({stage.backward()});
    lane.add({stage.inputGradient()});
    waiting.push_back(&stage);
  }

  void addWaitingWeights() {
    lane.add({waiting.front()->weightGradient()});
    waiting.pop_front();
  }

  LaneWriter lane;
  int64_t microbatches;
  StageLane near, far;
  int64_t depth, position;
  /// Ranks between this one and the middle.
  int64_t toMiddle;
  /// The stages of the gradients for the weights that wait, oldest first.
  std::deque<StageLane *> waiting;
};
} // namespace

void pipewright::addDualPipeSteps(Schedule &schedule, int64_t rank,
                                  DualPipeRank steps) {
  DualPipeWriter(schedule, rank, steps).run();
}

Error pipewright::checkDualPipeMicrobatches(const ScheduleShape &shape) {
  int64_t least = 2 * shape.ranks;
  if (shape.microbatches >= least)
    return Error::success();
  return refuseNumber("at least two micro-batches per rank, here " +
                          Twine(least),
                      shape.microbatches, least);
}
