//===- DescribeRank.cpp - The runtime's descriptor of a rank, from the IR
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/DescribeRank.h"

#include "pipewright/Codegen/TaskSignature.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Package/Dtypes.h"
#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Program/RankMemory.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

static TensorDescription describeTensor(StringRef name, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return {
      name.str(), getDtype(tensor.getElementType()),
      std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()),
      static_cast<uint64_t>(pp::getBytes(type))};
}

static PprtBufferKind getBufferKind(pp::BindingKind kind) {
  switch (kind) {
  case pp::BindingKind::Channel:
    return PPRT_BUFFER_CHANNEL;
  case pp::BindingKind::LossSum:
    return PPRT_BUFFER_LOSS_SUM;
  case pp::BindingKind::LossWeight:
    return PPRT_BUFFER_LOSS_WEIGHT;
  case pp::BindingKind::LossScale:
    return PPRT_BUFFER_LOSS_SCALE;
  case pp::BindingKind::Output:
    return PPRT_BUFFER_OUTPUT;
  case pp::BindingKind::Input:
    return PPRT_BUFFER_INPUT;
  case pp::BindingKind::RandomKey:
    return PPRT_BUFFER_RANDOM_KEY;
  case pp::BindingKind::Workspace:
    return PPRT_BUFFER_WORKSPACE;
  case pp::BindingKind::Sent:
    return PPRT_BUFFER_SENT;
  case pp::BindingKind::Received:
    return PPRT_BUFFER_RECEIVED;
  default:
    return PPRT_BUFFER_SAVED;
  }
}

namespace {

class RankDescriber {
public:
  RankDescriber(ModuleOp module, int64_t rank, RankDescription &description)
      : module(module), symbols(module), rank(rank), description(description) {}

  void describe();

private:
  void readArena();
  void describeInputs();
  void describeParameters();
  void describeUpdate(pp::UpdateOp update, uint32_t order,
                      ParameterDescription &parameter);
  void describeChannels();
  void describeExchanges();
  /// Gives the description of what a buffer is for its number, and the other
  /// way round.
  void joinBuffer(pp::BindingAttr binding, uint32_t number);
  bool isMessage(pp::BindingAttr binding) const;
  void describeBuffers();
  void findMessages();
  void describeTask(pp::TaskOp task);

  /// The place of a binding in this rank's arena, or null.
  pp::PlaceOp find(pp::BindingKind kind, StringRef name, int64_t index = 0) {
    return places.lookup(
        pp::BindingAttr::get(module.getContext(), kind, name, index));
  }
  uint64_t getOffset(pp::BindingKind kind, StringRef name, int64_t index = 0) {
    pp::PlaceOp place = find(kind, name, index);
    return place ? place.getOffset() : 0;
  }
  int64_t getRank(StringRef stage) {
    return symbols.lookup<pp::StageOp>(stage).getRank();
  }
  /// The rank whose stage holds the layer of number \p layer.
  int64_t getRankOfLayer(int64_t layer);

  ModuleOp module;
  SymbolTable symbols;
  int64_t rank;
  RankDescription &description;
  llvm::DenseMap<pp::BindingAttr, pp::PlaceOp> places;
  llvm::DenseMap<pp::BindingAttr, uint32_t> buffers;
  llvm::StringMap<uint32_t> parameters, inputs, outputs, channels, exchanges;
  /// The bytes that a binding's value takes, without rounding.
  llvm::DenseMap<pp::BindingAttr, int64_t> sizes;
};

} // namespace

int64_t RankDescriber::getRankOfLayer(int64_t layer) {
  for (auto stage : module.getOps<pp::StageOp>()) {
    int64_t first = stage.getFirstLayer();
    if (layer >= first &&
        layer < first + static_cast<int64_t>(stage.getLayers().size()))
      return stage.getRank();
  }
  llvm_unreachable("a verified plan has a stage for each layer");
}

void RankDescriber::readArena() {
  for (auto arena : module.getOps<pp::ArenaOp>()) {
    if (static_cast<int64_t>(arena.getRank()) != rank)
      continue;
    description.arenaBytes = arena.getBytes();
    for (auto place : arena.getOps<pp::PlaceOp>())
      places[place.getBinding()] = place;
  }
}

void RankDescriber::describeInputs() {
  pp::ModelOp model = pp::getModel(module);
  for (auto [index, argument] :
       llvm::enumerate(model.getBody().getArguments())) {
    pp::InputAttr spec = model.getInputSpec(index);
    inputs[spec.getName()] = index;
    description.inputs.push_back(
        {describeTensor(spec.getName(), argument.getType()), spec.getAxis(),
         spec.getLabelClasses(), spec.getIgnoreIndex(), spec.getIndexLimit(),
         /*read=*/bool(find(pp::BindingKind::Input, spec.getName()))});
  }
}

