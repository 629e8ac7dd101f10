//===- TaskGraphTests.cpp - Where messages are placed between tasks
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/TaskGraph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

using namespace pipewright;

namespace {
/// Random tasks, many of which end at the same time or take none; every value
/// is used on the rank that makes it or on one other.
class RandomGraph {
public:
  explicit RandomGraph(unsigned seed) : random(seed) {
    graph.ranks.resize(2 + draw(3));
    for (int64_t task = 0; task < 60; ++task)
      addTask();
  }

  TaskGraph graph;

private:
  int64_t draw(int64_t limit) {
    return std::uniform_int_distribution<int64_t>(0, limit - 1)(random);
  }

  void addTask() {
    int64_t rank = draw(graph.ranks.size());
    TaskGraph::Task task;
    task.duration = draw(4);
    for (int64_t value = 0; value < graph.values; ++value) {
      if (draw(4) != 0 || (users[value] >= 0 && users[value] != rank))
        continue;
      task.uses.push_back(value);
      users[value] = rank;
    }
    for (int64_t count = draw(3); count-- > 0;) {
      task.makes.push_back(graph.values++);
      users.push_back(-1);
    }
    graph.ranks[rank].push_back(task);
  }

  std::mt19937 random;
  std::vector<int64_t> users;
};

/// Runs placed steps where each send and receive is a call that returns when it
/// is done: a message moves once both ranks have come to it.
class BlockingRun {
public:
  explicit BlockingRun(const std::vector<std::vector<PlacedStep>> &steps)
      : steps(steps), next(steps.size()) {}

  bool reachesTheEnd() {
    while (advance()) {
    }
    for (size_t rank = 0; rank < steps.size(); ++rank)
      if (next[rank] < steps[rank].size())
        return false;
    return true;
  }

private:
  bool advance() {
    std::map<int64_t, size_t> waiting; // The ranks that are at a message.
    for (size_t rank = 0; rank < steps.size(); ++rank) {
      if (next[rank] == steps[rank].size())
        continue;
      const PlacedStep &step = steps[rank][next[rank]];
      if (step.kind == PlacedStep::Task) {
        ++next[rank];
        return true;
      }
      auto [other, isFirst] = waiting.try_emplace(step.index, rank);
      if (isFirst)
        continue;
      ++next[rank];
      ++next[other->second];
      return true;
    }
    return false;
  }

  const std::vector<std::vector<PlacedStep>> &steps;
  std::vector<size_t> next;
};
} // namespace

TEST(PlaceMessages, NoTransportDeadlocksRandomTasks) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    auto steps = placeMessages(random.graph);
    ASSERT_TRUE(steps) << seed;
    EXPECT_TRUE(BlockingRun(*steps).reachesTheEnd()) << seed;
  }
}

TEST(PlaceMessages, TasksHaveWhatTheyUse) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    RandomGraph random(seed);
    auto steps = placeMessages(random.graph);
    ASSERT_TRUE(steps) << seed;
    for (size_t rank = 0; rank < steps->size(); ++rank) {
      std::vector<bool> has(random.graph.values);
      for (const PlacedStep &step : (*steps)[rank]) {
        if (step.kind != PlacedStep::Task) {
          // What is sent was made, and what is received was not there.
          EXPECT_EQ(has[step.index], step.kind == PlacedStep::Send) << seed;
          has[step.index] = true;
          continue;
        }
        const TaskGraph::Task &task = random.graph.ranks[rank][step.index];
        for (int64_t value : task.uses)
          EXPECT_TRUE(has[value]) << seed;
        for (int64_t value : task.makes)
          has[value] = true;
      }
    }
  }
}

// Rank 1 computes from 2 to 6 while rank 0 makes the second value, at 4: the
// receive is posted at 2. The first was not there when rank 1 began.
TEST(PlaceMessages, ReceivesComeBeforeTheTaskDuringWhichTheValueIsMade) {
  TaskGraph graph;
  graph.values = 2;
  graph.ranks = {{{/*duration=*/2, {}, {0}}, {/*duration=*/2, {}, {1}}},
                 {{/*duration=*/4, {0}, {}}, {/*duration=*/4, {1}, {}}}};
  auto steps = placeMessages(graph);
  ASSERT_TRUE(steps);
  std::vector<std::pair<int, int64_t>> found;
  for (const PlacedStep &step : (*steps)[1])
    found.emplace_back(step.kind, step.index);
  EXPECT_EQ(found,
            (std::vector<std::pair<int, int64_t>>{{PlacedStep::Recv, 0},
                                                  {PlacedStep::Recv, 1},
                                                  {PlacedStep::Task, 0},
                                                  {PlacedStep::Task, 1}}));
}
