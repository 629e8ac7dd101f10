//===- RankMemory.cpp - What a rank holds, and when
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/RankMemory.h"

using namespace mlir;
using namespace pipewright;

pp::BindingAttr RankMemory::bind(pp::BindingKind kind, StringRef name,
                                 int64_t index) {
  return pp::BindingAttr::get(module.getContext(), kind, name, index);
}

int64_t RankMemory::getLastingBytes() const {
  int64_t bytes = 0;
  for (auto [binding, size] : lasting)
    bytes += alignToArena(size);
  return bytes;
}

//===----------------------------------------------------------------------===//
// What actions use
//===----------------------------------------------------------------------===//

void RankMemory::touch(pp::BindingAttr binding, int64_t bytes) {
  BufferUse &buffer = buffers[binding];
  buffer.bytes = bytes;
  buffer.microbatches.resize(microbatches);
  Lifetime &lifetime = isEval ? buffer.eval : buffer.microbatches[microbatch];
  lifetime.include(position);
}

LogicalResult RankMemory::touchTask(pp::TaskOp task) {
  if (!task.getWorkspaceBytes())
    return task.emitOpError("has no known workspace; code generation has not "
                            "been asked for it");
  auto touchBinding = [&](Attribute attribute, Type type) {
    auto binding = cast<pp::BindingAttr>(attribute);
    switch (binding.getKind()) {
    case pp::BindingKind::Parameter:
      parameters.insert(binding);
      return;
    case pp::BindingKind::Gradient:
      gradients.insert(binding);
      return;
    case pp::BindingKind::LossScale:
      lossScales[binding] = pp::getBytes(type);
      return;
    default:
      touch(binding, pp::getBytes(type));
    }
  };
  for (auto [argument, binding] : llvm::zip_equal(task.getBody().getArguments(),
                                                  task.getArgumentBindings()))
    touchBinding(binding, argument.getType());
  for (auto [value, binding] :
       llvm::zip_equal(task.getYield().getValues(), task.getResultBindings()))
    touchBinding(binding, value.getType());
  touch(task.getWorkspaceBinding(), *task.getWorkspaceBytes());
  keepSends();
  return success();
}

void RankMemory::keepSends() {
  for (auto [channel, sent] : std::exchange(sends, {}))
    buffers[channel].microbatches[sent].include(position);
}

pp::BindingAttr RankMemory::getStepWorkspace(MLIRContext *context) {
  return pp::BindingAttr::get(context, pp::BindingKind::Workspace, "step", 0);
}

/// Where devices do not add over replicas by themselves, each replica adds one
/// part of a gradient, of which it has those of the others one by one.
void RankMemory::touchStep() {
  int64_t replicas = (*module.getOps<pp::ScheduleOp>().begin()).getReplicas();
  if (replicas == 1)
    return;
  int64_t most = 0;
  for (auto update : module.getOps<pp::UpdateOp>()) {
    StringRef name = update.getParameter();
    if (!parameters.contains(bind(pp::BindingKind::Parameter, name)))
      continue;
    // Those that hold the same shard add up its gradient.
    auto parameter = symbols.lookup<pp::ParameterOp>(name);
    int64_t adding = replicas / parameter.getShards();
    if (adding > 1)
      most = std::max<int64_t>(
          most, llvm::divideCeil(pp::getBytes(parameter.getType()), adding));
  }
  // Parts are of whole numbers.
  touch(getStepWorkspace(module.getContext()), most + sizeof(double));
  keepSends();
}

void RankMemory::touchChannel(StringRef name, bool isSend) {
  auto channel = symbols.lookup<pp::ChannelOp>(name);
  pp::BindingAttr binding = bind(pp::BindingKind::Channel, name);
  touch(binding, pp::getBytes(channel.getType()));
  auto getRank = [&](StringRef stage) {
    return symbols.lookup<pp::StageOp>(stage).getRank();
  };
  bool leaves = getRank(channel.getSource()) != getRank(channel.getTarget());
  buffers[binding].isMessage = leaves;
  if (isSend && leaves && !isEval)
    sends.push_back({binding, microbatch});
}

/// What is sent stays until the next task has run, as on a channel.
void RankMemory::touchExchange(StringRef name) {
  int64_t bytes = pp::getBytes(symbols.lookup<pp::ExchangeOp>(name).getType());
  for (pp::BindingKind kind :
       {pp::BindingKind::Sent, pp::BindingKind::Received}) {
    pp::BindingAttr binding = bind(kind, name);
    touch(binding, bytes);
    buffers[binding].isMessage = true;
    if (kind == pp::BindingKind::Sent && !isEval)
      sends.push_back({binding, microbatch});
  }
}

