//===- OutlineLayers.cpp - Turn blocks into layers that call functions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Layers/Passes.h"

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/SetVector.h"

namespace pipewright {
#define GEN_PASS_DEF_OUTLINELAYERS
#include "pipewright/Layers/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct OutlineLayers : pipewright::impl::OutlineLayersBase<OutlineLayers> {
  void runOnOperation() override;

private:
  void outline(pp::BlockOp block, int64_t index);
  nn::FunctionOp makeFunction(pp::BlockOp block, ArrayRef<Value> data,
                              Type keyType, ArrayRef<Attribute> parameters);
  nn::FunctionOp findOrInsert(nn::FunctionOp function,
                              ArrayRef<Attribute> parameters);

  /// A function, and which of its parameters are trainable in the layers that
  /// call it: its derivative depends on that.
  struct SharedFunction {
    nn::FunctionOp function;
    SmallVector<bool> trainable;
  };
  SmallVector<SharedFunction> functions;
  SymbolTable *symbols = nullptr;
};
} // namespace

/// The values that \p block takes from outside, in the order of their use.
static SmallVector<Value> findCaptures(pp::BlockOp block) {
  llvm::SetVector<Value> captures;
  for (Operation &op : block.getBody().front())
    for (Value operand : op.getOperands())
      if (operand.getParentBlock() != &block.getBody().front())
        captures.insert(operand);
  return captures.takeVector();
}

/// The names of the parameters that \p block reads, each once.
static SmallVector<Attribute> findParameters(pp::BlockOp block) {
  llvm::SetVector<Attribute> parameters;
  for (auto get : block.getBody().getOps<pp::GetParameterOp>())
    parameters.insert(get.getParameterAttr());
  return parameters.takeVector();
}

/// The locations of all nodes of \p block, the one that names it best first,
/// so that the layer still knows its nodes when its function is shared.
static Location fuseLocations(pp::BlockOp block) {
  llvm::SetVector<Location> locations;
  locations.insert(block.getLoc());
  for (Operation &op : block.getBody().front().without_terminator())
    if (!isa<nn::ConstantOp, pp::GetParameterOp>(op))
      locations.insert(op.getLoc());
  return FusedLoc::get(block.getContext(), locations.getArrayRef());
}

static bool computeTheSame(nn::FunctionOp lhs, nn::FunctionOp rhs) {
  return lhs.getFunctionType() == rhs.getFunctionType() &&
         OperationEquivalence::isRegionEquivalentTo(
             &lhs.getBody(), &rhs.getBody(),
             OperationEquivalence::IgnoreLocations);
}

nn::FunctionOp OutlineLayers::makeFunction(pp::BlockOp block,
                                           ArrayRef<Value> data, Type keyType,
                                           ArrayRef<Attribute> parameters) {
  SmallVector<Type> types(ValueRange(data).getTypes());
  if (keyType)
    types.push_back(keyType);
  for (Attribute name : parameters)
    types.push_back(
        symbols
            ->lookup<pp::ParameterOp>(cast<FlatSymbolRefAttr>(name).getValue())
            .getType());
  OpBuilder builder(&getContext());
  auto function = nn::FunctionOp::create(
      builder, block.getLoc(), block.getName(),
      builder.getFunctionType(types, block.getResultTypes()));
  Block &body = function.getBody().emplaceBlock();
  for (Type type : types)
    body.addArgument(type, block.getLoc());

  IRMapping mapping;
  mapping.map(data, body.getArguments().take_front(data.size()));
  int64_t streams = 0;
  builder.setInsertionPointToEnd(&body);
  for (Operation &op : block.getBody().front().without_terminator()) {
    if (auto get = dyn_cast<pp::GetParameterOp>(op)) {
      size_t position =
          llvm::find(parameters, get.getParameterAttr()) - parameters.begin();
      mapping.map(get.getResult(),
                  body.getArgument(data.size() + (keyType ? 1 : 0) + position));
      continue;
    }
    if (auto key = dyn_cast<pp::RandomKeyOp>(op)) {
      mapping.map(key.getResult(), body.getArgument(data.size()));
      continue;
    }
    Operation *copy = builder.clone(op, mapping);
    if (auto mask = dyn_cast<nn::DropoutMaskOp>(copy))
      mask.setStream(streams++);
  }
  SmallVector<Value> results;
  for (Value value : block.getBody().front().getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  nn::ReturnOp::create(builder, block.getLoc(), results);
  return function;
}

/// Keeps \p function, or erases it and returns an earlier one that computes
/// the same.
nn::FunctionOp OutlineLayers::findOrInsert(nn::FunctionOp function,
                                           ArrayRef<Attribute> parameters) {
  SmallVector<bool> trainable;
  for (Attribute name : parameters)
    trainable.push_back(
        symbols
            ->lookup<pp::ParameterOp>(cast<FlatSymbolRefAttr>(name).getValue())
            .getTrainable());
  for (SharedFunction &known : functions)
    if (known.trainable == trainable &&
        computeTheSame(known.function, function)) {
      function.erase();
      return known.function;
    }
  symbols->insert(function);
  functions.push_back({function, trainable});
  return function;
}

void OutlineLayers::outline(pp::BlockOp block, int64_t index) {
  SmallVector<Value> data = findCaptures(block);
  SmallVector<Attribute> parameters = findParameters(block);
  auto keys = block.getBody().getOps<pp::RandomKeyOp>();
  Type keyType = keys.empty() ? Type() : (*keys.begin()).getType();
  nn::FunctionOp function =
      findOrInsert(makeFunction(block, data, keyType, parameters), parameters);

  OpBuilder builder(block);
  if (keyType)
    data.push_back(
        pp::RandomKeyOp::create(builder, block.getLoc(), keyType, index));
  auto layer = pp::LayerOp::create(
      builder, fuseLocations(block), block.getResultTypes(), block.getName(),
      function.getSymName(), data, builder.getArrayAttr(parameters),
      /*cost=*/pp::CostAttr());
  block.replaceAllUsesWith(layer.getOutputs());
  block.erase();
}

void OutlineLayers::runOnOperation() {
  pp::ModelOp model = pp::getModel(getOperation());
  if (!model) {
    getOperation().emitError("has no 'pp.model' whose layers to outline");
    return signalPassFailure();
  }
  for (Operation &op : model.getBody().front().without_terminator()) {
    if (isa<pp::BlockOp>(op))
      continue;
    op.emitOpError("is in no 'pp.block'; run '--pp-form-layers' first");
    return signalPassFailure();
  }
  SymbolTable table(getOperation());
  symbols = &table;
  functions.clear();
  int64_t index = 0;
  for (auto block :
       llvm::make_early_inc_range(model.getBody().getOps<pp::BlockOp>()))
    outline(block, index++);
  pp::setPhase(getOperation(), pp::Phase::Layers);
}
