//===- BalanceStages.cpp - Cut the layers into stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Passes.h"

#include "pipewright/Dialect/PP/ExchangedRows.h"
#include "pipewright/Stages/LayerUnits.h"
#include "pipewright/Stages/Partition.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace pipewright {
#define GEN_PASS_DEF_BALANCESTAGES
#include "pipewright/Stages/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct BalanceStages : pipewright::impl::BalanceStagesBase<BalanceStages> {
  using BalanceStagesBase::BalanceStagesBase;
  void runOnOperation() override;

private:
  LogicalResult checkPlacement(pp::ModelOp model, ArrayRef<int64_t> ranksUsed);
  LogicalResult findStarts(pp::ModelOp model);
  FailureOr<int64_t> weigh(pp::LayerOp layer);
  FailureOr<int64_t> weigh(ArrayRef<pp::LayerOp> unit);
  FailureOr<PartitionProblem> makeProblem();
  FailureOr<SmallVector<size_t>> cut(pp::ModelOp model);
  FailureOr<SmallVector<size_t>> cutAsAsked(pp::ModelOp model);
  void createStages(ArrayRef<size_t> cut, int64_t direction);
  void createStage(int64_t index, ArrayRef<pp::LayerOp> stageLayers,
                   size_t first, int64_t direction);

  int64_t getStages() const {
    return placement.empty() ? ranks * chunks : placement.size();
  }
  int64_t getRank(int64_t stage, int64_t direction) const {
    if (direction == 1)
      return reversePlacement[stage];
    return placement.empty() ? stage % ranks : placement[stage];
  }

  SmallVector<pp::LayerOp> layers;
  /// Layers at which a stage must begin.
  llvm::SmallSetVector<size_t, 4> starts;
  std::optional<LayerUnits> units;
  SymbolTable *symbols = nullptr;
};
} // namespace

LogicalResult BalanceStages::checkPlacement(pp::ModelOp model,
                                            ArrayRef<int64_t> ranksUsed) {
  if (ranks < 1 || chunks < 1)
    return model.emitError("cannot be cut for ")
           << ranks.getValue() << " ranks with " << chunks.getValue()
           << " chunks each";
  if (ranksUsed.empty())
    return success();
  if (int64_t(ranksUsed.size()) != getStages())
    return model.emitError("cannot be cut into ")
           << getStages() << " stages in one direction and " << ranksUsed.size()
           << " in the other";
  llvm::SmallDenseSet<int64_t> used;
  for (auto [stage, rank] : llvm::enumerate(ranksUsed)) {
    if (rank < 0 || rank >= ranks)
      return model.emitError("cannot be cut with stage ")
             << stage << " on rank " << rank << " of " << ranks.getValue();
    used.insert(rank);
  }
  if (int64_t(used.size()) == ranks)
    return success();
  return model.emitError("cannot be cut with stages on ")
         << used.size() << " of " << ranks.getValue() << " ranks";
}

/// Whether \p loc is, or was fused from, the location of node \p name.
static bool namesNode(Location loc, StringRef name) {
  bool found = false;
  loc->walk([&](Location part) {
    auto node = dyn_cast<NameLoc>(part);
    found |= node && node.getName() == name;
    return WalkResult(found ? WalkResult::interrupt() : WalkResult::advance());
  });
  return found;
}

LogicalResult BalanceStages::findStarts(pp::ModelOp model) {
  for (const std::string &name : splitAt) {
    auto *layer = llvm::find_if(
        layers, [&](pp::LayerOp layer) { return layer.getName() == name; });
    if (layer == layers.end())
      layer = llvm::find_if(layers, [&](pp::LayerOp layer) {
        return namesNode(layer.getLoc(), name);
      });
    if (layer == layers.end())
      return model.emitError("has no layer or node '")
             << name << "' to begin a stage at";
    if (layer != layers.begin())
      starts.insert(layer - layers.begin());
  }
  return success();
}

/// What the policy of \p layer adds: what replicas have exchanged is kept.
static int64_t getRecomputePicoseconds(pp::LayerOp layer) {
  pp::RematPolicy policy = layer.getRemat();
  int64_t time = layer.getCostAttr().getRecomputePicoseconds(policy);
  if (policy != pp::RematPolicy::Full)
    return time;
  return std::max<int64_t>(time - pp::getExchangePicoseconds(layer), 0);
}

