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
  CommChecker(const StageGraph &graph, const ProgramSchedule &programs,
              Transport transport, int64_t credits)
      : graph(graph), programs(programs),
        microbatches(programs.schedule.getShape().microbatches),
        credits(credits),
        builder(programs.programs.size(),
                graph.getChannels().size() * microbatches, transport),
        ops(programs.programs.size()) {}

  LogicalResult run();

private:
  /// Channel and micro-batch.
  using Value = std::pair<int64_t, int64_t>;
  /// What a rank holds and what it has sent, with the op that did it.
  struct Memory {
    llvm::DenseMap<Value, Operation *> held;
    llvm::DenseMap<Value, Operation *> sent;
  };

  void visitRun(pp::RunOp run, int64_t rank, int64_t microbatch,
                Memory &memory);
  void visitSend(pp::SendOp send, int64_t rank, int64_t microbatch,
                 Memory &memory);
  void visitRecv(pp::RecvOp recv, int64_t rank, int64_t microbatch,
                 Memory &memory);
  bool checkEnd(Operation *op, int64_t channel, int64_t rank, bool isSend);
  void addTransfer(Operation *op, int64_t rank, int64_t peer, bool isSend,
                   Value value);
  void checkOrders(const Network &network);
  void checkDeadlock(const Network &network);
  std::string explain(const Stall &stall, const Stall &waiting);

  InFlightDiagnostic report(Operation *op, Rule rule) {
    hasFailed = true;
    return op->emitError() << getName(rule) << ": ";
  }
  pp::ChannelOp getChannel(int64_t channel) const {
    return graph.getChannels()[channel];
  }
  int64_t getMessage(Value value) const {
    return value.first * microbatches + value.second;
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
  int64_t credits;
  NetworkBuilder builder;
  /// Per rank, the ops of the network's actions.
  std::vector<std::vector<Operation *>> ops;
  bool hasFailed = false;
};
} // namespace

LogicalResult CommChecker::run() {
  for (auto [number, program] : llvm::enumerate(programs.programs)) {
    int64_t rank = number;
    Memory memory;
    pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
      if (microbatch < 0 || microbatch >= microbatches) {
        report(op, Rule::S1) << "there is no micro-batch " << microbatch
                             << "; they are 0 to " << microbatches - 1;
        return;
      }
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](pp::RunOp run) { visitRun(run, rank, microbatch, memory); })
          .Case([&](pp::SendOp send) {
            visitSend(send, rank, microbatch, memory);
          })
          .Case([&](pp::RecvOp recv) {
            visitRecv(recv, rank, microbatch, memory);
          });
    });
  }
  if (hasFailed)
    return failure();
  Network network = builder.take();
  checkOrders(network);
  if (!hasFailed)
    checkDeadlock(network);
  return failure(hasFailed);
}

//===----------------------------------------------------------------------===//
// Each rank by itself
//===----------------------------------------------------------------------===//

void CommChecker::visitRun(pp::RunOp run, int64_t rank, int64_t microbatch,
                           Memory &memory) {
  pp::TaskOp task = graph.getTask(run.getSymbol());
  SmallVector<int64_t> uses;
  for (int64_t channel : graph.getReads(task)) {
    Value value = {channel, microbatch};
    uses.push_back(getMessage(value));
    if (!memory.held.count(value))
      report(run, Rule::S3)
          << "task '" << task.getSymName() << "' reads " << name(value)
          << " before it is "
          << (graph.crossesRanks(channel) ? "received; receive it first"
                                          : "made; run its task first");
  }
  for (int64_t channel : graph.getWrites(task))
    memory.held[{channel, microbatch}] = run;
  builder.addCompute(rank, ops[rank].size(), uses);
  ops[rank].push_back(run);
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
                         << " stage is on rank " << owner << "; move it there";
    return false;
  }
  if (!graph.crossesRanks(channel)) {
    report(op, Rule::S4) << "channel '" << name << "' joins two stages of rank "
                         << rank << ", which need no message; remove it";
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
    report(send, Rule::S3) << "sends " << name(value)
                           << " before it is made; run its task first";
    return;
  }
  auto [first, isFirst] = memory.sent.try_emplace(value, send);
  if (!isFirst) {
    report(send, Rule::S4)
            .append("sends ", name(value), " again; remove one")
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
            .append("receives ", name(value), " again; remove one")
            .attachNote(first->second->getLoc())
        << "the first time is here";
    return;
  }
  addTransfer(recv, rank, graph.getSourceRank(channel), /*isSend=*/false,
              value);
}

