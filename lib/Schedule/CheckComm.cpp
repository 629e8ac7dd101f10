//===- CheckComm.cpp - Proves that messages meet and cannot deadlock
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Network.h"
#include "pipewright/Schedule/Passes.h"
#include "pipewright/Schedule/ProgramSchedule.h"

#include "llvm/ADT/TypeSwitch.h"

namespace pipewright {
#define GEN_PASS_DEF_CHECKCOMM
#include "pipewright/Schedule/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Checks the programs of one kind.
class CommChecker {
public:
  CommChecker(const StageGraph &graph, const ProgramSchedule &programs)
      : graph(graph), programs(programs),
        microbatches(programs.schedule.getMicrobatches()),
        ops(programs.programs.size()) {
    network.ranks.resize(programs.programs.size());
  }

  LogicalResult run(int64_t credits);

private:
  /// Channel and micro-batch.
  using Value = std::pair<int64_t, int64_t>;
  /// What a rank holds and what it has sent, with the op that did it.
  struct Memory {
    llvm::DenseMap<Value, Operation *> held;
    llvm::DenseMap<Value, Operation *> sent;
  };

  void visitRun(pp::RunOp run, int64_t microbatch, Memory &memory);
  void visitSend(pp::SendOp send, int64_t rank, int64_t microbatch,
                 Memory &memory);
  void visitRecv(pp::RecvOp recv, int64_t rank, int64_t microbatch,
                 Memory &memory);
  bool checkEnd(Operation *op, int64_t channel, int64_t rank, bool isSend);
  void addTransfer(Operation *op, int64_t rank, int64_t peer, bool isSend,
                   Value value);
  void checkOrders();
  void checkDeadlock(int64_t credits);

  InFlightDiagnostic report(Operation *op, Rule rule) {
    hasFailed = true;
    return op->emitError() << getName(rule) << ": ";
  }
  pp::ChannelOp getChannel(int64_t channel) const {
    return graph.getChannels()[channel];
  }
  /// "'h' micro-batch 3".
  std::string name(Value value) const {
    return ("'" + getChannel(value.first).getSymName() + "' micro-batch " +
            Twine(value.second))
        .str();
  }
  std::string nameMessage(int64_t message) const {
    return name({message / microbatches, message % microbatches});
  }
  /// "send 'h' micro-batch 3" or "receive ...".
  std::string nameTransfer(const Transfer &transfer, bool opposite) const {
    return (transfer.isSend != opposite ? "send " : "receive ") +
           nameMessage(transfer.message);
  }

  const StageGraph &graph;
  const ProgramSchedule &programs;
  int64_t microbatches;
  Network network;
  /// Per rank, the ops of the network's steps.
  std::vector<std::vector<Operation *>> ops;
  bool hasFailed = false;
};
} // namespace

LogicalResult CommChecker::run(int64_t credits) {
  for (auto [number, program] : llvm::enumerate(programs.programs)) {
    int64_t rank = number;
    Memory memory;
    pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](pp::RunOp run) { visitRun(run, microbatch, memory); })
          .Case([&](pp::SendOp send) {
            visitSend(send, rank, microbatch, memory);
          })
          .Case([&](pp::RecvOp recv) {
            visitRecv(recv, rank, microbatch, memory);
          });
    });
  }
  if (!hasFailed)
    checkOrders();
  if (!hasFailed)
    checkDeadlock(credits);
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// Each rank by itself
//===----------------------------------------------------------------------===//

void CommChecker::visitRun(pp::RunOp run, int64_t microbatch, Memory &memory) {
  pp::TaskOp task = graph.getTask(run.getSymbol());
  for (int64_t channel : graph.getReads(task)) {
    Value value = {channel, microbatch};
    if (!memory.held.count(value))
      report(run, Rule::S3)
          << "task '" << task.getSymName() << "' reads " << name(value)
          << " before it is "
          << (graph.crossesRanks(channel) ? "received" : "made");
  }
  for (int64_t channel : graph.getWrites(task))
    memory.held[{channel, microbatch}] = run;
}

/// The rank must hold the channel's end, and the other end must be elsewhere.
bool CommChecker::checkEnd(Operation *op, int64_t channel, int64_t rank,
                           bool isSend) {
  int64_t owner =
      isSend ? graph.getSourceRank(channel) : graph.getTargetRank(channel);
  StringRef name = getChannel(channel).getSymName();
  if (owner != rank) {
    report(op, Rule::S2) << "rank " << rank << (isSend ? " sends" : " receives")
                         << " channel '" << name << "', whose "
                         << (isSend ? "source" : "target")
                         << " stage is on rank " << owner;
    return false;
  }
  if (!graph.crossesRanks(channel)) {
    report(op, Rule::S4) << "channel '" << name << "' joins two stages of rank "
                         << rank << ", which need no message";
    return false;
  }
  return true;
}

