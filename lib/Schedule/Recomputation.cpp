//===- Recomputation.cpp - Schedules that recompute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Recomputation.h"

using namespace llvm;
using namespace pipewright;

Schedule pipewright::addRecomputation(const Schedule &schedule,
                                      const std::vector<bool> &stages) {
  Schedule result = schedule;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<Action> actions;
    for (const Action &action : schedule.getActions(rank)) {
      if (action.isCompute())
        forEachPart(action, [&](const Action &part) {
          if (part.isInputGradient() && (stages.empty() || stages[part.stage]))
            actions.push_back(
                {ActionKind::R, part.stage, part.microbatch, part.direction});
        });
      actions.push_back(action);
    }
    result.setActions(rank, std::move(actions));
  }
  return result;
}
