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
  LogicalResult checkEnds(pp::ChannelOp channel);
  LogicalResult checkExchange(pp::ExchangeOp exchange);
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

LogicalResult VerifyComm::checkEnds(pp::ChannelOp channel) {
  auto binding = pp::BindingAttr::get(
      channel.getContext(), pp::BindingKind::Channel, channel.getSymName());
  int64_t writers = 0, readers = 0;
  for (auto task : getOperation().getOps<pp::TaskOp>()) {
    int64_t writes = llvm::count(task.getResultBindings(), binding);
    int64_t reads = llvm::count(task.getArgumentBindings(), binding);
    writers += writes;
    readers += reads;
    if (writes && task.getStage() != channel.getSource())
      return task.emitOpError("writes channel '")
             << channel.getSymName() << "', which leaves stage '"
             << channel.getSource() << "'";
    if (reads && task.getStage() != channel.getTarget())
      return task.emitOpError("reads channel '")
             << channel.getSymName() << "', which arrives at stage '"
             << channel.getTarget() << "'";
  }
  if (writers != 1)
    return channel.emitOpError("is written ") << writers << " times";
  if (readers == 0)
    return channel.emitOpError("is never read");
  return success();
}

/// Replicas send what one part of a task makes, and later tasks of the stage
/// read what arrives.
LogicalResult VerifyComm::checkExchange(pp::ExchangeOp exchange) {
  auto bind = [&](pp::BindingKind kind) {
    return pp::BindingAttr::get(exchange.getContext(), kind,
                                exchange.getSymName());
  };
  int64_t writers = 0, readers = 0;
  for (auto task : getOperation().getOps<pp::TaskOp>()) {
    int64_t writes =
        llvm::count(task.getResultBindings(), bind(pp::BindingKind::Sent));
    int64_t reads = llvm::count(task.getArgumentBindings(),
                                bind(pp::BindingKind::Received));
    writers += writes;
    readers += reads;
    if ((writes || reads) && task.getStage() != exchange.getStage())
      return task.emitOpError("uses exchange '")
             << exchange.getSymName() << "', which is of stage '"
             << exchange.getStage() << "'";
  }
  if (writers != 1)
    return exchange.emitOpError("is written ") << writers << " times";
  if (readers == 0)
    return exchange.emitOpError("is never read");
  return success();
}

void VerifyComm::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (auto channel : getOperation().getOps<pp::ChannelOp>())
    if (failed(checkNeighbours(channel, symbols)) || failed(checkEnds(channel)))
      return signalPassFailure();
  for (auto exchange : getOperation().getOps<pp::ExchangeOp>())
    if (failed(checkExchange(exchange)))
      return signalPassFailure();
}