void CommChecker::addTransfer(Operation *op, int64_t rank, int64_t peer,
                              bool isSend, Value value) {
  bool isGradient =
      getChannel(value.first).getKind() == pp::ChannelKind::Gradient;
  Transfer transfer = {
      isSend, isGradient ? MessageKind::Gradient : MessageKind::Activation,
      peer, getMessage(value)};
  builder.addTransfers(rank, ops[rank].size(), transfer);
  ops[rank].push_back(op);
}

//===----------------------------------------------------------------------===//
// The ranks side by side
//===----------------------------------------------------------------------===//

void CommChecker::checkOrders(const Network &network) {
  for (const OrderFault &fault : checkOrder(network)) {
    if (fault.received < 0) {
      report(ops[fault.source][fault.sendAction], Rule::S4)
          << "rank " << fault.target << " never receives "
          << nameMessage(fault.sent) << " from rank " << fault.source
          << "; add a 'pp.recv'";
      continue;
    }
    Operation *recv = ops[fault.target][fault.recvAction];
    if (fault.sent < 0) {
      report(recv, Rule::S4) << "rank " << fault.source << " never sends "
                             << nameMessage(fault.received) << " to rank "
                             << fault.target << "; add a 'pp.send'";
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

/// What \p stall is about; \p waiting is the one before it in the cycle, which
/// waits for what comes after \p stall.
std::string CommChecker::explain(const Stall &stall, const Stall &waiting) {
  std::string rank = "rank " + std::to_string(stall.rank) + " waits to ";
  std::string later;
  if (waiting.transfer)
    later =
        " before it can " + nameTransfer(*waiting.transfer, /*opposite=*/true);
  if (stall.transfer)
    return rank + nameTransfer(*stall.transfer, /*opposite=*/false) + later;
  Operation *op = ops[stall.rank][stall.action];
  if (auto run = dyn_cast<pp::RunOp>(op))
    return rank + "run task '" + run.getSymbol().str() + "'" + later;
  return rank + (isa<pp::SendOp>(op) ? "post a send" : "post a receive") +
         later;
}

void CommChecker::checkDeadlock(const Network &network) {
  std::vector<Stall> cycle = findDeadlock(network, credits);
  if (cycle.empty())
    return;
  Operation *head = ops[cycle[0].rank][cycle[0].action];
  InFlightDiagnostic diag = report(head, Rule::S5)
                            << explain(cycle[0], cycle.back());
  for (auto [waiting, stall] : llvm::zip(cycle, llvm::drop_begin(cycle)))
    diag.attachNote(ops[stall.rank][stall.action]->getLoc())
        << explain(stall, waiting);
  diag.attachNote(head->getLoc())
      << "with transport '" << getName(network.transport)
      << "' none of these can go on; change the order or run "
         "'--pp-order-messages'";
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct CheckComm : public pipewright::impl::CheckCommBase<CheckComm> {
  using CheckCommBase::CheckCommBase;

  void runOnOperation() override {
    std::optional<Transport> model = parseTransport(transport);
    if (!model) {
      emitError(getOperation().getLoc())
          << "there is no transport '" << transport << "'; there are "
          << listTransports();
      return signalPassFailure();
    }
    FailureOr<StageGraph> graph = StageGraph::get(getOperation());
    if (failed(graph))
      return signalPassFailure();
    bool hasFailed = graph->hasBackward() &&
                     failed(check(*graph, pp::ProgramKind::Step, *model));
    if (failed(check(*graph, pp::ProgramKind::Eval, *model)) || hasFailed)
      signalPassFailure();
  }

private:
  LogicalResult check(const StageGraph &graph, pp::ProgramKind kind,
                      Transport model) {
    FailureOr<ProgramSchedule> programs =
        readPrograms(getOperation(), graph, kind);
    if (failed(programs))
      return failure();
    return CommChecker(graph, *programs, model, credits).run();
  }
};
} // namespace
