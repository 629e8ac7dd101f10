//===- MessageRules.cpp - Rules on the ranks side by side
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MessageRules.h"

#include "DryRun.h"
#include "ScheduleTasks.h"

#include "llvm/ADT/Sequence.h"

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
  // Values are numbered in pairs of an activation and a gradient.
  bool isMixed = fault.sent % 2 != fault.received % 2;
  const char *alternative =
      isMixed ? ", or activations and gradients need a queue each" : "";
  return {Rule::S4,
          fault.target,
          fault.recvAction,
          target + " comes to " +
              describeEnd(fault.received, /*isSend=*/false) + " where " +
              source + " comes to " + describeEnd(fault.sent, /*isSend=*/true) +
              "; both must use one order" + alternative,
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
  return rank + " cannot begin " + describe(actions[stall.action]) +
         " before " + describe(actions[next.action]) + " is done";
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

namespace {
/// The ranks side by side with calls that block. As long as no call is a group,
/// a message moves when the ranks at its two ends stand before it, so nothing
/// needs to be remembered but where each rank stands. Whoever gets to the end
/// has shown both S4 and S5, in little time and no memory; the rest is left to
/// the network, which can explain.
class BlockingRun {
public:
  explicit BlockingRun(const Schedule &schedule)
      : schedule(schedule), next(schedule.getRanks(), 0) {}

  bool reachesEnd() {
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
      skipToTransfer(rank);
      active.push_back(rank);
    }
    while (!active.empty())
      advance(active.pop_back_val());
    return all_of(seq<int64_t>(0, schedule.getRanks()),
                  [&](int64_t rank) { return !getTransfer(rank); });
  }

private:
  /// What \p rank stands before; null at its end.
  const Action *getTransfer(int64_t rank) const {
    ArrayRef<Action> actions = schedule.getActions(rank);
    return next[rank] < actions.size() ? &actions[next[rank]] : nullptr;
  }

  /// Whether \p transfer and \p other are the ends of one message.
  static bool isOtherEnd(const Action &transfer, const Action &other) {
    auto isPair = [](const Action &send, const Action &recv) {
      bool isActivation = send.kind == ActionKind::SendF;
      return send.isSend() &&
             recv.kind ==
                 (isActivation ? ActionKind::RecvF : ActionKind::RecvB) &&
             recv.stage == send.stage + (isActivation ? 1 : -1);
    };
    return transfer.microbatch == other.microbatch &&
           transfer.direction == other.direction &&
           (isPair(transfer, other) || isPair(other, transfer));
  }

  void skipToTransfer(int64_t rank) {
    ArrayRef<Action> actions = schedule.getActions(rank);
    while (next[rank] < actions.size() &&
           (actions[next[rank]].isCompute() ||
            actions[next[rank]].kind == ActionKind::Step))
      ++next[rank];
  }

  void advance(int64_t rank) {
    while (const Action *transfer = getTransfer(rank)) {
      if (!transfer->isTransfer())
        return;
      int64_t peer = getPeer(schedule, *transfer);
      const Action *other = getTransfer(peer);
      if (!other || !isOtherEnd(*transfer, *other))
        return;
      ++next[rank];
      ++next[peer];
      skipToTransfer(rank);
      skipToTransfer(peer);
      active.push_back(peer);
    }
  }

  const Schedule &schedule;
  std::vector<size_t> next;
  SmallVector<int64_t> active;
};
} // namespace

std::vector<Violation> pipewright::checkMessages(const Schedule &schedule,
                                                 const CheckOptions &options) {
  if (options.transport == Transport::Blocking &&
      BlockingRun(schedule).reachesEnd())
    return {};
  Network network = buildNetwork(schedule, options.transport);
  std::vector<Violation> violations;
  ValueNumbering values(schedule);
  for (const OrderFault &fault : checkOrder(network))
    violations.push_back(explain(fault, values));
  if (!violations.empty())
    return violations;
  std::vector<Stall> cycle = findDeadlock(network, options.credits);
  if (cycle.empty())
    return {};
  // If the computing actions alone wait for each other, no order of messages
  // helps.
  violations = checkOrdersAgree(schedule);
  if (violations.empty())
    violations.push_back(explain(cycle, schedule, options.transport));
  return violations;
}

//===----------------------------------------------------------------------===//
// S5 without transfers
//===----------------------------------------------------------------------===//

/// What \p rank, which got stuck, waits for.
static Violation::Note explainMissing(const Schedule &schedule, int64_t rank,
                                      const DryRun<ScheduleTasks> &run) {
  Action maker = ValueNumbering(schedule).transfer(run.getMissing(rank),
                                                   /*isSend=*/true);
  int64_t action = run.getPosition(rank);
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
  ScheduleTasks tasks(schedule, costs);
  DryRun run(tasks);
  run.run([](int64_t, size_t, double, double) {});
  if (run.isComplete())
    return {};
  int64_t rank = 0;
  while (run.getMissing(rank) < 0)
    ++rank;
  // A stuck rank waits for one that is stuck too, so following them must come
  // to a rank seen before.
  ValueNumbering values(schedule);
  std::vector<Violation::Note> path;
  std::vector<int64_t> position(schedule.getRanks(), -1);
  while (position[rank] < 0) {
    position[rank] = path.size();
    path.push_back(explainMissing(schedule, rank, run));
    Action maker = values.transfer(run.getMissing(rank), /*isSend=*/true);
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
