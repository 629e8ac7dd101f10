//===- PlanArena.cpp - Gives everything a rank holds its place
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Program/Arena.h"
#include "pipewright/Program/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace pipewright {
#define GEN_PASS_DEF_PLANARENA
#include "pipewright/Program/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {

/// What is placed: its size, and when it is in use for each micro-batch.
struct Buffer {
  int64_t bytes = 0;
  SmallVector<Lifetime> lifetimes;
};

/// A message that was sent and may not have left yet.
struct LeavingMessage {
  pp::BindingAttr binding;
  Type type;
  int64_t microbatch;
};

/// Plans the arena of one rank.
class RankPlanner {
public:
  RankPlanner(ModuleOp module, const SymbolTable &symbols, int64_t rank,
              int64_t microbatches)
      : module(module), symbols(symbols), rank(rank),
        microbatches(microbatches) {}

  FailureOr<pp::ArenaOp> plan(OpBuilder &builder);

private:
  pp::BindingAttr bind(pp::BindingKind kind, StringRef name = "",
                       int64_t index = 0) {
    return pp::BindingAttr::get(module.getContext(), kind, name, index);
  }

  LogicalResult collect(pp::ProgramKind kind);
  LogicalResult visitAction(Operation *op, int64_t microbatch,
                            int64_t position);
  LogicalResult touchTask(pp::TaskOp task, int64_t microbatch,
                          int64_t position);
  void touch(pp::BindingAttr binding, Type type, int64_t microbatch,
             int64_t position);
  void place(pp::BindingAttr binding, int64_t bytes);
  void placeBuffer(pp::BindingAttr binding, const Buffer &buffer);
  void keepLeaving(int64_t position);
  void placeParameters();
  void placeUpdates();

  ModuleOp module;
  const SymbolTable &symbols;
  int64_t rank;
  int64_t microbatches;
  llvm::MapVector<pp::BindingAttr, Buffer> buffers;
  llvm::SetVector<pp::BindingAttr> parameters, gradients;
  SmallVector<LeavingMessage> leaving;
  int64_t workspaceBytes = 0;
  ArenaLayout layout;
  OpBuilder *builder = nullptr;
  Location loc = UnknownLoc::get(module.getContext());
};

} // namespace

//===----------------------------------------------------------------------===//
// What a rank uses, and when
//===----------------------------------------------------------------------===//

void RankPlanner::touch(pp::BindingAttr binding, Type type, int64_t microbatch,
                        int64_t position) {
  Buffer &buffer = buffers[binding];
  buffer.bytes = pp::getBytes(type);
  buffer.lifetimes.resize(microbatches);
  Lifetime &lifetime = buffer.lifetimes[microbatch];
  if (!lifetime.isUsed())
    lifetime.first = position;
  lifetime.last = std::max(lifetime.last, position);
}

LogicalResult RankPlanner::touchTask(pp::TaskOp task, int64_t microbatch,
                                     int64_t position) {
  if (!task.getWorkspaceBytes())
    return task.emitOpError("has no known workspace; code generation has not "
                            "been asked for it");
  workspaceBytes = std::max<int64_t>(workspaceBytes, *task.getWorkspaceBytes());

  auto touchBinding = [&](Attribute attribute, Type type) {
    auto binding = cast<pp::BindingAttr>(attribute);
    switch (binding.getKind()) {
    case pp::BindingKind::Parameter:
      parameters.insert(binding);
      return;
    case pp::BindingKind::Gradient:
      gradients.insert(binding);
      return;
    default:
      touch(binding, type, microbatch, position);
    }
  };
  for (auto [argument, binding] : llvm::zip_equal(task.getBody().getArguments(),
                                                  task.getArgumentBindings()))
    touchBinding(binding, argument.getType());
  for (auto [value, binding] :
       llvm::zip_equal(task.getYield().getValues(), task.getResultBindings()))
    touchBinding(binding, value.getType());
  return success();
}

/// What was sent leaves while the task at \p position runs, which therefore
/// does not wait for it.
void RankPlanner::keepLeaving(int64_t position) {
  for (const LeavingMessage &message : leaving)
    touch(message.binding, message.type, message.microbatch, position);
  leaving.clear();
}

LogicalResult RankPlanner::visitAction(Operation *op, int64_t microbatch,
                                       int64_t position) {
  if (isa<pp::RunOp, pp::OverlapOp>(op))
    keepLeaving(position);
  if (microbatch < 0 || microbatch >= microbatches)
    return op->emitOpError("names micro-batch ")
           << microbatch << " of " << microbatches;
  if (auto run = dyn_cast<pp::RunOp>(op))
    return touchTask(symbols.lookup<pp::TaskOp>(run.getSymbol()), microbatch,
                     position);
  StringRef name;
  if (auto send = dyn_cast<pp::SendOp>(op))
    name = send.getSymbol();
  else if (auto recv = dyn_cast<pp::RecvOp>(op))
    name = recv.getSymbol();
  else
    return success();
  auto binding = bind(pp::BindingKind::Channel, name);
  Type type = symbols.lookup<pp::ChannelOp>(name).getType();
  touch(binding, type, microbatch, position);
  if (isa<pp::SendOp>(op))
    leaving.push_back({binding, type, microbatch});
  return success();
}

//===----------------------------------------------------------------------===//
// Placing it
//===----------------------------------------------------------------------===//

void RankPlanner::place(pp::BindingAttr binding, int64_t bytes) {
  pp::PlaceOp::create(*builder, loc, binding, layout.place(bytes),
                      alignToArena(bytes), /*slots=*/1, DenseI64ArrayAttr());
}

