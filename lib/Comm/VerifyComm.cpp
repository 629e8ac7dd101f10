//===- VerifyComm.cpp - Check the border of the phase Comm
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Comm/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_VERIFYCOMM
#include "pipewright/Comm/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct VerifyComm : pipewright::impl::VerifyCommBase<VerifyComm> {
  void runOnOperation() override;

private:
  LogicalResult checkNeighbours(pp::ChannelOp channel, SymbolTable &symbols);
  /// Who fills the memory of a message, who reads it, and of which stages they
  /// are.
  struct Ends {
    pp::BindingAttr written, read;
    StringRef source, target;
  };
  LogicalResult checkEnds(Operation *declared, const Ends &ends);
  LogicalResult checkEnds(pp::ChannelOp channel);
  LogicalResult checkEnds(pp::ExchangeOp exchange);
};
} // namespace

LogicalResult VerifyComm::checkNeighbours(pp::ChannelOp channel,
                                          SymbolTable &symbols) {
  int64_t source = symbols.lookup<pp::StageOp>(channel.getSource()).getIndex();
  int64_t target = symbols.lookup<pp::StageOp>(channel.getTarget()).getIndex();
  if (std::abs(source - target) == 1)
    return success();
  return channel.emitOpError("joins stages ")
         << source << " and " << target
         << ", which are not neighbours; run '--pp-insert-transfers' first";
}

LogicalResult VerifyComm::checkEnds(Operation *declared, const Ends &ends) {
  auto name = SymbolTable::getSymbolName(declared);
  StringRef kind = declared->getName().stripDialect();
  int64_t writers = 0, readers = 0;
  for (auto task : getOperation().getOps<pp::TaskOp>()) {
    int64_t writes = llvm::count(task.getResultBindings(), ends.written);
    int64_t reads = llvm::count(task.getArgumentBindings(), ends.read);
    writers += writes;
    readers += reads;
    if (writes && task.getStage() != ends.source)
      return task.emitOpError("writes ")
             << kind << " '" << name.getValue() << "', which leaves stage '"
             << ends.source << "'";
    if (reads && task.getStage() != ends.target)
      return task.emitOpError("reads ")
             << kind << " '" << name.getValue() << "', which arrives at stage '"
             << ends.target << "'";
  }
  if (writers != 1)
    return declared->emitOpError("is written ") << writers << " times";
  if (readers == 0)
    return declared->emitOpError("is never read");
  return success();
}

LogicalResult VerifyComm::checkEnds(pp::ChannelOp channel) {
  auto binding = pp::BindingAttr::get(
      channel.getContext(), pp::BindingKind::Channel, channel.getSymName());
  return checkEnds(
      channel, {binding, binding, channel.getSource(), channel.getTarget()});
}

/// Replicas send what one part of a task makes, and later tasks of the stage
/// read what arrives.
LogicalResult VerifyComm::checkEnds(pp::ExchangeOp exchange) {
  auto bind = [&](pp::BindingKind kind) {
    return pp::BindingAttr::get(exchange.getContext(), kind,
                                exchange.getSymName());
  };
  return checkEnds(exchange, {bind(pp::BindingKind::Sent),
                              bind(pp::BindingKind::Received),
                              exchange.getStage(), exchange.getStage()});
}

void VerifyComm::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto channel : getOperation().getOps<pp::ChannelOp>())
    if (failed(checkNeighbours(channel, symbols)) || failed(checkEnds(channel)))
      return signalPassFailure();
  for (auto exchange : getOperation().getOps<pp::ExchangeOp>())
    if (failed(checkEnds(exchange)))
      return signalPassFailure();
}
