//===- SkeletonModule.cpp - A schedule as a module without a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/ProgramSchedule.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Declares stages, channels and tasks of one direction that pass one number
/// on.
class SkeletonBuilder {
public:
  SkeletonBuilder(const Schedule &schedule, int64_t direction, ModuleOp module)
      : schedule(schedule), direction(direction),
        builder(OpBuilder::atBlockEnd(module.getBody())), loc(module.getLoc()),
        type(RankedTensorType::get({1}, builder.getF32Type())) {}

  void declare();

private:
  void declareStage(int64_t stage);
  void declareChannels(int64_t stage);
  void declareTask(int64_t stage, pp::Role role);
  /// The roles that the schedule has for \p stage.
  llvm::SmallVector<pp::Role> getRoles(int64_t stage) const;
  bool isLast(int64_t stage) const { return stage + 1 == schedule.getStages(); }
  pp::BindingAttr bindActivation(int64_t stage) {
    return bind(pp::BindingKind::Channel, nameValue("h", stage));
  }
  pp::BindingAttr bindGradient(int64_t stage) {
    return bind(pp::BindingKind::Channel, nameValue("d", stage));
  }
  pp::BindingAttr bind(pp::BindingKind kind, StringRef name) {
    return pp::BindingAttr::get(builder.getContext(), kind, name);
  }
  /// Such as `h3`, or `hu3` in direction 1.
  std::string nameValue(StringRef what, int64_t stage) const {
    return (what + (direction == 0 ? "" : "u") + Twine(stage)).str();
  }
  std::string nameStage(int64_t stage) const {
    return (direction == 0 ? "s" : "u") + std::to_string(stage);
  }

  const Schedule &schedule;
  int64_t direction;
  OpBuilder builder;
  Location loc;
  RankedTensorType type;
};
} // namespace

void SkeletonBuilder::declare() {
  for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
    declareStage(stage);
  for (int64_t stage = 0; stage + 1 < schedule.getStages(); ++stage)
    declareChannels(stage);
  for (int64_t stage = 0; stage < schedule.getStages(); ++stage)
    for (pp::Role role : getRoles(stage))
      declareTask(stage, role);
}

void SkeletonBuilder::declareStage(int64_t stage) {
  std::string layer = "layer" + std::to_string(stage);
  int64_t chunk = stage / schedule.getRanks();
  pp::StageOp::create(
      builder, loc, nameStage(stage), stage, schedule.getRank(stage, direction),
      chunk, direction * schedule.getStages() + stage,
      builder.getStrArrayAttr({layer}), builder.getArrayAttr({}),
      /*cost=*/pp::CostAttr(), direction);
}

/// Between \p stage and the next one.
void SkeletonBuilder::declareChannels(int64_t stage) {
  std::string here = nameStage(stage), there = nameStage(stage + 1);
  pp::ChannelOp::create(builder, loc, bindActivation(stage).getName(),
                        pp::ChannelKind::Activation, here, there, type);
  if (!schedule.isForwardOnly())
    pp::ChannelOp::create(builder, loc, bindGradient(stage).getName(),
                          pp::ChannelKind::Gradient, there, here, type);
}

llvm::SmallVector<pp::Role> SkeletonBuilder::getRoles(int64_t stage) const {
  llvm::SmallVector<pp::Role> roles = {pp::Role::F};
  auto add = [&](const Action &part) {
    for (pp::Role role : {pp::Role::B, pp::Role::W, pp::Role::BW, pp::Role::R})
      if (part.stage == stage && part.direction == direction &&
          part.kind == getActionKind(role) && !llvm::is_contained(roles, role))
        roles.push_back(role);
  };
  int64_t rank = schedule.getRank(stage, direction);
  for (const Action &action : schedule.getActions(rank))
    forEachPart(action, add);
  // A stage that splits some backwards splits all: a full one is both parts.
  if (llvm::is_contained(roles, pp::Role::B))
    llvm::erase(roles, pp::Role::BW);
  return roles;
}

void SkeletonBuilder::declareTask(int64_t stage, pp::Role role) {
  llvm::SmallVector<Attribute, 1> arguments, results;
  bool isGradient = role == pp::Role::B || role == pp::Role::BW;
  if (isGradient && !isLast(stage))
    arguments.push_back(bindGradient(stage));
  else if (role != pp::Role::W)
    arguments.push_back(stage > 0 ? bindActivation(stage - 1)
                                  : bind(pp::BindingKind::Input, "x"));
  if (isGradient && stage > 0)
    results.push_back(bindGradient(stage - 1));
  else if (role == pp::Role::F && !isLast(stage))
    results.push_back(bindActivation(stage));

  std::string name = nameStage(stage) + "." + pp::stringifyRole(role).lower();
  auto task = pp::TaskOp::create(builder, loc, name, role, nameStage(stage),
                                 builder.getArrayAttr(arguments),
                                 builder.getArrayAttr(results),
                                 /*workspace_bytes=*/IntegerAttr());
  Block &body = task.getBody().emplaceBlock();
  if (!arguments.empty())
    body.addArgument(type, loc);
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  ValueRange values = body.getArguments();
  pp::YieldOp::create(inner, loc, values.take_front(results.size()));
}

OwningOpRef<ModuleOp> pipewright::buildSkeletonModule(const Schedule &schedule,
                                                      MLIRContext *context) {
  context->loadDialect<pp::PPDialect>();
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  if (schedule.getDirections() > 2) {
    emitError(loc, "schedule '")
        << schedule.getName() << "' has " << schedule.getDirections()
        << " directions; programs have 2 at most";
    return {};
  }
  for (int64_t direction = 0; direction < schedule.getDirections(); ++direction)
    SkeletonBuilder(schedule, direction, *module).declare();
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  const ScheduleShape &shape = schedule.getShape();
  pp::ScheduleOp::create(builder, loc, schedule.getName(), shape.ranks,
                         shape.microbatches, shape.chunks);
  FailureOr<StageGraph> graph = StageGraph::get(*module);
  Schedule eval = buildForwardOnly(shape, {schedule.getPlacement().front()});
  if (failed(graph) ||
      (!schedule.isForwardOnly() &&
       failed(
           writePrograms(*module, *graph, schedule, pp::ProgramKind::Step))) ||
      failed(writePrograms(*module, *graph, eval, pp::ProgramKind::Eval)))
    return {};
  pp::setPhase(*module, pp::Phase::Schedule);
  return module;
}