void RankPlanner::placeBuffer(pp::BindingAttr binding, const Buffer &buffer) {
  SlotAssignment assignment = assignSlots(buffer.lifetimes);
  // The runtime sums losses at the end of a step: none may be overwritten.
  if (binding.getKind() == pp::BindingKind::LossSum ||
      binding.getKind() == pp::BindingKind::LossWeight) {
    assignment.slots = microbatches;
    assignment.slotOf = llvm::to_vector(llvm::seq<int64_t>(0, microbatches));
  }
  // The runtime writes it once a step, for all micro-batches.
  if (binding.getKind() == pp::BindingKind::LossScale) {
    assignment.slots = 1;
    assignment.slotOf.assign(microbatches, 0);
  }
  int64_t offset = layout.place(buffer.bytes, assignment.slots);
  pp::PlaceOp::create(*builder, loc, binding, offset,
                      alignToArena(buffer.bytes), assignment.slots,
                      builder->getDenseI64ArrayAttr(assignment.slotOf));
}

void RankPlanner::placeParameters() {
  // In the order of the model, whatever task meets them first.
  for (auto parameter : module.getOps<pp::ParameterOp>()) {
    auto binding = bind(pp::BindingKind::Parameter, parameter.getSymName());
    if (parameters.contains(binding))
      place(binding, pp::getBytes(parameter.getType()));
  }
}

/// Places gradients and optimizer state of the rank's trainable parameters.
/// The rank of the first layer that uses a tied parameter adds up the
/// contributions, so it has room for those of other ranks too.
void RankPlanner::placeUpdates() {
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
        place(gradient, bytes);
    }
    for (int64_t state = 0; state < states; ++state)
      place(bind(pp::BindingKind::State, name, state), bytes);
  }
}

/// Notes what the rank's programs of one kind use. In eval each buffer holds
/// one micro-batch at a time, in slot 0: it needs room only for what the step,
/// which comes first, does not use.
LogicalResult RankPlanner::collect(pp::ProgramKind kind) {
  bool isEval = kind == pp::ProgramKind::Eval;
  llvm::MapVector<pp::BindingAttr, Buffer> ofStep;
  if (isEval)
    std::swap(ofStep, buffers);
  for (auto program : module.getOps<pp::ProgramOp>()) {
    if (int64_t(program.getRank()) != rank || program.getKind() != kind)
      continue;
    LogicalResult result = success();
    int64_t position = 0;
    pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
      // All that overlaps is in use at the same time.
      if (!isa<pp::OverlapOp>(op->getParentOp()))
        ++position;
      if (succeeded(result))
        result = visitAction(op, isEval ? 0 : microbatch, position);
    });
    if (failed(result))
      return failure();
    leaving.clear();
  }
  if (!isEval)
    return success();
  std::swap(ofStep, buffers);
  for (auto &[binding, buffer] : ofStep)
    buffers.insert({binding, std::move(buffer)});
  return success();
}

FailureOr<pp::ArenaOp> RankPlanner::plan(OpBuilder &outer) {
  if (failed(collect(pp::ProgramKind::Step)) ||
      failed(collect(pp::ProgramKind::Eval)))
    return failure();

  auto arena = pp::ArenaOp::create(outer, module.getLoc(), rank, /*bytes=*/0);
  OpBuilder inside = OpBuilder::atBlockEnd(&arena.getBody().emplaceBlock());
  builder = &inside;
  placeParameters();
  placeUpdates();
  for (const auto &[binding, buffer] : buffers)
    placeBuffer(binding, buffer);
  place(bind(pp::BindingKind::Workspace), workspaceBytes);
  arena.setBytes(layout.getBytes());
  return arena;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Fails if \p arena is larger than \p limit, and names its largest part.
static LogicalResult checkLimit(pp::ArenaOp arena, int64_t limit) {
  if (limit == 0 || static_cast<int64_t>(arena.getBytes()) <= limit)
    return success();
  pp::PlaceOp largest;
  auto getTotal = [](pp::PlaceOp place) {
    return place.getBytes() * place.getSlots();
  };
  for (auto place : arena.getOps<pp::PlaceOp>())
    if (!largest || getTotal(place) > getTotal(largest))
      largest = place;
  return arena.emitError("rank ")
         << arena.getRank() << " needs " << arena.getBytes()
         << " bytes of memory, but may take " << limit
         << "; the largest part is " << getTotal(largest) << " bytes for "
         << stringifyBindingKind(largest.getBinding().getKind()) << " '"
         << largest.getBinding().getName() << "' in " << largest.getSlots()
         << " slots";
}

namespace {

struct PlanArena : pipewright::impl::PlanArenaBase<PlanArena> {
  using PlanArenaBase::PlanArenaBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto schedules = module.getOps<pp::ScheduleOp>();
    if (schedules.empty()) {
      module.emitError("has no schedule to plan memory for; run "
                       "'--pp-attach-schedule' first");
      return signalPassFailure();
    }
    pp::ScheduleOp schedule = *schedules.begin();
    for (auto arena : llvm::make_early_inc_range(module.getOps<pp::ArenaOp>()))
      arena.erase();

    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    for (int64_t rank = 0; rank < static_cast<int64_t>(schedule.getRanks());
         ++rank) {
      RankPlanner planner(module, symbols, rank, schedule.getMicrobatches());
      FailureOr<pp::ArenaOp> arena = planner.plan(builder);
      if (failed(arena) || failed(checkLimit(*arena, memory)))
        return signalPassFailure();
    }
    pp::setPhase(module, pp::Phase::Program);
  }
};

} // namespace
