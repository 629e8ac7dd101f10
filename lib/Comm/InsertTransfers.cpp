//===- InsertTransfers.cpp - Pass on what skips stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Comm/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_INSERTTRANSFERS
#include "pipewright/Comm/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct InsertTransfers
    : pipewright::impl::InsertTransfersBase<InsertTransfers> {
  void runOnOperation() override;

private:
  LogicalResult collectStages(uint64_t direction);
  LogicalResult split(pp::ChannelOp channel, SymbolTable &symbols);
  pp::ChannelOp addHop(pp::ChannelOp before, int64_t source, int64_t target,
                       SymbolTable &symbols);
  pp::TaskOp findForwarder(pp::StageOp stage, pp::ChannelKind kind);

  /// Of the direction that is worked on, by index.
  SmallVector<pp::StageOp> stages;
};
} // namespace

static pp::BindingAttr bindChannel(pp::ChannelOp channel) {
  return pp::BindingAttr::get(channel.getContext(), pp::BindingKind::Channel,
                              channel.getSymName());
}

static ArrayAttr append(ArrayAttr array, Attribute element) {
  SmallVector<Attribute> elements(array.getValue());
  elements.push_back(element);
  return ArrayAttr::get(array.getContext(), elements);
}

/// Makes \p task receive \p from and send the same value over \p to.
static void passOn(pp::TaskOp task, pp::ChannelOp from, pp::ChannelOp to) {
  Value value = task.getBody().addArgument(from.getType(), task.getLoc());
  task.setArgumentBindingsAttr(
      append(task.getArgumentBindings(), bindChannel(from)));
  task.getYield().getValuesMutable().append(value);
  task.setResultBindingsAttr(append(task.getResultBindings(), bindChannel(to)));
}

/// Makes the tasks of \p stage read \p to instead of \p from.
static void readInstead(ModuleOp module, pp::StageOp stage, pp::ChannelOp from,
                        pp::ChannelOp to) {
  for (auto task : module.getOps<pp::TaskOp>()) {
    if (task.getStage() != stage.getSymName())
      continue;
    SmallVector<Attribute> bindings(task.getArgumentBindings().getValue());
    llvm::replace(bindings, Attribute(bindChannel(from)),
                  Attribute(bindChannel(to)));
    task.setArgumentBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
  }
}

/// The task of \p stage that handles a value of \p kind on its way.
pp::TaskOp InsertTransfers::findForwarder(pp::StageOp stage,
                                          pp::ChannelKind kind) {
  for (auto task : getOperation().getOps<pp::TaskOp>()) {
    if (task.getStage() != stage.getSymName())
      continue;
    bool isForward = task.getRole() == pp::Role::F;
    bool isBackward =
        task.getRole() == pp::Role::BW || task.getRole() == pp::Role::B;
    if (kind == pp::ChannelKind::Activation ? isForward : isBackward)
      return task;
  }
  return {};
}

/// Declares the next hop of the value that arrives over \p before.
pp::ChannelOp InsertTransfers::addHop(pp::ChannelOp before, int64_t source,
                                      int64_t target, SymbolTable &symbols) {
  int64_t number = llvm::count_if(
      getOperation().getOps<pp::ChannelOp>(), [&](pp::ChannelOp channel) {
        return channel.getKind() == before.getKind() &&
               channel.getSource() == stages[source].getSymName();
      });
  OpBuilder builder(before->getContext());
  auto hop = pp::ChannelOp::create(
      builder, before.getLoc(),
      pp::nameChannel(before.getKind(), stages[source], number),
      before.getKind(), stages[source].getSymName(),
      stages[target].getSymName(), cast<RankedTensorType>(before.getType()));
  builder.setInsertionPointAfter(before);
  builder.insert(hop);
  symbols.insert(hop);
  return hop;
}

LogicalResult InsertTransfers::split(pp::ChannelOp channel,
                                     SymbolTable &symbols) {
  int64_t source = symbols.lookup<pp::StageOp>(channel.getSource()).getIndex();
  auto targetStage = symbols.lookup<pp::StageOp>(channel.getTarget());
  int64_t target = targetStage.getIndex();
  int64_t step = source < target ? 1 : -1;
  if (source + step == target)
    return success();

  channel.setTarget(stages[source + step].getSymName());
  pp::ChannelOp incoming = channel;
  for (int64_t stage = source + step; stage != target; stage += step) {
    pp::TaskOp task = findForwarder(stages[stage], channel.getKind());
    if (!task)
      return stages[stage].emitOpError("has no task to pass '")
             << channel.getSymName() << "' on";
    pp::ChannelOp outgoing = addHop(incoming, stage, stage + step, symbols);
    passOn(task, incoming, outgoing);
    incoming = outgoing;
  }
  readInstead(getOperation(), targetStage, channel, incoming);
  return success();
}

LogicalResult InsertTransfers::collectStages(uint64_t direction) {
  stages.clear();
  for (auto stage : getOperation().getOps<pp::StageOp>()) {
    if (stage.getDirection() != direction)
      continue;
    if (stage.getIndex() != stages.size())
      return stage.emitOpError("has index ")
             << stage.getIndex() << " but is the stage number "
             << stages.size();
    stages.push_back(stage);
  }
  return success();
}

void InsertTransfers::runOnOperation() {
  SymbolTable symbols(getOperation());
  SmallVector<pp::ChannelOp> channels(getOperation().getOps<pp::ChannelOp>());
  for (uint64_t direction : {0, 1}) {
    if (failed(collectStages(direction)))
      return signalPassFailure();
    for (pp::ChannelOp channel : channels)
      if (symbols.lookup<pp::StageOp>(channel.getSource()).getDirection() ==
              direction &&
          failed(split(channel, symbols)))
        return signalPassFailure();
  }
  pp::setPhase(getOperation(), pp::Phase::Comm);
}
