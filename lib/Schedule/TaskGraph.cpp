//===- TaskGraph.cpp - Ordered tasks and the values between them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/TaskGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <tuple>

using namespace llvm;
using namespace pipewright;

bool TaskTimes::isComplete() const {
  return all_of(missing, [](int64_t value) { return value < 0; });
}

double TaskTimes::getMakespan() const {
  double makespan = 0;
  for (const std::vector<TaskTime> &rank : ranks)
    if (!rank.empty())
      makespan = std::max(makespan, rank.back().end);
  return makespan;
}

namespace {
/// Runs a rank until it misses a value, and resumes it when that is made.
class DryRun {
public:
  explicit DryRun(const TaskGraph &graph)
      : graph(graph), values(graph.values), waiting(graph.values) {
    times.ranks.resize(graph.ranks.size());
    times.missing.assign(graph.ranks.size(), -1);
  }

  TaskTimes run() {
    for (size_t rank = graph.ranks.size(); rank-- > 0;)
      ready.push_back(rank);
    while (!ready.empty()) {
      size_t rank = ready.pop_back_val();
      times.missing[rank] = -1;
      while (runNextTask(rank)) {
      }
    }
    return std::move(times);
  }

private:
  struct Value {
    int64_t maker = -1;
    double madeAt = 0;
  };

  /// Returns false at the end of the rank or if the next task has to wait.
  bool runNextTask(size_t rank) {
    std::vector<TaskTime> &done = times.ranks[rank];
    if (done.size() == graph.ranks[rank].size())
      return false;
    const TaskGraph::Task &task = graph.ranks[rank][done.size()];
    double start = done.empty() ? 0 : done.back().end;
    for (int64_t use : task.uses) {
      const Value &value = values[use];
      if (value.maker < 0) {
        times.missing[rank] = use;
        waiting[use].push_back(rank);
        return false;
      }
      bool crosses = value.maker != static_cast<int64_t>(rank);
      start = std::max(start, value.madeAt + (crosses ? graph.latency : 0));
    }
    double end = start + task.duration;
    done.push_back({start, end, sequence++});
    for (int64_t made : task.makes) {
      values[made] = {static_cast<int64_t>(rank), end};
      ready.append(waiting[made].begin(), waiting[made].end());
      waiting[made].clear();
    }
    return true;
  }

  const TaskGraph &graph;
  std::vector<Value> values;
  std::vector<SmallVector<size_t, 1>> waiting;
  SmallVector<size_t> ready;
  TaskTimes times;
  int64_t sequence = 0;
};

/// A value that crosses from one rank to another.
struct Message {
  int64_t value;
  int64_t source;
  int64_t target;
  /// The task that makes it.
  TaskTime made;
};

/// Puts one rank's messages, in the global order, between its tasks, each as
/// late as the tasks allow.
class MessagePlacer {
public:
  MessagePlacer(int64_t rank, ArrayRef<Message> messages, ArrayRef<int64_t> own)
      : rank(rank), messages(messages), own(own) {}

  void addTask(int64_t index) { steps.push_back({PlacedStep::Task, index}); }

  /// Issues what is left up to \p order, a position in the global order.
  void issueUntil(int64_t order) {
    for (; next < own.size() && own[next] <= order; ++next) {
      const Message &message = messages[own[next]];
      bool isSend = message.source == rank;
      steps.push_back(
          {isSend ? PlacedStep::Send : PlacedStep::Recv, message.value});
    }
  }

  std::vector<PlacedStep> takeSteps() { return std::move(steps); }

private:
  int64_t rank;
  ArrayRef<Message> messages;
  /// The positions of the rank's messages in the global order.
  ArrayRef<int64_t> own;
  size_t next = 0;
  std::vector<PlacedStep> steps;
};
} // namespace

TaskTimes pipewright::runTasks(const TaskGraph &graph) {
  return DryRun(graph).run();
}

/// All messages in the global order. The sequence breaks ties between tasks
/// that end at the same time such that causes come before effects.
static std::vector<Message> collectMessages(const TaskGraph &graph,
                                            const TaskTimes &times) {
  std::vector<std::pair<int64_t, TaskTime>> makers(graph.values, {-1, {}});
  for (auto [rank, tasks] : enumerate(graph.ranks))
    for (auto [index, task] : enumerate(tasks))
      for (int64_t value : task.makes)
        makers[value] = {static_cast<int64_t>(rank), times.ranks[rank][index]};
  std::vector<Message> messages;
  for (auto [rank, tasks] : enumerate(graph.ranks)) {
    std::vector<int64_t> received;
    for (const TaskGraph::Task &task : tasks)
      for (int64_t value : task.uses)
        if (makers[value].first != static_cast<int64_t>(rank))
          received.push_back(value);
    llvm::sort(received);
    received.erase(llvm::unique(received), received.end());
    for (int64_t value : received)
      messages.push_back({value, makers[value].first,
                          static_cast<int64_t>(rank), makers[value].second});
  }
  llvm::sort(messages, [](const Message &lhs, const Message &rhs) {
    return std::tuple(lhs.made.end, lhs.made.sequence, lhs.value, lhs.target) <
           std::tuple(rhs.made.end, rhs.made.sequence, rhs.value, rhs.target);
  });
  return messages;
}

std::vector<std::vector<PlacedStep>>
pipewright::placeMessages(const TaskGraph &graph, const TaskTimes &times) {
  std::vector<Message> messages = collectMessages(graph, times);
  std::vector<std::vector<int64_t>> own(graph.ranks.size());
  std::vector<int64_t> orderOfValue(graph.values, -1);
  for (auto [order, message] : enumerate(messages)) {
    own[message.source].push_back(order);
    own[message.target].push_back(order);
    orderOfValue[message.value] = order;
  }

  std::vector<std::vector<PlacedStep>> steps;
  for (auto [rank, tasks] : enumerate(graph.ranks)) {
    MessagePlacer placer(rank, messages, own[rank]);
    for (auto [index, task] : enumerate(tasks)) {
      for (int64_t value : task.uses)
        placer.issueUntil(orderOfValue[value]);
      placer.addTask(index);
      for (int64_t value : task.makes)
        placer.issueUntil(orderOfValue[value]);
    }
    steps.push_back(placer.takeSteps());
  }
  return steps;
}

std::vector<std::vector<PlacedStep>>
pipewright::placeMessagesNaively(const TaskGraph &graph) {
  std::vector<int64_t> sources(graph.values, -1), targets(graph.values, -1);
  for (auto [rank, tasks] : enumerate(graph.ranks))
    for (const TaskGraph::Task &task : tasks)
      for (int64_t value : task.makes)
        sources[value] = rank;
  for (auto [number, tasks] : enumerate(graph.ranks)) {
    int64_t rank = number;
    for (const TaskGraph::Task &task : tasks)
      for (int64_t value : task.uses)
        if (sources[value] != rank)
          targets[value] = rank;
  }

  std::vector<std::vector<PlacedStep>> steps(graph.ranks.size());
  std::vector<bool> isReceived(graph.values, false);
  for (auto [number, tasks] : enumerate(graph.ranks)) {
    int64_t rank = number;
    for (auto [index, task] : enumerate(tasks)) {
      for (int64_t value : task.uses)
        if (targets[value] == rank && !isReceived[value]) {
          isReceived[value] = true;
          steps[rank].push_back({PlacedStep::Recv, value});
        }
      steps[rank].push_back({PlacedStep::Task, static_cast<int64_t>(index)});
      for (int64_t value : task.makes)
        if (targets[value] >= 0)
          steps[rank].push_back({PlacedStep::Send, value});
    }
  }
  return steps;
}
