//===- TransferRun.cpp - Times with the transfers as given
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TransferRun.h"

#include "pipewright/Schedule/Communication.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <queue>

using namespace llvm;
using namespace pipewright;

namespace {
/// A discrete-event run of the lanes of a network. A lane goes on as far as it
/// can; what it posts becomes an event once the other end is posted too. Events
/// are taken in the order of their times: all that a message sets free happens
/// later, so a link always serves the one that was ready first.
class TransferRun {
public:
  TransferRun(const Schedule &schedule, const CostModel &costs,
              bool withMessages)
      : schedule(schedule), costs(costs), withMessages(withMessages),
        values(schedule),
        network(buildNetwork(schedule, *costs.machine.transport,
                             /*withComputing=*/true)),
        lanes(network.lanes.size()), messages(network.messages) {
    timeline.ranks.resize(schedule.getRanks());
  }

  Timeline run() {
    for (size_t lane = lanes.size(); lane-- > 0;)
      active.push_back(lane);
    while (true) {
      while (!active.empty())
        advance(active.pop_back_val());
      if (events.empty())
        break;
      Event event = events.top();
      events.pop();
      move(event);
    }
    for (const std::vector<Timeline::Entry> &entries : timeline.ranks)
      if (!entries.empty())
        timeline.makespan = std::max(timeline.makespan, entries.back().end);
    return std::move(timeline);
  }

private:
  struct LaneState {
    /// The end of each step that is done.
    std::vector<double> ends;
    /// Whether the next step has posted its transfers, and how many of them are
    /// open.
    bool hasPosted = false;
    int64_t open = 0;
    /// When the last of those that are done was.
    double end = 0;
  };
  struct MessageState {
    int64_t sendLane = -1;
    int64_t recvLane = -1;
    /// When the later of its ends was posted.
    double ready = 0;
  };
  struct Event {
    double time;
    int64_t message;
    /// The earliest comes first; the number decides a tie.
    bool operator<(const Event &other) const {
      return std::pair(time, message) > std::pair(other.time, other.message);
    }
  };

  const Network::Lane &getLane(int64_t lane) const {
    return network.lanes[lane];
  }

  void advance(int64_t lane) {
    LaneState &state = lanes[lane];
    while (state.ends.size() < getLane(lane).steps.size()) {
      if (!state.hasPosted) {
        std::optional<double> start = getStart(lane);
        if (!start)
          return;
        post(lane, *start);
      }
      if (state.open > 0)
        return;
      state.ends.push_back(state.end);
      state.hasPosted = false;
      for (int64_t other : network.lanesOfRank[getLane(lane).rank])
        if (other != lane)
          active.push_back(other);
    }
  }

  /// When the next step of \p lane can begin; nothing as long as it waits for
  /// another lane.
  std::optional<double> getStart(int64_t lane) const {
    const LaneState &state = lanes[lane];
    const Network::Lane &of = getLane(lane);
    size_t step = state.ends.size();
    double start = step ? state.ends.back() : 0;
    int64_t begin = step ? of.steps[step - 1].waitsEnd : 0;
    for (int64_t i = begin; i < of.steps[step].waitsEnd; ++i) {
      const Network::Wait &wait = of.waits[i];
      const std::vector<double> &others = lanes[wait.lane].ends;
      if (static_cast<int64_t>(others.size()) < wait.steps)
        return std::nullopt;
      if (wait.steps > 0)
        start = std::max(start, others[wait.steps - 1]);
    }
    return start;
  }

  /// Begins the next step of \p lane: computes, or posts its transfers.
  void post(int64_t lane, double start) {
    LaneState &state = lanes[lane];
    const Network::Lane &of = getLane(lane);
    size_t step = state.ends.size();
    int64_t begin = step ? of.steps[step - 1].transfersEnd : 0;
    int64_t end = of.steps[step].transfersEnd;
    state.hasPosted = true;
    state.open = end - begin;
    state.end = start;
    if (begin == end)
      compute(of.rank, of.steps[step].action, state);
    for (int64_t i = begin; i < end; ++i) {
      const Transfer &transfer = of.transfers[i];
      MessageState &message = messages[transfer.message];
      (transfer.isSend ? message.sendLane : message.recvLane) = lane;
      message.ready = std::max(message.ready, start);
      if (message.sendLane >= 0 && message.recvLane >= 0)
        events.push({message.ready, transfer.message});
    }
  }

  void compute(int64_t rank, int64_t index, LaneState &state) {
    double start = state.end;
    state.end +=
        costs.getDuration(schedule.getActions(rank)[index], rank, index);
    timeline.ranks[rank].push_back({index, start, state.end});
  }

  /// Moves a message of which both ends are ready as soon as its ways are free.
  /// The sender goes on when it has left, the receiver when it has arrived.
  void move(const Event &event) {
    const MessageState &message = messages[event.message];
    RankLink link = costs.getLink(getLane(message.sendLane).rank,
                                  getLane(message.recvLane).rank);
    Action send = values.transfer(event.message, /*isSend=*/true);
    double &out = isFree[link.ways[0]], &in = isFree[link.ways[1]];
    double start = std::max({out, in, event.time});
    double left = start + link.getMessageTime(costs.getMessageBytes(send));
    out = in = left;
    if (withMessages && left + link.latency > start)
      timeline.messages.push_back({send, start, left + link.latency});
    close(message.sendLane, left);
    close(message.recvLane, left + link.latency);
  }

  void close(int64_t lane, double time) {
    LaneState &state = lanes[lane];
    state.end = std::max(state.end, time);
    if (--state.open == 0)
      active.push_back(lane);
  }

  const Schedule &schedule;
  const CostModel &costs;
  bool withMessages;
  ValueNumbering values;
  Network network;
  std::vector<LaneState> lanes;
  std::vector<MessageState> messages;
  /// When a way is free again.
  std::map<int64_t, double> isFree;
  std::priority_queue<Event> events;
  SmallVector<int64_t> active;
  Timeline timeline;
};
} // namespace

Timeline pipewright::simulateTransfers(const Schedule &schedule,
                                       const CostModel &costs,
                                       bool withMessages) {
  return TransferRun(schedule, costs, withMessages).run();
}
