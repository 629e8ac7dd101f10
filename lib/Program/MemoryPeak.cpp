//===- MemoryPeak.cpp - When a rank holds most, and what
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Program/MemoryPeak.h"

#include "pipewright/Dialect/PP/NodeName.h"
#include "pipewright/Program/RankMemory.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// Says in words what is in a buffer.
class BufferNames {
public:
  BufferNames(ModuleOp module, const SymbolTable &symbols) : symbols(symbols) {
    for (auto task : module.getOps<pp::TaskOp>())
      for (auto [value, binding] : llvm::zip_equal(task.getYield().getValues(),
                                                   task.getResultBindings()))
        values.try_emplace(binding, value);
  }

  std::string describe(pp::BindingAttr binding) const;

private:
  std::string describeValue(Value value) const;

  const SymbolTable &symbols;
  /// What the first task that makes it makes it from.
  llvm::DenseMap<Attribute, Value> values;
};
} // namespace

/// Follows \p value through calls to the op that computes it: its location, and
/// the last call on the way, which is of a layer. Null if nothing computes it.
static std::pair<Operation *, nn::CallOp> findOrigin(Value value) {
  nn::CallOp layer;
  while (auto call = value.getDefiningOp<nn::CallOp>()) {
    layer = call;
    auto callee = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
        call, call.getCalleeAttr());
    Operation *results = callee.getBody().front().getTerminator();
    value = results->getOperand(cast<OpResult>(value).getResultNumber());
    // What a layer only passes on comes from where it was called.
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      break;
    value = call.getArguments()[argument.getArgNumber()];
  }
  return {value.getDefiningOp(), layer};
}

std::string BufferNames::describeValue(Value value) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value.getType();
  auto [origin, layer] = findOrigin(value);
  if (!origin)
    return text;
  if (StringRef node = getNodeName(origin->getLoc()); !node.empty())
    stream << " of '" << node << "'";
  if (layer)
    if (StringRef name = getNodeName(layer.getLoc()); !name.empty())
      stream << " in layer '" << name << "'";
  return text;
}

std::string BufferNames::describe(pp::BindingAttr binding) const {
  std::string name = ("'" + binding.getName() + "'").str();
  switch (binding.getKind()) {
  case pp::BindingKind::Parameter:
    return "parameters";
  case pp::BindingKind::Gradient:
    return "gradients";
  case pp::BindingKind::State:
    return "optimizer state";
  case pp::BindingKind::Input:
    return "input " + name;
  case pp::BindingKind::Output:
    return "output " + name;
  case pp::BindingKind::Workspace:
    return binding == RankMemory::getStepWorkspace(binding.getContext())
               ? "workspace of the update"
               : "workspace of task " + name;
  case pp::BindingKind::Channel: {
    auto channel = symbols.lookup<pp::ChannelOp>(binding.getName());
    return (pp::stringifyChannelKind(channel.getKind()) + " from stage '" +
            channel.getSource() + "' to stage '" + channel.getTarget() + "'")
        .str();
  }
  case pp::BindingKind::Sent:
    return "rows sent to other replicas as " + name;
  case pp::BindingKind::Received:
    return "rows received from other replicas as " + name;
  case pp::BindingKind::Saved:
    return describeValue(values.lookup(binding));
  default:
    return pp::stringifyBindingKind(binding.getKind()).str();
  }
}

/// "F s0 mb3", as traces of a run name it.
static std::string describeAction(Operation *op, int64_t microbatch,
                                  const SymbolTable &symbols) {
  std::string suffix = " mb" + std::to_string(microbatch);
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case([&](pp::RunOp run) {
        auto task = symbols.lookup<pp::TaskOp>(run.getSymbol());
        auto stage = symbols.lookup<pp::StageOp>(task.getStage());
        return (pp::stringifyRole(task.getRole()) + " s" +
                Twine(stage.getIndex()) + suffix)
            .str();
      })
      .Case([&](pp::SendOp send) {
        return ("SEND " + send.getSymbol() + suffix).str();
      })
      .Case([&](pp::RecvOp recv) {
        return ("RECV " + recv.getSymbol() + suffix).str();
      })
      .Case([&](pp::AllToAllOp exchange) {
        return ("ALL_TO_ALL " + exchange.getSymbol() + suffix).str();
      })
      .Default([](Operation *) { return "update"; });
}