void CommChecker::visitSend(pp::SendOp send, int64_t rank, int64_t microbatch,
                            Memory &memory) {
  int64_t channel = graph.getChannelNumber(send.getSymbol());
  Value value = {channel, microbatch};
  if (!checkEnd(send, channel, rank, /*isSend=*/true))
    return;
  if (!memory.held.count(value)) {
    report(send, Rule::S3) << "sends " << name(value) << " before it is made";
    return;
  }
  auto [first, isFirst] = memory.sent.try_emplace(value, send);
  if (!isFirst) {
    report(send, Rule::S4)
            .append("sends ", name(value), " again")
            .attachNote(first->second->getLoc())
        << "the first time is here";
    return;
  }
  addTransfer(send, rank, graph.getTargetRank(channel), /*isSend=*/true, value);
}

void CommChecker::visitRecv(pp::RecvOp recv, int64_t rank, int64_t microbatch,
                            Memory &memory) {
  int64_t channel = graph.getChannelNumber(recv.getSymbol());
  Value value = {channel, microbatch};
  if (!checkEnd(recv, channel, rank, /*isSend=*/false))
    return;
  auto [first, isFirst] = memory.held.try_emplace(value, recv);
  if (!isFirst) {
    report(recv, Rule::S4)
            .append("receives ", name(value), " again")
            .attachNote(first->second->getLoc())
        << "the first time is here";
    return;
  }
  addTransfer(recv, rank, graph.getSourceRank(channel), /*isSend=*/false,
              value);
}

void CommChecker::addTransfer(Operation *op, int64_t rank, int64_t peer,
                              bool isSend, Value value) {
  NetworkStep &step = network.ranks[rank].emplace_back();
  step.action = ops[rank].size();
  step.transfers.push_back(
      {isSend, peer, value.first * microbatches + value.second});
  ops[rank].push_back(op);
}

//===----------------------------------------------------------------------===//
// The ranks side by side
//===----------------------------------------------------------------------===//

void CommChecker::checkOrders() {
  for (const OrderFault &fault : checkOrder(network)) {
    if (fault.received < 0) {
      report(ops[fault.source][fault.sendAction], Rule::S4)
          << "rank " << fault.target << " never receives "
          << nameMessage(fault.sent) << " from rank " << fault.source;
      continue;
    }
    Operation *recv = ops[fault.target][fault.recvAction];
    if (fault.sent < 0) {
      report(recv, Rule::S4)
          << "rank " << fault.source << " never sends "
          << nameMessage(fault.received) << " to rank " << fault.target;
      continue;
    }
    InFlightDiagnostic diag = report(recv, Rule::S4)
                              << "rank " << fault.target << " receives "
                              << nameMessage(fault.received) << " where rank "
                              << fault.source << " sends "
                              << nameMessage(fault.sent)
                              << "; a pair of ranks must use one order";
    diag.attachNote(ops[fault.source][fault.sendAction]->getLoc())
        << "it is sent here";
  }
}

void CommChecker::checkDeadlock(int64_t credits) {
  std::vector<Stall> cycle = findDeadlock(network, credits);
  if (cycle.empty())
    return;
  // Each rank is stuck before the other end of what the rank before it in the
  // cycle waits for.
  auto explain = [&](size_t index) {
    const Stall &stall = cycle[index];
    const Stall &waiting = cycle[(index + cycle.size() - 1) % cycle.size()];
    return "rank " + std::to_string(stall.rank) + " waits to " +
           nameTransfer(stall.transfer, /*opposite=*/false) +
           " before it can " +
           nameTransfer(waiting.transfer, /*opposite=*/true);
  };
  Operation *head = ops[cycle[0].rank][cycle[0].action];
  InFlightDiagnostic diag = report(head, Rule::S5) << explain(0);
  for (size_t index = 1; index < cycle.size(); ++index)
    diag.attachNote(ops[cycle[index].rank][cycle[index].action]->getLoc())
        << explain(index);
  diag.attachNote(head->getLoc())
      << "with blocking sends none of these ranks can go on; change the order "
         "or run '--pp-order-messages'";
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct CheckComm : public pipewright::impl::CheckCommBase<CheckComm> {
  using CheckCommBase::CheckCommBase;

  void runOnOperation() override {
    FailureOr<StageGraph> graph = StageGraph::get(getOperation());
    if (failed(graph))
      return signalPassFailure();
    bool hasFailed =
        graph->hasBackward() && failed(check(*graph, pp::ProgramKind::Step));
    if (failed(check(*graph, pp::ProgramKind::Eval)) || hasFailed)
      signalPassFailure();
  }

private:
  LogicalResult check(const StageGraph &graph, pp::ProgramKind kind) {
    FailureOr<ProgramSchedule> programs =
        readPrograms(getOperation(), graph, kind);
    if (failed(programs))
      return failure();
    return CommChecker(graph, *programs).run(credits);
  }
};
} // namespace
