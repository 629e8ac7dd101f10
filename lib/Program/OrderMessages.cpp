//===- OrderMessages.cpp - One order of all messages, on every rank
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/Passes.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/Builders.h"

namespace pipewright {
#define GEN_PASS_DEF_ORDERMESSAGES
#include "pipewright/Program/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Writes one rank's program anew, with its messages where they belong.
class ProgramRewriter {
public:
  ProgramRewriter(const StageGraph &graph, const ProgramSchedule &programs,
                  int64_t rank)
      : graph(graph), program(programs.programs[rank]), ops(programs.ops[rank]),
        schedule(programs.schedule), actions(schedule.getActions(rank)),
        microbatches(schedule.getShape().microbatches),
        builder(program->getContext()) {}

  void rewrite(ArrayRef<PlacedStep> steps) {
    auto body = std::make_unique<Block>();
    builder.setInsertionPointToEnd(body.get());
    for (const PlacedStep &step : steps) {
      if (step.kind == PlacedStep::Task)
        writeTask();
      else
        writeMessage(step);
    }
    writeUpdates();
    program.getBody().front().erase();
    program.getBody().push_back(body.release());
  }

private:
  /// Updates keep their place among the tasks.
  void writeUpdates() {
    for (; next < ops.size() && isa<pp::StepOp>(ops[next]); ++next)
      pp::StepOp::create(builder, ops[next]->getLoc());
  }

  void writeTask() {
    writeUpdates();
    Operation *op = ops[next];
    OpBuilder inside = builder;
    pp::OverlapOp copy;
    if (isa<pp::OverlapOp>(op))
      copy = pp::OverlapOp::create(builder, op->getLoc(), op->getNumRegions());
    forEachRun(op, actions[next], [&](pp::RunOp run, const Action &part) {
      unsigned branch = run->getParentRegion()->getRegionNumber();
      if (copy)
        inside.setInsertionPointToEnd(&copy->getRegion(branch).front());
      writeRun(inside, run.getLoc(), graph.getTask(run.getSymbol()),
               schedule.getNumberInStep(part.microbatch, part.direction));
    });
    ++next;
  }

  void writeMessage(const PlacedStep &step) {
    pp::ChannelOp channel = graph.getChannels()[step.index / microbatches];
    int64_t microbatch = step.index % microbatches;
    if (step.kind == PlacedStep::Send)
      pp::SendOp::create(builder, channel.getLoc(), channel.getSymName(),
                         microbatch);
    else
      pp::RecvOp::create(builder, channel.getLoc(), channel.getSymName(),
                         microbatch);
  }

  const StageGraph &graph;
  pp::ProgramOp program;
  ArrayRef<Operation *> ops;
  const Schedule &schedule;
  ArrayRef<Action> actions;
  int64_t microbatches;
  OpBuilder builder;
  /// The next of the rank's tasks and updates.
  size_t next = 0;
};

struct OrderMessages
    : public pipewright::impl::OrderMessagesBase<OrderMessages> {
  void runOnOperation() override {
    FailureOr<StageGraph> graph = StageGraph::get(getOperation());
    // Eval programs finish one micro-batch after the other, so their messages
    // have only one order; there is nothing to gain, and a micro-batch that is
    // received early would need memory of its own.
    if (failed(graph) || (graph->hasBackward() && failed(order(*graph))))
      signalPassFailure();
  }

private:
  LogicalResult order(const StageGraph &graph) {
    FailureOr<ProgramSchedule> programs =
        readPrograms(getOperation(), graph, pp::ProgramKind::Step);
    if (failed(programs))
      return failure();
    TaskGraph tasks = buildTaskGraph(*programs, graph, graph.getCosts());
    std::optional<std::vector<std::vector<PlacedStep>>> placed =
        placeMessages(tasks);
    if (!placed)
      return getOperation().emitError(
          "the ranks' tasks wait for each other; '--pp-check-schedule' tells "
          "which");
    for (auto [rank, steps] : llvm::enumerate(*placed))
      ProgramRewriter(graph, *programs, rank).rewrite(steps);
    return success();
  }
};
} // namespace
