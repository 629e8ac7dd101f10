//===- Hanayo.cpp - The hanayo schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>
#include <tuple>

using namespace llvm;
using namespace pipewright;

namespace {
/// Runs the ranks side by side: an idle rank starts, of the actions whose
/// inputs it has, the one that is due first. An action is due when it would
/// start if a new micro-batch came in each time that a rank needs for one, and
/// all went through the stages alone, at half speed, as each rank gives about
/// half of its time to forwards and half to backwards.
class HanayoWriter {
public:
  HanayoWriter(Schedule &schedule, const CostModel &costs)
      : schedule(schedule), costs(costs), ranks(schedule.getRanks()) {
    setDueTimes();
  }

  void run() {
    arrivals.push({0, schedule.getRank(0), Action(ActionKind::F, 0, 0)});
    while (!arrivals.empty()) {
      double now = arrivals.top().time;
      SmallVector<int64_t> touched;
      for (; !arrivals.empty() && arrivals.top().time == now; arrivals.pop()) {
        const Arrival &arrival = arrivals.top();
        touched.push_back(arrival.rank);
        if (arrival.action)
          ranks[arrival.rank].ready.push(
              {getDueTime(*arrival.action), *arrival.action});
      }
      for (int64_t rank : touched)
        startNext(rank, now);
    }
  }

private:
  /// An action that can start, or none: the rank has become idle.
  struct Arrival {
    double time;
    int64_t rank;
    std::optional<Action> action;
    bool operator<(const Arrival &other) const { return time > other.time; }
  };
  struct Ready {
    double due;
    Action action;
    /// Queues give what is greatest first; micro-batches and stages make the
    /// order the same everywhere.
    bool operator<(const Ready &other) const { return key() > other.key(); }
    std::tuple<double, int64_t, int64_t> key() const {
      return {due, action.microbatch, -action.stage};
    }
  };
  struct Rank {
    double idleFrom = 0;
    std::priority_queue<Ready> ready;
  };

  void setDueTimes() {
    std::vector<double> work(schedule.getRanks());
    double forward = 0, backward = 0;
    for (auto [stage, cost] : enumerate(costs.stages)) {
      dueForward.push_back(2 * forward);
      forward += cost.f;
      work[schedule.getRank(stage)] += cost.f + cost.b + cost.w;
    }
    dueBackward.resize(costs.stages.size());
    for (int64_t stage = costs.stages.size(); stage-- > 0;) {
      dueBackward[stage] = 2 * (forward + backward);
      backward += costs.stages[stage].b + costs.stages[stage].w;
    }
    period = *llvm::max_element(work);
  }

  double getDueTime(const Action &action) const {
    bool isForward = action.kind == ActionKind::F;
    double offset = (isForward ? dueForward : dueBackward)[action.stage];
    return action.microbatch * period + offset;
  }

  void startNext(int64_t rank, double now) {
    std::priority_queue<Ready> &ready = ranks[rank].ready;
    if (ready.empty() || ranks[rank].idleFrom > now)
      return;
    Action action = ready.top().action;
    ready.pop();
    schedule.add(rank, action);
    double end = now + costs.getDuration(action);
    ranks[rank].idleFrom = end;
    arrivals.push({end, rank, std::nullopt});
    addSuccessors(action, rank, end);
  }

  /// What can start on the results of \p action.
  void addSuccessors(const Action &action, int64_t rank, double end) {
    int64_t stage = action.stage, last = schedule.getStages() - 1;
    auto add = [&](ActionKind kind, int64_t next, int64_t mb) {
      int64_t target = schedule.getRank(next);
      double latency = target == rank ? 0 : costs.latency;
      arrivals.push({end + latency, target, Action(kind, next, mb)});
    };
    if (action.kind == ActionKind::BW) {
      if (stage > 0)
        add(ActionKind::BW, stage - 1, action.microbatch);
      return;
    }
    if (stage == 0 && action.microbatch + 1 < schedule.getMicrobatches())
      add(ActionKind::F, 0, action.microbatch + 1);
    if (stage < last)
      add(ActionKind::F, stage + 1, action.microbatch);
    else
      add(ActionKind::BW, last, action.microbatch);
  }

  Schedule &schedule;
  const CostModel &costs;
  /// Per stage, of the first micro-batch.
  std::vector<double> dueForward, dueBackward;
  /// From one micro-batch to the next.
  double period = 0;
  std::vector<Rank> ranks;
  std::priority_queue<Arrival> arrivals;
};
} // namespace

/// Chunks in waves, from the first rank to the last and back. Unlike chimera,
/// which fills the gaps of one pipeline with a second one, it has one copy of
/// the parameters. The paper gives no rule for the order; ours is the outcome
/// of a simulation.
static Expected<Schedule> buildHanayo(const ScheduleRequest &request) {
  const ScheduleShape &shape = request.shape;
  if (Error error = checkMultiple("chunks per rank", shape.chunks, 2))
    return error;
  Schedule schedule(shape, placeInWaves(shape.ranks, shape.chunks));
  Expected<CostModel> costs = makeCosts(schedule, request.costs);
  if (!costs)
    return costs.takeError();
  HanayoWriter(schedule, *costs).run();
  return schedule;
}

namespace pipewright {
void registerHanayo(ScheduleRegistry &registry) {
  registry.add({/*name=*/"hanayo",
                /*summary=*/"two chunks per wave, down the ranks and back",
                /*source=*/"Liu et al., SC 2023, arXiv:2308.15762", buildHanayo,
                /*chunks=*/2});
}
} // namespace pipewright
