//===- TaskGraph.cpp - Ordered tasks and the values between them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/TaskGraph.h"

#include "DryRun.h"

using namespace llvm;
using namespace pipewright;

namespace {
/// A source of tasks for DryRun.h.
class GraphTasks {
public:
  explicit GraphTasks(const TaskGraph &graph)
      : graph(graph), makers(graph.values, -1), users(graph.values, -1) {
    for (auto [rank, tasks] : enumerate(graph.ranks))
      for (const TaskGraph::Task &task : tasks)
        for (int64_t value : task.makes)
          makers[value] = rank;
    for (auto [rank, tasks] : enumerate(graph.ranks))
      for (const TaskGraph::Task &task : tasks)
        for (int64_t value : task.uses)
          if (makers[value] != static_cast<int64_t>(rank))
            users[value] = rank;
  }

  int64_t getRanks() const { return graph.ranks.size(); }
  int64_t getValues() const { return graph.values; }
  size_t getItems(int64_t rank) const { return graph.ranks[rank].size(); }
  bool isTask(int64_t, size_t) const { return true; }
  double getDuration(int64_t rank, size_t index) const {
    return graph.ranks[rank][index].duration;
  }
  template <typename FunctionT>
  void forEachUse(int64_t rank, size_t index, FunctionT function) const {
    for (int64_t value : graph.ranks[rank][index].uses)
      function(value, makers[value] != rank);
  }
  template <typename FunctionT>
  void forEachMake(int64_t rank, size_t index, FunctionT function) const {
    for (int64_t value : graph.ranks[rank][index].makes)
      function(value, users[value] >= 0);
  }
  void send(int64_t, double) {}
  double getArrival(int64_t, double end) const { return end + graph.latency; }

private:
  const TaskGraph &graph;
  /// Per value, the rank that makes it and the other one that uses it, or -1.
  std::vector<int64_t> makers, users;
};
} // namespace

std::optional<std::vector<std::vector<PlacedStep>>>
pipewright::placeMessages(const TaskGraph &graph) {
  GraphTasks tasks(graph);
  MessagePlacer placer(tasks, ReceiveTime::Made);
  if (!placer.isComplete())
    return std::nullopt;
  std::vector<std::vector<PlacedStep>> steps(graph.ranks.size());
  MessagePlacer<GraphTasks>::Scratch scratch;
  for (auto [rank, list] : enumerate(steps))
    placer.place(
        rank, scratch,
        [&, &list = list](size_t index) {
          list.push_back({PlacedStep::Task, static_cast<int64_t>(index)});
        },
        [&, &list = list](int64_t value, bool isSend) {
          list.push_back({isSend ? PlacedStep::Send : PlacedStep::Recv, value});
        });
  return steps;
}
