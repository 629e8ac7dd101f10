//===- PlanSummary.cpp - What a finished plan says about itself
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/PlanSummary.h"

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Package/Dtypes.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pipewright;

static TensorSummary summarizeTensor(StringRef name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {
      name.str(), getDtypeName(tensor.getElementType()).str(),
      std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()),
      pp::getBytes(type)};
}

static StageSummary summarizeStage(pp::StageOp stage,
                                   const SymbolTable &symbols) {
  StageSummary summary;
  summary.index = stage.getIndex();
  summary.direction = stage.getDirection();
  summary.rank = stage.getRank();
  summary.chunk = stage.getChunk();
  for (StringRef layer : stage.getLayers().getAsValueRange<StringAttr>())
    summary.layers.push_back(layer.str());
  for (auto name : stage.getParameters().getAsRange<FlatSymbolRefAttr>()) {
    auto parameter = symbols.lookup<pp::ParameterOp>(name.getValue());
    auto origin = dyn_cast<NameLoc>(parameter.getLoc());
    bool isRenamed = origin && origin.getName() != name.getValue();
    summary.parameters.push_back(
        {summarizeTensor(name.getValue(), parameter.getWholeType()),
         parameter.getTrainable(), static_cast<int64_t>(parameter.getShards()),
         isRenamed ? origin.getName().str() : ""});
  }
  if (pp::CostAttr cost = stage.getCostAttr()) {
    summary.secondsForward = cost.getPicosecondsF() * 1e-12;
    summary.secondsBackwardInput = cost.getPicosecondsB() * 1e-12;
    summary.secondsBackwardWeight = cost.getPicosecondsW() * 1e-12;
    summary.secondsRecompute = cost.getPicosecondsR() * 1e-12;
    summary.costSource = stringifyCostSource(cost.getSource()).str();
  }
  return summary;
}

static MessageSummary summarizeChannel(pp::ChannelOp channel,
                                       const SymbolTable &symbols) {
  auto source = symbols.lookup<pp::StageOp>(channel.getSource());
  auto target = symbols.lookup<pp::StageOp>(channel.getTarget());
  return {summarizeTensor(channel.getSymName(), channel.getType()),
          stringifyChannelKind(channel.getKind()).str(),
          static_cast<int64_t>(source.getIndex()),
          static_cast<int64_t>(target.getIndex()),
          static_cast<int64_t>(source.getDirection())};
}

static MemorySummary summarizeMemory(MemoryPeak peak) {
  MemorySummary summary;
  summary.arena = peak.arenaBytes;
  summary.gaps = peak.arenaBytes - peak.getPeakBytes();
  for (const MemoryPart &part : peak.parts) {
    switch (part.kind) {
    case pp::BindingKind::Parameter:
      summary.parameters += part.bytes;
      break;
    case pp::BindingKind::Gradient:
      summary.gradients += part.bytes;
      break;
    case pp::BindingKind::State:
      summary.optimizer += part.bytes;
      break;
    case pp::BindingKind::Workspace:
      summary.workspace += part.bytes;
      break;
    case pp::BindingKind::Saved:
      summary.saved += part.bytes;
      break;
    case pp::BindingKind::Channel:
    case pp::BindingKind::Sent:
    case pp::BindingKind::Received:
      summary.channels += part.bytes;
      break;
    default:
      summary.boundary += part.bytes;
    }
  }
  summary.activations =
      summary.saved + summary.channels + summary.boundary + summary.gaps;
  summary.peak = std::move(peak);
  return summary;
}

/// Adds what \p task says: the inputs its rank reads, the loss, the outputs.
static void visitTask(pp::TaskOp task, pp::StageOp stage,
                      pp::ReturnOp modelReturn, PlanSummary &summary) {
  int64_t rank = stage.getRank();
  for (Attribute attribute : task.getArgumentBindings()) {
    auto binding = cast<pp::BindingAttr>(attribute);
    if (binding.getKind() != pp::BindingKind::Input)
      continue;
    for (InputSummary &input : summary.inputs)
      if (input.name == binding.getName() &&
          !llvm::is_contained(input.ranks, rank))
        input.ranks.push_back(rank);
  }
  for (auto [value, attribute] :
       llvm::zip_equal(task.getYield().getValues(), task.getResultBindings())) {
    auto binding = cast<pp::BindingAttr>(attribute);
    if (binding.getKind() == pp::BindingKind::LossSum) {
      // Direction 0 comes first; where it is alone, it has all losses.
      if (stage.getDirection() == 0)
        summary.lossRank = rank;
      summary.secondLossRank = rank;
    }
    if (binding.getKind() == pp::BindingKind::Output)
      summary.outputs.push_back(
          {summarizeTensor(binding.getName(), value.getType()),
           modelReturn.getAxis(binding.getName())});
  }
}

PlanSummary pipewright::summarizePlan(ModuleOp module) {
  PlanSummary summary;
  SymbolTable symbols(module);
  pp::ModelOp model = pp::getModel(module);
  summary.model = model.getSymName().str();
  summary.microbatchSize = model.getMicrobatchSize();
  for (auto [index, argument] :
       llvm::enumerate(model.getBody().getArguments())) {
    pp::InputAttr spec = model.getInputSpec(index);
    InputSummary input{summarizeTensor(spec.getName(), argument.getType()),
                       spec.getAxis(),
                       spec.getLabelClasses(),
                       spec.getIgnoreIndex(),
                       spec.getIndexLimit(),
                       {}};
    summary.inputs.push_back(std::move(input));
  }
  for (auto schedule : module.getOps<pp::ScheduleOp>()) {
    summary.schedule = schedule.getPolicy().str();
    summary.ranks = schedule.getRanks();
    summary.microbatches = schedule.getMicrobatches();
    summary.chunks = schedule.getChunks();
    summary.replicas = schedule.getReplicas();
  }
  for (auto exchange : module.getOps<pp::ExchangeOp>())
    summary.peers = exchange.getPeers();
  for (auto rule : module.getOps<pp::UpdateRuleOp>())
    summary.optimizer = stringifyOptimizer(rule.getOptimizer()).str();
  summary.forwardOnly =
      llvm::none_of(module.getOps<pp::ProgramOp>(), [](pp::ProgramOp program) {
        return program.getKind() == pp::ProgramKind::Step;
      });
  for (auto stage : module.getOps<pp::StageOp>())
    summary.stages.push_back(summarizeStage(stage, symbols));
  auto modelReturn =
      cast<pp::ReturnOp>(model.getBody().front().getTerminator());
  for (auto task : module.getOps<pp::TaskOp>())
    visitTask(task, symbols.lookup<pp::StageOp>(task.getStage()), modelReturn,
              summary);
  for (auto channel : module.getOps<pp::ChannelOp>())
    summary.messages.push_back(summarizeChannel(channel, symbols));
  FailureOr<std::vector<MemoryPeak>> peaks = findMemoryPeaks(module);
  assert(succeeded(peaks) && "the programs have been checked");
  for (MemoryPeak &peak : *peaks)
    summary.memory.push_back(summarizeMemory(std::move(peak)));
  return summary;
}

std::string pipewright::formatBytes(int64_t bytes) {
  static constexpr const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = bytes;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::format(unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string pipewright::formatSeconds(double seconds) {
  static constexpr std::pair<double, const char *> units[] = {
      {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  for (auto [size, unit] : units)
    if (seconds >= size)
      return llvm::formatv("{0:F2} {1}", seconds / size, unit).str();
  return llvm::formatv("{0:F0} ps", seconds * 1e12).str();
}