void RankDescriber::describeUpdate(pp::UpdateOp update, uint32_t order,
                                   ParameterDescription &parameter) {
  StringRef name = update.getParameter();
  parameter.trainable = true;
  parameter.order = order;
  parameter.owner = getRankOfLayer(update.getLayers().front());
  for (uint64_t state : {0, 1})
    parameter.state[state] = getOffset(pp::BindingKind::State, name, state);
  bool found = false;
  for (int64_t layer : update.getLayers()) {
    pp::PlaceOp place = find(pp::BindingKind::Gradient, name, layer);
    uint64_t offset = place ? place.getOffset() : 0;
    parameter.contributions.push_back(
        {static_cast<uint32_t>(getRankOfLayer(layer)),
         static_cast<uint32_t>(layer), offset});
    if (place && !found)
      parameter.gradient = offset;
    found |= bool(place);
  }
}

void RankDescriber::describeParameters() {
  llvm::StringMap<std::pair<pp::UpdateOp, uint32_t>> updates;
  for (auto [order, update] : llvm::enumerate(module.getOps<pp::UpdateOp>()))
    updates[update.getParameter()] = {update, order};
  for (auto parameter : module.getOps<pp::ParameterOp>()) {
    StringRef name = parameter.getSymName();
    pp::PlaceOp place = find(pp::BindingKind::Parameter, name);
    if (!place)
      continue;
    parameters[name] = description.parameters.size();
    ParameterDescription &added = description.parameters.emplace_back();
    added.tensor = describeTensor(name, parameter.getType());
    added.offset = place.getOffset();
    added.decayed = parameter.getTensorType().getRank() != 1;
    added.owner = rank;
    added.shards = parameter.getShards();
    if (auto it = updates.find(name); it != updates.end())
      describeUpdate(it->second.first, it->second.second, added);
  }
}

void RankDescriber::describeChannels() {
  for (auto [id, channel] : llvm::enumerate(module.getOps<pp::ChannelOp>())) {
    auto source = symbols.lookup<pp::StageOp>(channel.getSource());
    auto target = symbols.lookup<pp::StageOp>(channel.getTarget());
    if (static_cast<int64_t>(source.getRank()) != rank &&
        static_cast<int64_t>(target.getRank()) != rank)
      continue;
    channels[channel.getSymName()] = description.channels.size();
    ChannelDescription &added = description.channels.emplace_back();
    added.name = channel.getSymName().str();
    added.kind = channel.getKind() == pp::ChannelKind::Activation
                     ? PPRT_ACTIVATION
                     : PPRT_GRADIENT;
    added.id = id;
    added.source = source.getRank();
    added.target = target.getRank();
    added.sourceStage = source.getIndex();
    added.targetStage = target.getIndex();
    added.tensor = describeTensor(channel.getSymName(), channel.getType());
    sizes[pp::BindingAttr::get(module.getContext(), pp::BindingKind::Channel,
                               channel.getSymName(), 0)] = added.tensor.bytes;
  }
}

/// Numbered on after the channels, which have the first message tags.
void RankDescriber::describeExchanges() {
  uint32_t id = llvm::range_size(module.getOps<pp::ChannelOp>());
  for (auto exchange : module.getOps<pp::ExchangeOp>()) {
    uint32_t number = id++;
    auto stage = symbols.lookup<pp::StageOp>(exchange.getStage());
    if (static_cast<int64_t>(stage.getRank()) != rank)
      continue;
    StringRef name = exchange.getSymName();
    exchanges[name] = description.exchanges.size();
    ExchangeDescription &added = description.exchanges.emplace_back();
    added.name = name.str();
    added.id = number;
    added.stage = stage.getIndex();
    int64_t bytes = pp::getBytes(exchange.getType());
    added.blockBytes = bytes / exchange.getPeers();
    for (pp::BindingKind kind :
         {pp::BindingKind::Sent, pp::BindingKind::Received})
      sizes[pp::BindingAttr::get(module.getContext(), kind, name, 0)] = bytes;
  }
}

void RankDescriber::describeBuffers() {
  for (auto arena : module.getOps<pp::ArenaOp>()) {
    if (static_cast<int64_t>(arena.getRank()) != rank)
      continue;
    for (auto place : arena.getOps<pp::PlaceOp>()) {
      pp::BindingAttr binding = place.getBinding();
      if (!place.getSlotOf())
        continue; // Not one per micro-batch.
      if (binding == RankMemory::getStepWorkspace(binding.getContext())) {
        description.reductionOffset = place.getOffset(0, /*isEval=*/false);
        continue;
      }
      uint32_t number = description.buffers.size();
      buffers[binding] = number;
      BufferDescription &buffer = description.buffers.emplace_back();
      buffer.kind = getBufferKind(binding.getKind());
      buffer.offsets.assign(place.getOffsets().begin(),
                            place.getOffsets().end());
      buffer.bytes = binding.getKind() == pp::BindingKind::Workspace
                         ? place.getBytes()
                         : sizes.lookup(binding);
      buffer.slotOf.assign(place.getSlotOf()->begin(),
                           place.getSlotOf()->end());
      buffer.evalSlot = place.getEvalSlot();
      joinBuffer(binding, number);
    }
  }
}

