//===- ProgramScheduleTests.cpp - Schedules as programs, and back
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/ProgramSchedule.h"
#include "pipewright/Schedule/Recomputation.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

namespace {
/// What the programs of \p schedule run: a stage that ever has B and W apart
/// has a task for each of them and none for both, and the update comes last. In
/// a pair the two tasks are one backward.
Schedule asPrograms(const Schedule &schedule, const StageGraph &graph) {
  Schedule result = schedule;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    std::vector<Action> actions;
    for (const Action &action : schedule.getActions(rank)) {
      actions.push_back(action);
      if (action.kind != ActionKind::BW ||
          graph.getParts(action.stage, pp::Role::B, action.direction).empty())
        continue;
      actions.back().kind = ActionKind::B;
      actions.push_back(actions.back());
      actions.back().kind = ActionKind::W;
    }
    actions.push_back(ActionKind::Step);
    result.setActions(rank, std::move(actions));
  }
  return result;
}

std::string describeAll(llvm::ArrayRef<Action> actions) {
  std::string text;
  for (const Action &action : actions)
    text += describe(action) + "\n";
  return text;
}

/// A new schedule is tested here without a line of test code.
class EveryProgram : public testing::TestWithParam<ScheduleInfo> {
protected:
  void writeAndRead(const Schedule &schedule);
};

void EveryProgram::writeAndRead(const Schedule &schedule) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = buildSkeletonModule(schedule, &context);
  ASSERT_TRUE(module);
  FailureOr<StageGraph> graph = StageGraph::get(*module);
  ASSERT_TRUE(succeeded(graph));
  FailureOr<ProgramSchedule> programs =
      readPrograms(*module, *graph, pp::ProgramKind::Step);
  ASSERT_TRUE(succeeded(programs));

  EXPECT_EQ(programs->schedule.getName(), schedule.getName());
  EXPECT_EQ(programs->schedule.getPlacement(), schedule.getPlacement());
  Schedule expected = asPrograms(schedule, *graph);
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    EXPECT_EQ(describeAll(programs->schedule.getActions(rank)),
              describeAll(expected.getActions(rank)))
        << "rank " << rank;
  CheckOptions options;
  options.roles = graph->getRoles();
  EXPECT_EQ(toString(checkSchedule(programs->schedule, options)), "");
}

TEST_P(EveryProgram, GivesTheScheduleBack) {
  llvm::Expected<Schedule> schedule = buildSchedule(
      GetParam().name, {/*ranks=*/4, /*microbatches=*/8, GetParam().chunks});
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  writeAndRead(*schedule);
  // R stands before the backward, or the pair, that needs it.
  writeAndRead(addRecomputation(*schedule));
}

INSTANTIATE_TEST_SUITE_P(
    Registry, EveryProgram,
    testing::ValuesIn(ScheduleRegistry::get().getEntries()),
    [](const testing::TestParamInfo<ScheduleInfo> &info) {
      std::string name = info.param.name.str();
      llvm::erase(name, '-');
      return name;
    });

/// F and BW in two parts each, of two layers; 2 us of an exchange are in the
/// costs of the second.
TEST(Stages, CostTheirPartsWithoutExchanges) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, pp::PPDialect>();
  auto module = parseSourceString<ModuleOp>(R"(
    pp.model @m(%x: tensor<2xf32> = #pp.input_spec<"x", axis = 0>) {
      %0 = pp.layer "a" @f(%x) parameters [] cost <flops_f = 0, flops_b = 0, flops_w = 0, picoseconds_f = 10000000, picoseconds_b = 20000000, picoseconds_w = 5000000, activation_bytes = 0, residual_bytes = 0, source = formula> : (tensor<2xf32>) -> tensor<2xf32>
      %1 = pp.exchanged %0 peers 2 picoseconds 2000000 : tensor<2xf32>
      %2 = pp.layer "b" @f(%1) parameters [] cost <flops_f = 0, flops_b = 0, flops_w = 0, picoseconds_f = 32000000, picoseconds_b = 42000000, picoseconds_w = 6000000, activation_bytes = 0, residual_bytes = 0, source = formula> : (tensor<2xf32>) -> tensor<2xf32>
      pp.return outputs ["y"] %2 : tensor<2xf32>
    }
    nn.function @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      nn.return %x : tensor<2xf32>
    }
    pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a", "b"] parameters [] cost <flops_f = 0, flops_b = 0, flops_w = 0, picoseconds_f = 42000000, picoseconds_b = 62000000, picoseconds_w = 11000000, activation_bytes = 0, residual_bytes = 0, source = formula>
    pp.exchange @x of @s0 peers 2 : tensor<2xf32>
    pp.exchange @dx of @s0 peers 2 : tensor<2xf32>
    pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "x">) {
      %0 = nn.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
      pp.yield %0 : tensor<2xf32>
    }
    pp.task @s0.f.1 role F stage @s0 part 1 (%x: tensor<2xf32> = <received "x">) -> (tensor<2xf32> = <output "y">) {
      %0 = nn.call @f(%x) : (tensor<2xf32>) -> tensor<2xf32>
      pp.yield %0 : tensor<2xf32>
    }
    pp.task @s0.bw role BW stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <sent "dx">) {
      pp.yield %x : tensor<2xf32>
    }
    pp.task @s0.bw.1 role BW stage @s0 part 1 (%x: tensor<2xf32> = <received "dx">) -> () {
      pp.yield
    }
  )",
                                            &context);
  ASSERT_TRUE(module);
  FailureOr<StageGraph> graph = StageGraph::get(*module);
  ASSERT_TRUE(succeeded(graph));
  CostModel costs = graph->getCosts();
  const StageCost &cost = costs.stages.front();
  EXPECT_EQ(cost.f, 42);
  EXPECT_FALSE(cost.hasWeightTask);
  ASSERT_EQ(cost.forwardParts.size(), 2u);
  EXPECT_EQ(cost.forwardParts[0].compute, 10);
  EXPECT_EQ(cost.forwardParts[0].exchange, 2);
  EXPECT_EQ(cost.forwardParts[1].compute, 30);
  EXPECT_EQ(cost.forwardParts[1].exchange, 0);
  ASSERT_EQ(cost.backwardParts.size(), 2u);
  EXPECT_EQ(cost.backwardParts[0].compute, 46);
  EXPECT_EQ(cost.backwardParts[0].exchange, 2);
  EXPECT_EQ(cost.backwardParts[1].compute, 25);
}

/// Only two schedules have pairs, so the others do not show that they are kept.
TEST(Programs, KeepPairs) {
  MLIRContext context;
  llvm::Expected<Schedule> schedule = buildSchedule("dualpipe", {2, 4, 1});
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  int64_t pairs = 0, overlaps = 0;
  for (int64_t rank = 0; rank < 2; ++rank)
    pairs +=
        llvm::count_if(schedule->getActions(rank), [](const Action &action) {
          return action.kind == ActionKind::FB;
        });
  OwningOpRef<ModuleOp> module = buildSkeletonModule(*schedule, &context);
  module->walk([&](pp::OverlapOp) { ++overlaps; });
  EXPECT_GT(pairs, 0);
  EXPECT_EQ(overlaps, pairs);
}
} // namespace