FailureOr<int64_t> BalanceStages::weigh(pp::LayerOp layer) {
  if (balance == Balance::Params) {
    int64_t elements = 0;
    for (auto name : layer.getParameters().getAsRange<FlatSymbolRefAttr>())
      elements += symbols->lookup<pp::ParameterOp>(name.getValue())
                      .getTensorType()
                      .getNumElements();
    return elements;
  }
  std::optional<pp::CostAttr> cost = layer.getCost();
  if (!cost)
    return layer.emitOpError("has no cost to balance by; run "
                             "'--pp-annotate-costs' first");
  if (balance == Balance::Flops)
    return cost->getFlopsF() + cost->getFlopsB() + cost->getFlopsW();
  return cost->getPicosecondsF() + cost->getPicosecondsB() +
         cost->getPicosecondsW() + getRecomputePicoseconds(layer);
}

/// What the layers of \p unit weigh together.
FailureOr<int64_t> BalanceStages::weigh(ArrayRef<pp::LayerOp> unit) {
  // The loss is not a layer of its own where layers are counted.
  if (balance == Balance::Uniform)
    return 1;
  int64_t sum = 0;
  for (pp::LayerOp layer : unit) {
    FailureOr<int64_t> weight = weigh(layer);
    if (failed(weight))
      return failure();
    sum += *weight;
  }
  return sum;
}

FailureOr<PartitionProblem> BalanceStages::makeProblem() {
  PartitionProblem problem;
  problem.stages = getStages();
  problem.bytesBefore = units->getBytesBefore();
  for (size_t unit = 0; unit < units->size(); ++unit) {
    FailureOr<int64_t> weight = weigh((*units)[unit]);
    if (failed(weight))
      return failure();
    problem.weights.push_back(*weight);
    if (starts.contains(units->getBegin(unit)))
      problem.starts.push_back(unit);
  }
  return problem;
}

/// The bytes that are kept of \p layer in a stage of \p stageLayers. A full
/// layer that follows another one starts from what is computed again.
static int64_t getKeptBytes(pp::LayerOp layer,
                            ArrayRef<pp::LayerOp> stageLayers) {
  int64_t bytes = layer.getCostAttr().getKeptBytes(layer.getRemat());
  if (layer.getRemat() != pp::RematPolicy::Full)
    return bytes;
  llvm::SetVector<Value> arguments;
  arguments.insert_range(layer.getArguments());
  for (Value argument : arguments) {
    auto maker = argument.getDefiningOp<pp::LayerOp>();
    if (maker && maker.getRemat() == pp::RematPolicy::Full &&
        llvm::is_contained(stageLayers, maker))
      bytes -= pp::getBytes(argument.getType());
  }
  return bytes;
}

/// What \p layer costs with its policy of recomputation, as a part of a stage.
static pp::CostAttr getCostInStage(pp::LayerOp layer,
                                   ArrayRef<pp::LayerOp> stageLayers) {
  pp::CostAttr cost = layer.getCostAttr();
  if (!cost)
    return cost;
  return pp::CostAttr::get(
      cost.getContext(), cost.getFlopsF(), cost.getFlopsB(), cost.getFlopsW(),
      cost.getPicosecondsF(), cost.getPicosecondsB(), cost.getPicosecondsW(),
      cost.getActivationBytes(), getKeptBytes(layer, stageLayers),
      getRecomputePicoseconds(layer),
      /*selective_bytes=*/0, /*input_bytes=*/0, cost.getSource());
}

static pp::CostAttr addCosts(pp::CostAttr lhs, pp::CostAttr rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return pp::CostAttr::get(lhs.getContext(), lhs.getFlopsF() + rhs.getFlopsF(),
                           lhs.getFlopsB() + rhs.getFlopsB(),
                           lhs.getFlopsW() + rhs.getFlopsW(),
                           lhs.getPicosecondsF() + rhs.getPicosecondsF(),
                           lhs.getPicosecondsB() + rhs.getPicosecondsB(),
                           lhs.getPicosecondsW() + rhs.getPicosecondsW(),
                           lhs.getActivationBytes() + rhs.getActivationBytes(),
                           lhs.getResidualBytes() + rhs.getResidualBytes(),
                           lhs.getPicosecondsR() + rhs.getPicosecondsR(),
                           /*selective_bytes=*/0, /*input_bytes=*/0,
                           std::min(lhs.getSource(), rhs.getSource()));
}

