//===- ShardExperts.cpp - Share the experts of layers out over replicas
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Layers/Passes.h"

#include "SplitExperts.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/Support/FormatVariadic.h"

namespace pipewright {
#define GEN_PASS_DEF_SHARDEXPERTS
#include "pipewright/Layers/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct ShardExperts : pipewright::impl::ShardExpertsBase<ShardExperts> {
  using ShardExpertsBase::ShardExpertsBase;

  void runOnOperation() override;

private:
  /// Names of parameters, and for each the first layer that uses it so.
  using Parameters = llvm::MapVector<Attribute, pp::LayerOp>;

  LogicalResult checkOptions();
  LogicalResult findExperts(nn::FunctionOp function, pp::LayerOp layer);
  LogicalResult findShards(Parameters &shards);
  void split(SymbolTable &symbols);
  void shard(pp::ParameterOp parameter);

  struct CalledFunction {
    SmallVector<pp::LayerOp> layers;
    /// None if it has no experts.
    std::optional<ExpertRegions> experts;
  };
  llvm::MapVector<nn::FunctionOp, CalledFunction> functions;
};
} // namespace

LogicalResult ShardExperts::checkOptions() {
  if (peers < 2)
    return getOperation().emitError("experts are shared out over at least 2 "
                                    "peers, not ")
           << int64_t(peers);
  if (!(capacity >= 0))
    return getOperation().emitError("no peer can take ")
           << llvm::formatv("{0}", double(capacity)).str()
           << " times its share of rows";
  return success();
}

/// Makes one op of equal ones, so that equal lists of experts are one value.
static void removeEqualOps(nn::FunctionOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

/// Finds the experts of \p function, which \p layer calls, if it has some.
LogicalResult ShardExperts::findExperts(nn::FunctionOp function,
                                        pp::LayerOp layer) {
  CalledFunction &called = functions[function];
  called.layers.push_back(layer);
  if (called.layers.size() > 1 ||
      function.getBody().getOps<nn::ExpertMatMulOp>().empty())
    return success();
  removeEqualOps(function);
  FailureOr<ExpertRegions> experts = ExpertRegions::find(function, layer);
  if (failed(experts))
    return failure();
  for (const ExpertRegion &region : experts->getRegions())
    if (region.experts % peers != 0)
      return layer.emitOpError("'")
             << layer.getName() << "' has " << region.experts
             << " experts, which cannot be shared out evenly over "
             << int64_t(peers) << " peers";
  called.experts = std::move(*experts);
  return success();
}

/// Finds the parameters of which each expert has a part, and checks that no
/// layer uses one of them otherwise.
LogicalResult ShardExperts::findShards(Parameters &shards) {
  Parameters wholes;
  for (auto &[function, called] : functions) {
    llvm::DenseSet<Value> parts;
    if (called.experts)
      for (Operation *op : called.experts->getOps())
        if (OpOperand *parameter = called.experts->findParameter(op))
          parts.insert(parameter->get());
    for (pp::LayerOp layer : called.layers) {
      auto arguments = llvm::drop_begin(nn::FunctionOp(function).getArguments(),
                                        layer.getArguments().size());
      for (auto [argument, name] :
           llvm::zip_equal(arguments, layer.getParameters()))
        (parts.contains(argument) ? shards : wholes).try_emplace(name, layer);
    }
  }
  for (auto [name, layer] : wholes) {
    auto shared = shards.find(name);
    if (shared == shards.end())
      continue;
    InFlightDiagnostic diag = layer.emitOpError("'")
                              << layer.getName() << "' uses the whole of "
                              << name << ", of which experts have parts";
    diag.attachNote(shared->second.getLoc()) << "they are in this layer";
    return diag;
  }
  return success();
}

void ShardExperts::split(SymbolTable &symbols) {
  for (auto &[function, called] : functions) {
    if (!called.experts)
      continue;
    SplitExperts split(function, called.layers.front(),
                       std::move(*called.experts), {peers, capacity}, symbols);
    for (pp::LayerOp layer : called.layers)
      split.replace(layer);
    nn::FunctionOp(function).erase();
  }
}

void ShardExperts::shard(pp::ParameterOp parameter) {
  RankedTensorType type = parameter.getTensorType();
  SmallVector<int64_t> shape(type.getShape());
  shape.front() /= peers;
  parameter.setType(type.clone(shape));
  parameter.setShards(peers);
}

/// Gives the random keys the numbers of the layers that use them.
static void numberKeys(pp::ModelOp model) {
  for (auto [index, layer] :
       llvm::enumerate(model.getBody().getOps<pp::LayerOp>()))
    for (Value argument : layer.getArguments())
      if (auto key = argument.getDefiningOp<pp::RandomKeyOp>())
        key.setLayer(index);
  for (auto key :
       llvm::make_early_inc_range(model.getBody().getOps<pp::RandomKeyOp>()))
    if (key.use_empty())
      key.erase();
}

void ShardExperts::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model) {
    getOperation().emitError("has no 'pp.model' whose experts to share out");
    return signalPassFailure();
  }
  functions.clear();
  SymbolTable symbols(getOperation());
  if (failed(checkOptions()))
    return signalPassFailure();
  for (auto layer : model.getBody().getOps<pp::LayerOp>())
    if (failed(findExperts(symbols.lookup<nn::FunctionOp>(layer.getCallee()),
                           layer)))
      return signalPassFailure();
  Parameters shards;
  if (failed(findShards(shards)))
    return signalPassFailure();
  if (shards.empty()) {
    model.emitOpError("has no layer of experts to share out");
    return signalPassFailure();
  }
  split(symbols);
  for (auto [name, layer] : shards)
    shard(symbols.lookup<pp::ParameterOp>(
        cast<FlatSymbolRefAttr>(name).getValue()));
  numberKeys(model);
}
