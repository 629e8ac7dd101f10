//===- MessageRules.cpp - Rules on the ranks side by side
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageRules.h"

#include "pipewright/Schedule/Communication.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// S4: both ends of each queue agree on the order of messages
//===----------------------------------------------------------------------===//

static Violation explain(const OrderFault &fault,
                         const ValueNumbering &values) {
  std::string source = "rank " + std::to_string(fault.source);
  std::string target = "rank " + std::to_string(fault.target);
  auto describeEnd = [&](int64_t message, bool isSend) {
    return describe(values.transfer(message, isSend));
  };
  if (fault.received < 0)
    return {Rule::S4, fault.source, fault.sendAction,
            describeEnd(fault.sent, /*isSend=*/true) +
                " is never received by " + target + "; add " +
                describeEnd(fault.sent, /*isSend=*/false)};
  if (fault.sent < 0)
    return {Rule::S4, fault.target, fault.recvAction,
            describeEnd(fault.received, /*isSend=*/false) +
                " is never sent by " + source + "; add " +
                describeEnd(fault.received, /*isSend=*/true)};
  return {Rule::S4,
          fault.target,
          fault.recvAction,
          target + " comes to " +
              describeEnd(fault.received, /*isSend=*/false) + " where " +
              source + " comes to " + describeEnd(fault.sent, /*isSend=*/true) +
              "; both must use one order",
          {{fault.source, fault.sendAction, "which is here"}}};
}

//===----------------------------------------------------------------------===//
// S5: the ranks side by side reach the end
//===----------------------------------------------------------------------===//

/// What \p stall, which \p next follows in the cycle, waits for.
static std::string explain(const Stall &stall, const Stall &next,
                           const Schedule &schedule,
                           const ValueNumbering &values) {
  std::string rank = "rank " + std::to_string(stall.rank);
  if (stall.transfer)
    return rank + " waits in " +
           describe(values.transfer(stall.transfer->message,
                                    stall.transfer->isSend)) +
           " for rank " + std::to_string(stall.peer);
  ArrayRef<Action> actions = schedule.getActions(stall.rank);
  return rank + " waits before " + describe(actions[stall.action]) +
         " for what it has under way, first " + describe(actions[next.action]);
}

static Violation explain(ArrayRef<Stall> cycle, const Schedule &schedule,
                         Transport transport) {
  ValueNumbering values(schedule);
  std::vector<Violation::Note> notes;
  for (size_t index = 0; index < cycle.size(); ++index)
    notes.push_back({cycle[index].rank, cycle[index].action,
                     explain(cycle[index], cycle[(index + 1) % cycle.size()],
                             schedule, values)});
  Violation violation = {Rule::S5, notes[0].rank, notes[0].action,
                         notes[0].message +
                             ", and none of the ranks can go on with "
                             "transport '" +
                             getName(transport).str() +
                             "'; order all messages globally or post those "
                             "that cross in one group"};
  violation.notes.assign(notes.begin() + 1, notes.end());
  return violation;
}

std::vector<Violation> pipewright::checkMessages(const Schedule &schedule,
                                                 const CheckOptions &options) {
  Network network = buildNetwork(schedule, options.transport);
  std::vector<Violation> violations;
  ValueNumbering values(schedule);
  for (const OrderFault &fault : checkOrder(network))
    violations.push_back(explain(fault, values));
  if (!violations.empty())
    return violations;
  std::vector<Stall> cycle = findDeadlock(network, options.credits);
  if (!cycle.empty())
    violations.push_back(explain(cycle, schedule, options.transport));
  return violations;
}

//===----------------------------------------------------------------------===//
// S5 without transfers
//===----------------------------------------------------------------------===//

/// The place of the rank's computing action number \p position.
static int64_t getComputeAction(const Schedule &schedule, int64_t rank,
                                size_t position) {
  for (auto [index, action] : enumerate(schedule.getActions(rank)))
    if (action.isCompute() && position-- == 0)
      return index;
  llvm_unreachable("the rank has that many computing actions");
}

/// What \p rank, which got stuck, waits for.
static Violation::Note explainMissing(const Schedule &schedule, int64_t rank,
                                      const TaskTimes &times) {
  Action maker = ValueNumbering(schedule).transfer(times.missing[rank],
                                                   /*isSend=*/true);
  int64_t action = getComputeAction(schedule, rank, times.ranks[rank].size());
  return {rank, action,
          "rank " + std::to_string(rank) + " waits before " +
              describe(schedule.getActions(rank)[action]) + " for the " +
              (maker.kind == ActionKind::SendF ? "forward" : "backward") +
              " of stage " + std::to_string(maker.stage) + " on rank " +
              std::to_string(schedule.getRank(maker.stage, maker.direction))};
}

std::vector<Violation> pipewright::checkOrdersAgree(const Schedule &schedule) {
  CostModel costs;
  costs.stages.resize(schedule.getStages());
  TaskTimes times = runTasks(buildTaskGraph(schedule, costs));
  if (times.isComplete())
    return {};
  auto first = find_if(times.missing, [](int64_t value) { return value >= 0; });
  int64_t rank = first - times.missing.begin();
  // A stuck rank waits for one that is stuck too, so following them must come
  // to a rank seen before.
  ValueNumbering values(schedule);
  std::vector<Violation::Note> path;
  std::vector<int64_t> position(schedule.getRanks(), -1);
  while (position[rank] < 0) {
    position[rank] = path.size();
    path.push_back(explainMissing(schedule, rank, times));
    Action maker = values.transfer(times.missing[rank], /*isSend=*/true);
    rank = schedule.getRank(maker.stage, maker.direction);
  }
  path.erase(path.begin(), path.begin() + position[rank]);
  Violation violation = {Rule::S5, path[0].rank, path[0].action,
                         path[0].message +
                             ", and none of the ranks can go on; each must "
                             "run first what another waits for"};
  violation.notes.assign(path.begin() + 1, path.end());
  return {violation};
}
