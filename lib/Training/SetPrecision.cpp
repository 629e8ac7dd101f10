//===- SetPrecision.cpp - In which float type what is computed and kept
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Autocast.h"

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Training/Activity.h"
#include "pipewright/Training/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSwitch.h"

namespace pipewright {
#define GEN_PASS_DEF_SETPRECISION
#include "pipewright/Training/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// The forms that a layer function takes for the layers that call it.
struct Variants {
  /// As it was; belongs to no module.
  OwningOpRef<nn::FunctionOp> original;
  SmallVector<nn::FunctionOp> functions;
};

class PrecisionSetter {
public:
  explicit PrecisionSetter(pp::ModelOp model)
      : model(model), module(model->getParentOfType<ModuleOp>()),
        context(model.getContext()), symbols(module) {}

  LogicalResult run(StringRef precisionName);

private:
  LogicalResult choosePrecision(StringRef name);
  LogicalResult checkContractions();
  LogicalResult keepMasters();
  bool isPassedNarrow(Value result) const;
  FunctionType getType(pp::LayerOp layer) const;
  nn::FunctionOp getVariant(pp::LayerOp layer, FunctionType type);

  pp::ModelOp model;
  ModuleOp module;
  MLIRContext *context;
  SymbolTable symbols;
  /// What contractions are computed in; null: as the model says.
  FloatType precision;
  /// The same if it has fewer bits than f32, or null.
  FloatType narrow;
  /// Values of the model that depend on a trainable parameter.
  DenseSet<Value> trained;
  DenseMap<StringAttr, Variants> variants;
};

struct SetPrecision : pipewright::impl::SetPrecisionBase<SetPrecision> {
  using SetPrecisionBase::SetPrecisionBase;

  void runOnOperation() override {
    pp::ModelOp model = pp::getModel(getOperation());
    if (!model)
      getOperation().emitError("has no 'pp.model'");
    if (!model || failed(PrecisionSetter(model).run(precision)))
      signalPassFailure();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

LogicalResult PrecisionSetter::choosePrecision(StringRef name) {
  if (name.empty())
    return success();
  precision = llvm::StringSwitch<FloatType>(name)
                  .Case("f32", Float32Type::get(context))
                  .Case("bf16", BFloat16Type::get(context))
                  .Case("f16", Float16Type::get(context))
                  .Default(FloatType());
  if (!precision)
    return module.emitError() << "unknown precision '" << name
                              << "'; choose 'f32', 'bf16' or 'f16'";
  narrow = precision.isF32() ? FloatType() : precision;
  return success();
}

/// Nothing is computed in another type than asked for.
LogicalResult PrecisionSetter::checkContractions() {
  if (!precision)
    return success();
  WalkResult result = module.walk([&](Operation *op) {
    if (!op->hasTrait<nn::Contraction>())
      return WalkResult::advance();
    Type element = getElementTypeOrSelf(op->getOperand(0));
    if (element == precision || (narrow && element.isF32()))
      return WalkResult::advance();
    op->emitOpError("computes in ")
        << element << ", which precision " << precision
        << " does not change; leave it to the model";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Keeps trainable parameters of 16 bits in f32.
LogicalResult PrecisionSetter::keepMasters() {
  Type f32 = Float32Type::get(context);
  for (auto parameter : module.getOps<pp::ParameterOp>()) {
    RankedTensorType type = parameter.getTensorType();
    Type stored = type.getElementType();
    if (!parameter.getTrainable() || stored.getIntOrFloatBitWidth() >= 32)
      continue;
    RankedTensorType wide = type.clone(f32);
    if (auto external = dyn_cast<pp::ExternalAttr>(parameter.getValue())) {
      parameter.setValueAttr(pp::ExternalAttr::get(
          context, external.getFile(), external.getOffset(),
          external.getLength(), stored));
    } else {
      auto elements = cast<ElementsAttr>(parameter.getValue());
      FailureOr<nn::HostTensor> values =
          nn::HostTensor::fromAttribute(elements);
      if (failed(values))
        return parameter.emitError("holds no values that can be converted");
      parameter.setValueAttr(
          values->toAttribute(parameter.getWholeType().clone(f32)));
    }
    parameter.setType(wide);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Whether \p result is passed on in the narrow type: only to other layers, and
/// as an activation. What no parameter makes, such as a mask, may need f32.
bool PrecisionSetter::isPassedNarrow(Value result) const {
  return narrow && getElementTypeOrSelf(result).isF32() &&
         !result.use_empty() && trained.contains(result) &&
         llvm::all_of(result.getUsers(),
                      llvm::IsaPred<pp::LayerOp, pp::ExchangedOp>);
}

/// The type that the function of \p layer gets, the layers before it having
/// theirs.
FunctionType PrecisionSetter::getType(pp::LayerOp layer) const {
  SmallVector<Type> arguments(layer.getOperandTypes()), results;
  for (auto name : layer.getParameters().getAsRange<FlatSymbolRefAttr>())
    arguments.push_back(
        symbols.lookup<pp::ParameterOp>(name.getValue()).getType());
  for (Value result : layer.getOutputs()) {
    auto type = cast<RankedTensorType>(result.getType());
    results.push_back(isPassedNarrow(result) ? type.clone(narrow) : type);
  }
  return FunctionType::get(context, arguments, results);
}

nn::FunctionOp PrecisionSetter::getVariant(pp::LayerOp layer,
                                           FunctionType type) {
  auto callee = symbols.lookup<nn::FunctionOp>(layer.getCallee());
  Variants &known = variants[layer.getCalleeAttr().getAttr()];
  for (nn::FunctionOp function : known.functions)
    if (function.getFunctionType() == type)
      return function;
  nn::FunctionOp function = callee;
  if (!known.original) {
    known.original = callee.clone();
  } else {
    function = known.original->clone();
    symbols.insert(function, std::next(Block::iterator(callee)));
  }
  setPrecision(function, type, layer.getArguments().size(), narrow);
  known.functions.push_back(function);
  return function;
}

LogicalResult PrecisionSetter::run(StringRef precisionName) {
  auto exit = cast<pp::ReturnOp>(model.getBody().front().getTerminator());
  if (failed(choosePrecision(precisionName)) || failed(checkContractions()) ||
      (!exit.getLoss().empty() && failed(keepMasters())))
    return failure();
  trained = findTrainedValues(model);
  for (Operation &op : model.getBody().front()) {
    if (auto exchanged = dyn_cast<pp::ExchangedOp>(op))
      exchanged.getResult().setType(exchanged.getOperand().getType());
    auto layer = dyn_cast<pp::LayerOp>(op);
    if (!layer)
      continue;
    FunctionType type = getType(layer);
    layer.setCallee(getVariant(layer, type).getSymName());
    for (auto [result, wanted] :
         llvm::zip_equal(layer.getOutputs(), type.getResults()))
      result.setType(wanted);
  }
  return success();
}