void BalanceStages::createStage(int64_t index,
                                ArrayRef<pp::LayerOp> stageLayers, size_t first,
                                int64_t direction) {
  OpBuilder builder(&getContext());
  SmallVector<StringRef> names;
  llvm::SetVector<Attribute> parameters;
  pp::CostAttr cost;
  for (pp::LayerOp layer : stageLayers) {
    names.push_back(layer.getName());
    parameters.insert_range(layer.getParameters());
    cost = addCosts(cost, getCostInStage(layer, stageLayers));
  }
  int64_t rank = getRank(index, direction);
  int64_t chunk = llvm::count_if(llvm::seq<int64_t>(0, index), [&](int64_t s) {
    return getRank(s, direction) == rank;
  });
  symbols->insert(pp::StageOp::create(
      builder, pp::LayerOp(stageLayers.front()).getLoc(),
      (direction == 0 ? "s" : "u") + std::to_string(index), index, rank, chunk,
      first + direction * layers.size(), builder.getStrArrayAttr(names),
      builder.getArrayAttr(parameters.getArrayRef()), cost, direction));
}

void BalanceStages::createStages(ArrayRef<size_t> cut, int64_t direction) {
  for (auto [index, unit] : llvm::enumerate(cut)) {
    size_t begin = units->getBegin(unit);
    size_t end = index + 1 < cut.size() ? units->getBegin(cut[index + 1])
                                        : layers.size();
    createStage(index, ArrayRef(layers).slice(begin, end - begin), begin,
                direction);
  }
}

/// The first unit of each stage, if the sizes of the stages are given.
FailureOr<SmallVector<size_t>> BalanceStages::cutAsAsked(pp::ModelOp model) {
  if (!splitAt.empty())
    return model.emitError("cannot be cut both by sizes and at nodes");
  if (int64_t(sizes.size()) != getStages())
    return model.emitError("cannot be cut into ")
           << getStages() << " stages by the sizes of " << sizes.size();
  SmallVector<size_t> cut;
  size_t begin = 0;
  for (auto [stage, size] : llvm::enumerate(sizes)) {
    if (size < 1)
      return model.emitError("has no layer for stage ") << stage;
    cut.push_back(begin);
    begin += size;
  }
  if (begin == units->size())
    return cut;
  InFlightDiagnostic error = model.emitError("the model has ")
                             << units->size() << " layers, but the stages hold "
                             << begin << "; the layers are ";
  llvm::interleaveComma(llvm::seq(units->size()), error, [&](size_t unit) {
    error << "'" << pp::LayerOp((*units)[unit].front()).getName() << "'";
  });
  return error;
}

/// The first unit of each stage.
FailureOr<SmallVector<size_t>> BalanceStages::cut(pp::ModelOp model) {
  if (!sizes.empty())
    return cutAsAsked(model);
  FailureOr<PartitionProblem> problem = makeProblem();
  if (failed(problem))
    return failure();
  llvm::Expected<SmallVector<size_t>> best = partitionLayers(*problem);
  if (best)
    return std::move(*best);
  return model.emitError("for ")
         << ranks.getValue() << " ranks with " << chunks.getValue()
         << (chunks == 1 ? " stage" : " stages")
         << " each: " << llvm::toString(best.takeError());
}

void BalanceStages::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model) {
    getOperation().emitError("has no 'pp.model' whose layers to balance");
    return signalPassFailure();
  }
  if (failed(checkPlacement(model, *placement)) ||
      failed(checkPlacement(model, *reversePlacement)))
    return signalPassFailure();
  SymbolTable table(getOperation());
  symbols = &table;
  layers.assign(model.getBody().getOps<pp::LayerOp>().begin(),
                model.getBody().getOps<pp::LayerOp>().end());
  starts.clear();
  if (failed(findStarts(model)))
    return signalPassFailure();
  units.emplace(model, starts.getArrayRef());
  FailureOr<SmallVector<size_t>> cut = this->cut(model);
  if (failed(cut))
    return signalPassFailure();
  createStages(*cut, /*direction=*/0);
  if (!reversePlacement.empty())
    createStages(*cut, /*direction=*/1);
}
