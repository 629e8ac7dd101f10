//===- StageGraph.cpp - The stages of a module and what joins them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/StageGraph.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;
using namespace pipewright;

ActionKind pipewright::getActionKind(pp::Role role) {
  switch (role) {
  case pp::Role::F:
    return ActionKind::F;
  case pp::Role::B:
    return ActionKind::B;
  case pp::Role::W:
    return ActionKind::W;
  case pp::Role::BW:
    return ActionKind::BW;
  case pp::Role::R:
    return ActionKind::R;
  }
  llvm_unreachable("all roles are handled");
}

FailureOr<StageGraph> StageGraph::get(ModuleOp module) {
  StageGraph graph;
  if (failed(graph.addStages(module)) || failed(graph.addTasks(module)))
    return failure();
  for (pp::ChannelOp channel : module.getOps<pp::ChannelOp>()) {
    graph.channelNumbers[channel.getSymName()] = graph.channels.size();
    graph.channels.push_back(channel);
  }
  return graph;
}

LogicalResult StageGraph::addStages(ModuleOp module) {
  stages.assign(module.getOps<pp::StageOp>().begin(),
                module.getOps<pp::StageOp>().end());
  if (stages.empty())
    return module.emitError("the module has no stages");
  llvm::sort(stages, [](pp::StageOp lhs, pp::StageOp rhs) {
    return std::pair(lhs.getDirection(), lhs.getIndex()) <
           std::pair(rhs.getDirection(), rhs.getIndex());
  });
  directions = stages.back().getDirection() + 1;
  if (failed(checkNumbers()))
    return failure();
  std::vector<int64_t> stagesOfRank;
  for (auto [number, stage] : llvm::enumerate(stages)) {
    stageNumbers[stage.getSymName()] = number;
    ranks = std::max<int64_t>(ranks, stage.getRank() + 1);
    stagesOfRank.resize(ranks);
    if (stage.getDirection() == 0)
      chunks = std::max(chunks, ++stagesOfRank[stage.getRank()]);
  }
  return success();
}

LogicalResult StageGraph::checkNumbers() {
  for (auto [position, stage] : llvm::enumerate(stages)) {
    bool isFirst = position == 0 ||
                   stages[position - 1].getDirection() != stage.getDirection();
    uint64_t expected = isFirst ? 0 : stages[position - 1].getIndex() + 1;
    if (stage.getIndex() != expected)
      return stage.emitOpError("has index ")
             << stage.getIndex() << " where " << expected
             << " is expected; stages are numbered from 0 without gaps";
  }
  int64_t ofFirst = llvm::count_if(
      stages, [](pp::StageOp stage) { return stage.getDirection() == 0; });
  if (ofFirst * directions == int64_t(stages.size()))
    return success();
  return stages.back().emitOpError("is one of ")
         << stages.size() - ofFirst
         << " stages of direction 1; direction 0 has " << ofFirst;
}

LogicalResult StageGraph::addTasks(ModuleOp module) {
  tasks.assign(stages.size(), SmallVector<Parts, 5>(5));
  for (pp::TaskOp task : module.getOps<pp::TaskOp>()) {
    taskNames[task.getSymName()] = task;
    int64_t stage = stageNumbers.lookup(task.getStage());
    Parts &parts = tasks[stage][static_cast<size_t>(task.getRole())];
    if (task.getPart() < parts.size()) {
      InFlightDiagnostic diag = task.emitOpError("is a second task of role ")
                                << pp::stringifyRole(task.getRole())
                                << " for stage '" << task.getStage() << "'";
      diag.attachNote(parts[task.getPart()].getLoc())
          << "the first one is here";
      return diag;
    }
    if (task.getPart() > parts.size())
      return task.emitOpError("is part ")
             << task.getPart() << " of role "
             << pp::stringifyRole(task.getRole()) << " for stage '"
             << task.getStage() << "', but there are " << parts.size()
             << " before it";
    parts.push_back(task);
  }
  return success();
}

int64_t StageGraph::getRank(int64_t stage, int64_t direction) const {
  return getStage(stage, direction).getRank();
}

Placement StageGraph::getPlacement() const {
  Placement placement(directions);
  for (pp::StageOp stage : stages)
    placement[stage.getDirection()].push_back(stage.getRank());
  return placement;
}

ArrayRef<pp::TaskOp> StageGraph::getParts(int64_t stage, pp::Role role,
                                          int64_t direction) const {
  return tasks[direction * getStages() + stage][static_cast<size_t>(role)];
}

pp::TaskOp StageGraph::getTask(StringRef name) const {
  return taskNames.lookup(name);
}

bool StageGraph::hasBackward() const {
  return llvm::any_of(tasks, [](ArrayRef<Parts> roles) {
    return llvm::any_of(roles, [](ArrayRef<pp::TaskOp> parts) {
      if (parts.empty())
        return false;
      pp::Role role = pp::TaskOp(parts.front()).getRole();
      return role != pp::Role::F && role != pp::Role::R;
    });
  });
}

std::vector<std::vector<ActionKind>> StageGraph::getRoles() const {
  std::vector<std::vector<ActionKind>> roles;
  // Those of another direction are the same.
  for (ArrayRef<Parts> ofStage : ArrayRef(tasks).take_front(getStages())) {
    std::vector<ActionKind> &kinds = roles.emplace_back();
    for (ArrayRef<pp::TaskOp> parts : ofStage)
      if (!parts.empty())
        kinds.push_back(getActionKind(pp::TaskOp(parts.front()).getRole()));
  }
  return roles;
}

int64_t StageGraph::getStageNumber(StringRef name) const {
  return stageNumbers.lookup(name) % getStages();
}

int64_t StageGraph::getDirection(StringRef name) const {
  return stageNumbers.lookup(name) / getStages();
}

int64_t StageGraph::getChannelNumber(StringRef name) const {
  return channelNumbers.lookup(name);
}

int64_t StageGraph::getSourceRank(int64_t channel) const {
  StringRef source = pp::ChannelOp(channels[channel]).getSource();
  return pp::StageOp(stages[stageNumbers.lookup(source)]).getRank();
}

int64_t StageGraph::getTargetRank(int64_t channel) const {
  StringRef target = pp::ChannelOp(channels[channel]).getTarget();
  return pp::StageOp(stages[stageNumbers.lookup(target)]).getRank();
}

SmallVector<int64_t> StageGraph::getChannels(ArrayAttr bindings) const {
  SmallVector<int64_t> numbers;
  for (pp::BindingAttr binding : bindings.getAsRange<pp::BindingAttr>())
    if (binding.getKind() == pp::BindingKind::Channel)
      numbers.push_back(getChannelNumber(binding.getName()));
  // One order everywhere, so that both ends of a boundary agree.
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}

SmallVector<int64_t> StageGraph::getReads(pp::TaskOp task) const {
  return getChannels(task.getArgumentBindings());
}

SmallVector<int64_t> StageGraph::getWrites(pp::TaskOp task) const {
  return getChannels(task.getResultBindings());
}

SmallVector<StringRef> StageGraph::getExchanges(pp::TaskOp task) {
  SmallVector<StringRef> names;
  for (auto binding : task.getResultBindings().getAsRange<pp::BindingAttr>())
    if (binding.getKind() == pp::BindingKind::Sent)
      names.push_back(binding.getName());
  return names;
}
