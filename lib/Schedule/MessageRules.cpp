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
  explicit BlockingRun(const Schedule &schedule) : schedule(schedule) {
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
      ArrayRef<Action> actions = schedule.getActions(rank);
      lanes.push_back({actions.begin(), actions.end()});
      skipToTransfer(lanes.back());
      active.push_back(rank);
    }
  }

  bool reachesEnd() {
    while (!active.empty()) {
      int64_t rank = active.pop_back_val();
      lanes[rank].isActive = false;
      advance(rank);
    }
    return all_of(lanes, [](const Lane &lane) { return lane.isAtEnd(); });
  }

private:
  /// What a rank has left to do, from the transfer before which it stands.
  struct Lane {
    const Action *next, *end;
    bool isActive = true;
    bool isAtEnd() const { return next == end; }
  };

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

  static void skipToTransfer(Lane &lane) {
    while (!lane.isAtEnd() &&
           (lane.next->isCompute() || lane.next->kind == ActionKind::Step))
      ++lane.next;
    // The run jumps between thousands of lanes, each of which it reads from
    // first to last: no processor sees that coming, so ask for what is next.
    __builtin_prefetch(lane.next + 8);
  }

  void advance(int64_t rank) {
    Lane &lane = lanes[rank];
    while (!lane.isAtEnd()) {
      const Action &transfer = *lane.next;
      if (!transfer.isTransfer())
        return;
      int64_t peer = getPeer(schedule, transfer);
      Lane &other = lanes[peer];
      if (other.isAtEnd() || !isOtherEnd(transfer, *other.next))
        return;
      ++lane.next;
      ++other.next;
      skipToTransfer(lane);
      skipToTransfer(other);
      if (other.isActive)
        continue;
      other.isActive = true;
      active.push_back(peer);
    }
  }

  const Schedule &schedule;
  std::vector<Lane> lanes;
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
