//===- DeadlockTests.cpp - What each transport makes of each schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The obvious place of a message, a receive right before its consumer and a
// send right after its producer, deadlocks most schedules on most transports;
// the global order deadlocks none.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/ADT/StringExtras.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

namespace {
struct Row {
  /// A schedule of the registry.
  const char *name;
  /// Per transport of getTransports(), whether the schedule runs ('.') or
  /// deadlocks ('D') with 4 ranks and 16 micro-batches, and with 2 and 4. Then
  /// whether the sends from one rank to another are received in their order,
  /// once for all and once per kind: '=' or 'x'.
  const char *large;
  const char *small;
  /// 0: as many as the schedule usually has.
  int64_t chunks = 0;
};
} // namespace

static std::string judge(const Row &row, int64_t ranks, int64_t microbatches) {
  Expected<Schedule> built =
      buildSchedule(row.name, {ScheduleShape{ranks, microbatches, row.chunks}});
  if (!built)
    return toString(built.takeError());
  CostModel costs = makeUniformCosts(*built, {1, 1, 1});
  Schedule schedule = addCommunication(*built, costs, MessageOrder::Naive);
  std::string verdicts;
  for (Transport transport : getTransports()) {
    Network network = buildNetwork(schedule, transport);
    verdicts += findDeadlock(network, /*credits=*/0).empty() ? '.' : 'D';
  }
  for (Transport transport : {Transport::Stream, Transport::StreamPerChannel})
    verdicts +=
        checkOrder(buildNetwork(schedule, transport)).empty() ? '=' : 'x';
  return verdicts;
}

/// Placing messages again drops those that are there, and keeps the update.
TEST(AddCommunication, ReplacesTransfers) {
  Expected<Schedule> built = buildSchedule("1f1b", {ScheduleShape{3, 4, 1}});
  ASSERT_TRUE(bool(built));
  for (int64_t rank = 0; rank < 3; ++rank)
    built->add(rank, {ActionKind::Step});
  CostModel costs = makeUniformCosts(*built, {1, 1, 1});
  Schedule naive = addCommunication(*built, costs, MessageOrder::Naive);
  Schedule global = addCommunication(naive, costs);
  Schedule expected = addCommunication(*built, costs);
  for (int64_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(global.getActions(rank), expected.getActions(rank));
    EXPECT_EQ(global.getActions(rank).back().kind, ActionKind::Step);
  }
}

static std::string makeTestName(StringRef name) {
  std::string text = name.str();
  for (char &c : text)
    if (!isAlnum(c))
      c = '_';
  return text;
}

class NaiveOrder : public testing::TestWithParam<Row> {};

TEST_P(NaiveOrder, DeadlocksAsKnown) {
  EXPECT_EQ(judge(GetParam(), 4, 16), GetParam().large);
  EXPECT_EQ(judge(GetParam(), 2, 4), GetParam().small);
}

// The columns: blocking, grouped, stream, stream-per-peer, stream-per-kind,
// stream-per-peer-kind, stream-per-channel; one queue, a queue per kind.
static const Row rows[] = {
    {"gpipe", ".......==", ".......=="},
    {"1f1b", "D.DD...==", "D.DD...=="},
    {"eager-1f1b", "D.DD...==", "D.DD...=="},
    {"zb-h1", "D.DD...==", "D.DD...=="},
    {"zb-h2", "DDDD...==", "DDDD...=="},
    {"interleaved-1f1b", "DDDDD..==", "DDDDDD.=="},
    {"interleaved-zb", "DDDDD..==", "DDDDDD.x="},
    {"looped-bfs", "DDD.D..==", "DDDDDD.=="},
    {"zb-v", "DDDDDD.x=", "DDDDDD.x="},
    {"dualpipe", "DDDDDD.==", "DDDDDD.=="},
    {"dualpipev", "DDDDDD.x=", "DDDDDD.=="},
    {"v-half", "DDDDDD.x=", "DDDDDD.x="},
    // Posted in groups it hangs because rank 0 sends its third micro-batch in
    // one group with the receive of the first one's way back, while rank 1 asks
    // for the third only after the backward of the first.
    {"v-min", "DDDDDD.x=", "DDDDDD.x="},
    {"chimera", "D.DDDD.==", "D.DDDD.=="},
    {"hanayo", "DDDDDD.x=", "DDDDDD.=="},
    {"hanayo", "DDDDDDDxx", "DDDDDDDxx", /*chunks=*/4}};

INSTANTIATE_TEST_SUITE_P(Table, NaiveOrder, testing::ValuesIn(rows),
                         [](const testing::TestParamInfo<Row> &info) {
                           return makeTestName(info.param.name) +
                                  std::to_string(info.param.chunks);
                         });

/// What makes the global order safe holds for every schedule of the registry,
/// every shape and every transport.
class GlobalOrder : public testing::TestWithParam<ScheduleInfo> {};

/// Checks \p built with messages in the global order of \p costs.
static void expectRuns(const Schedule &built, const CostModel &costs) {
  Schedule schedule = addCommunication(built, costs);
  for (Transport transport : getTransports()) {
    CheckOptions options;
    options.transport = transport;
    EXPECT_EQ(toString(checkSchedule(schedule, options)), "")
        << built.getRanks() << " ranks, " << built.getShape().microbatches
        << " micro-batches, " << getName(transport).str();
  }
}

TEST_P(GlobalOrder, RunsOnEveryTransport) {
  int accepted = 0;
  for (int64_t ranks : {1, 2, 3, 4, 6, 8})
    for (int64_t microbatches : {1, 2, 5, 8, 16, 24}) {
      // A search takes its time with each shape.
      if (GetParam().isSearch && (ranks > 3 || microbatches > 5))
        continue;
      Expected<Schedule> built = buildSchedule(
          GetParam().name, {ScheduleShape{ranks, microbatches, 0}});
      if (!built) {
        consumeError(built.takeError());
        continue;
      }
      ++accepted;
      for (double latency : {0.0, 0.5, 7.0})
        expectRuns(*built, makeUniformCosts(*built, {1, 1, 1}, latency));
    }
  EXPECT_GT(accepted, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Registry, GlobalOrder,
    testing::ValuesIn(ScheduleRegistry::get().getEntries()),
    [](const testing::TestParamInfo<ScheduleInfo> &info) {
      return makeTestName(info.param.name);
    });