std::string pipewright::formatMicrobatches(const MemoryPart &part) {
  ArrayRef<int64_t> numbers = part.microbatches;
  if (numbers.empty())
    return "";
  std::string text = numbers.size() == 1 ? "micro-batch " : "micro-batches ";
  for (size_t first = 0, last; first < numbers.size(); first = last + 1) {
    last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    text += (first ? ", " : "") + std::to_string(numbers[first]);
    if (last != first)
      text += "-" + std::to_string(numbers[last]);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Peaks
//===----------------------------------------------------------------------===//

/// When \p use holds values: in the step, or in eval if there is no step.
static SmallVector<std::pair<int64_t, Lifetime>>
listLifetimes(const BufferUse &use, bool hasStep) {
  SmallVector<std::pair<int64_t, Lifetime>> lifetimes;
  if (!hasStep) {
    lifetimes.push_back({-1, use.eval});
    return lifetimes;
  }
  for (auto [microbatch, lifetime] : llvm::enumerate(use.microbatches))
    if (lifetime.isUsed())
      lifetimes.push_back({microbatch, lifetime});
  return lifetimes;
}

/// Lists what lasts, added up by kind, and what is in use during \p action.
static std::vector<MemoryPart> listParts(const RankMemory &memory,
                                         const BufferNames &names, bool hasStep,
                                         int64_t action) {
  llvm::MapVector<pp::BindingKind, MemoryPart> lasting;
  for (auto [binding, bytes] : memory.getLasting()) {
    MemoryPart &part = lasting[binding.getKind()];
    part.kind = binding.getKind();
    part.what = names.describe(binding);
    part.bytes += alignToArena(bytes);
    part.lasts = true;
  }
  std::vector<MemoryPart> parts;
  for (auto &[kind, part] : lasting)
    parts.push_back(std::move(part));
  for (const auto &[binding, use] : memory.getBuffers()) {
    MemoryPart part = {binding.getKind(), "", 0, {}};
    for (auto [microbatch, lifetime] : listLifetimes(use, hasStep)) {
      if (!lifetime.meets({action, action}))
        continue;
      part.bytes += alignToArena(use.bytes);
      if (hasStep)
        part.microbatches.push_back(microbatch);
    }
    if (part.bytes == 0)
      continue;
    part.what = names.describe(binding);
    parts.push_back(std::move(part));
  }
  auto getKey = [](const MemoryPart &part) {
    return std::tie(part.what, part.microbatches);
  };
  llvm::sort(parts, [&](const MemoryPart &a, const MemoryPart &b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : getKey(a) < getKey(b);
  });
  return parts;
}

static MemoryPeak findPeak(const RankMemory &memory, const BufferNames &names,
                           const SymbolTable &symbols) {
  MemoryPeak peak;
  bool hasStep = !memory.getPositions().empty();
  for (ArrayRef<RankMemory::Action> position :
       hasStep ? memory.getPositions() : memory.getEvalPositions()) {
    auto labels = llvm::map_range(position, [&](RankMemory::Action action) {
      return describeAction(action.op, action.microbatch, symbols);
    });
    peak.actions.push_back(llvm::join(labels, " + "));
  }
  std::vector<ArenaBuffer> buffers;
  for (const auto &[binding, use] : memory.getBuffers())
    for (auto [microbatch, lifetime] : listLifetimes(use, hasStep))
      buffers.push_back({use.bytes, lifetime});
  peak.liveBytes = countLiveBytes(buffers, peak.actions.size());
  for (int64_t &bytes : peak.liveBytes)
    bytes += memory.getLastingBytes();
  peak.peakAction = llvm::max_element(peak.liveBytes) - peak.liveBytes.begin();
  peak.parts = listParts(memory, names, hasStep, peak.peakAction);
  return peak;
}

FailureOr<std::vector<MemoryPeak>>
pipewright::findMemoryPeaks(ModuleOp module) {
  SymbolTable symbols(module);
  BufferNames names(module, symbols);
  std::vector<MemoryPeak> peaks;
  for (auto schedule : module.getOps<pp::ScheduleOp>()) {
    for (int64_t rank : llvm::seq<int64_t>(0, schedule.getRanks())) {
      FailureOr<RankMemory> memory =
          RankMemory::get(module, symbols, rank, schedule.getMicrobatches());
      if (failed(memory))
        return failure();
      peaks.push_back(findPeak(*memory, names, symbols));
      peaks.back().rank = rank;
    }
  }
  for (auto arena : module.getOps<pp::ArenaOp>())
    if (arena.getRank() < peaks.size())
      peaks[arena.getRank()].arenaBytes = arena.getBytes();
  return peaks;
}