void RankDescriber::joinBuffer(pp::BindingAttr binding, uint32_t number) {
  int64_t &index = description.buffers[number].index;
  StringRef name = binding.getName();
  switch (binding.getKind()) {
  case pp::BindingKind::RandomKey:
    index = binding.getIndex();
    break;
  case pp::BindingKind::Input:
    index = inputs.lookup(name);
    break;
  case pp::BindingKind::Output:
    index = outputs.lookup(name);
    description.outputs[index].buffer = number;
    break;
  case pp::BindingKind::Channel:
    index = channels.lookup(name);
    description.channels[index].buffer = number;
    break;
  case pp::BindingKind::Sent:
    index = exchanges.lookup(name);
    description.exchanges[index].sent = number;
    break;
  case pp::BindingKind::Received:
    index = exchanges.lookup(name);
    description.exchanges[index].received = number;
    break;
  default:
    break;
  }
}

/// Whether what is bound comes from another rank or goes to one.
bool RankDescriber::isMessage(pp::BindingAttr binding) const {
  if (binding.getKind() == pp::BindingKind::Sent ||
      binding.getKind() == pp::BindingKind::Received)
    return true;
  auto channel = channels.find(binding.getName());
  return binding.getKind() == pp::BindingKind::Channel &&
         channel != channels.end() &&
         description.channels[channel->second].source !=
             description.channels[channel->second].target;
}

/// Finds the end of the arena that only messages use.
void RankDescriber::findMessages() {
  int64_t begin = description.arenaBytes, othersEnd = 0;
  for (auto &[binding, place] : places) {
    for (int64_t offset : place.getOffsets())
      if (isMessage(binding))
        begin = std::min(begin, offset);
      else
        othersEnd = std::max<int64_t>(othersEnd, offset + place.getBytes());
  }
  if (othersEnd <= begin)
    description.messageBytes = description.arenaBytes - begin;
}

void RankDescriber::describeTask(pp::TaskOp task) {
  TaskDescription &added = description.tasks.emplace_back();
  added.name = task.getSymName().str();
  added.role = static_cast<PprtRole>(task.getRole());
  added.stage = symbols.lookup<pp::StageOp>(task.getStage()).getIndex();
  for (pp::BindingAttr binding : TaskSignature(task).bindings) {
    BindingDescription &bound = added.bindings.emplace_back();
    switch (binding.getKind()) {
    case pp::BindingKind::Parameter:
      bound.kind = PPRT_BIND_PARAMETER;
      bound.index = parameters.lookup(binding.getName());
      break;
    case pp::BindingKind::Gradient:
      bound.kind = PPRT_BIND_GRADIENT;
      bound.offset = places.lookup(binding).getOffset();
      break;
    default:
      bound.kind = PPRT_BIND_BUFFER;
      bound.index = buffers.lookup(binding);
    }
  }
}

void RankDescriber::describe() {
  readArena();
  describeInputs();
  describeParameters();

  auto modelReturn = cast<pp::ReturnOp>(
      pp::getModel(module).getBody().front().getTerminator());
  SmallVector<pp::TaskOp> tasks;
  for (auto task : module.getOps<pp::TaskOp>()) {
    bool isHere = getRank(task.getStage()) == rank;
    if (isHere)
      tasks.push_back(task);
    for (auto [value, attribute] : llvm::zip_equal(task.getYield().getValues(),
                                                   task.getResultBindings())) {
      auto binding = cast<pp::BindingAttr>(attribute);
      sizes[binding] = pp::getBytes(value.getType());
      if (binding.getKind() != pp::BindingKind::Output)
        continue;
      outputs[binding.getName()] = description.outputs.size();
      description.outputs.push_back(
          {describeTensor(binding.getName(), value.getType()),
           modelReturn.getAxis(binding.getName())});
    }
    for (auto [argument, binding] : llvm::zip_equal(
             task.getBody().getArguments(), task.getArgumentBindings()))
      sizes[cast<pp::BindingAttr>(binding)] = pp::getBytes(argument.getType());
  }
  describeChannels();
  describeExchanges();
  describeBuffers();
  findMessages();
  for (pp::TaskOp task : tasks)
    describeTask(task);
}

RankDescription
pipewright::describeRank(ModuleOp module, int64_t rank, const PlanSummary &plan,
                         const std::array<uint8_t, 32> &planHash) {
  RankDescription description;
  description.toolVersion = PIPEWRIGHT_VERSION;
  description.modelName = plan.model;
  description.planHash = planHash;
  description.rank = rank;
  description.ranks = plan.ranks;
  description.dataParallel = plan.replicas;
  description.expertParallel = plan.peers;
  description.stages = plan.stages.size();
  description.microbatches = plan.microbatches;
  description.microbatchSize = plan.microbatchSize;
  description.forwardOnly = plan.forwardOnly;
  description.lossRank = plan.lossRank;
  description.secondLossRank = plan.secondLossRank;
  for (auto rule : module.getOps<pp::UpdateRuleOp>())
    description.optimizer =
        rule.getOptimizer() == pp::Optimizer::AdamW ? PPRT_ADAMW : PPRT_SGD;
  RankDescriber(module, rank, description).describe();
  return description;
}