LogicalResult RankMemory::visitAction(Operation *op, int64_t actionMicrobatch,
                                      bool ofEval) {
  if (actionMicrobatch < 0 || actionMicrobatch >= microbatches)
    return op->emitOpError("names micro-batch ")
           << actionMicrobatch << " of " << microbatches;
  microbatch = actionMicrobatch;
  isEval = ofEval;
  if (auto run = dyn_cast<pp::RunOp>(op))
    return touchTask(symbols.lookup<pp::TaskOp>(run.getSymbol()));
  if (auto send = dyn_cast<pp::SendOp>(op))
    touchChannel(send.getSymbol(), /*isSend=*/true);
  else if (auto recv = dyn_cast<pp::RecvOp>(op))
    touchChannel(recv.getSymbol(), /*isSend=*/false);
  else if (auto exchange = dyn_cast<pp::AllToAllOp>(op))
    touchExchange(exchange.getSymbol());
  else if (isa<pp::StepOp>(op))
    touchStep();
  return success();
}

LogicalResult RankMemory::visitStep(pp::ProgramOp program) {
  LogicalResult result = success();
  pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
    // All that overlaps is in use at the same time.
    if (!isa<pp::OverlapOp>(op->getParentOp()))
      positions.emplace_back();
    if (!isa<pp::OverlapOp>(op))
      positions.back().push_back({op, microbatch});
    position = positions.size() - 1;
    if (succeeded(result))
      result = visitAction(op, microbatch, /*ofEval=*/false);
  });
  return result;
}

LogicalResult RankMemory::visitEval(pp::ProgramOp program) {
  LogicalResult result = success();
  std::optional<int64_t> before;
  pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
    if (isa<pp::OverlapOp>(op))
      return;
    position = before == microbatch ? position + 1 : 0;
    before = microbatch;
    if (position == static_cast<int64_t>(evalPositions.size()))
      evalPositions.push_back({{op, microbatch}});
    if (succeeded(result))
      result = visitAction(op, microbatch, /*ofEval=*/true);
  });
  return result;
}

//===----------------------------------------------------------------------===//
// What lasts
//===----------------------------------------------------------------------===//

void RankMemory::addParameters() {
  // In the order of the model, whatever task meets them first.
  for (auto parameter : module.getOps<pp::ParameterOp>()) {
    auto binding = bind(pp::BindingKind::Parameter, parameter.getSymName());
    if (parameters.contains(binding))
      lasting[binding] = pp::getBytes(parameter.getType());
  }
}

/// Adds gradients and optimizer state of the rank's trainable parameters. The
/// rank of the first layer that uses a tied parameter adds up the
/// contributions, so it has room for those of other ranks too.
void RankMemory::addUpdates() {
  auto rules = module.getOps<pp::UpdateRuleOp>();
  if (rules.empty())
    return;
  int64_t states = pp::countStates((*rules.begin()).getOptimizer());
  for (auto update : module.getOps<pp::UpdateOp>()) {
    StringRef name = update.getParameter();
    if (!parameters.contains(bind(pp::BindingKind::Parameter, name)))
      continue;
    int64_t bytes =
        pp::getBytes(symbols.lookup<pp::ParameterOp>(name).getType());
    ArrayRef<int64_t> layers = update.getLayers();
    bool isOwner = gradients.contains(
        bind(pp::BindingKind::Gradient, name, layers.front()));
    for (int64_t layer : layers) {
      auto gradient = bind(pp::BindingKind::Gradient, name, layer);
      if (isOwner || gradients.contains(gradient))
        lasting[gradient] = bytes;
    }
    for (int64_t state = 0; state < states; ++state)
      lasting[bind(pp::BindingKind::State, name, state)] = bytes;
  }
}

FailureOr<RankMemory> RankMemory::get(ModuleOp module,
                                      const SymbolTable &symbols, int64_t rank,
                                      int64_t microbatches) {
  RankMemory memory(module, symbols, microbatches);
  for (auto program : module.getOps<pp::ProgramOp>()) {
    if (static_cast<int64_t>(program.getRank()) != rank)
      continue;
    bool isEval = program.getKind() == pp::ProgramKind::Eval;
    if (failed(isEval ? memory.visitEval(program) : memory.visitStep(program)))
      return failure();
  }
  memory.addParameters();
  memory.addUpdates();
  for (auto [binding, bytes] : memory.lossScales)
    memory.lasting[binding] = bytes;
  return memory;
}
