//===- AttachLoss.cpp - Appends the loss as a layer
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Training/GradientBuilder.h"
#include "pipewright/Training/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

namespace pipewright {
#define GEN_PASS_DEF_ATTACHLOSS
#include "pipewright/Training/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Writes the body of a loss function: from its arguments to sum and weight.
using LossBody =
    llvm::function_ref<std::pair<Value, Value>(GradientBuilder &, ValueRange)>;

struct AttachLoss : pipewright::impl::AttachLossBase<AttachLoss> {
  using AttachLossBase::AttachLossBase;

  void runOnOperation() override;

private:
  /// An output of the model and what it is compared with.
  struct Target {
    Value output;
    int64_t axis; ///< of samples in the output
    StringRef name;
  };

  LogicalResult attach();
  LogicalResult attachCrossEntropy(StringRef names);
  LogicalResult attachMeanSquare(StringRef names);
  LogicalResult attachOutput(StringRef name);
  LogicalResult attachOnlyScalar();
  FailureOr<Target> splitNames(StringRef kind, StringRef names);
  FailureOr<Value> findOutput(StringRef name);
  FailureOr<Value> getTarget(const Target &target, Type type);
  void markLabels(Value labels, int64_t classes);
  void appendLayer(ValueRange arguments, LossBody body);
  InFlightDiagnostic error() { return emitError(model.getLoc()); }

  pp::ModelOp model;
  pp::ReturnOp exit;
};
} // namespace

//===----------------------------------------------------------------------===//
// Outputs and inputs by name
//===----------------------------------------------------------------------===//

static RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isFloat(Value value) {
  return isa<FloatType>(getTensorType(value).getElementType());
}

static std::string quoteAll(ArrayRef<StringRef> names) {
  return llvm::join(
      llvm::map_range(names,
                      [](StringRef name) { return ("'" + name + "'").str(); }),
      ", ");
}

FailureOr<Value> AttachLoss::findOutput(StringRef name) {
  SmallVector<StringRef> names(exit.getNames().getAsValueRange<StringAttr>());
  for (auto [output, outputName] : llvm::zip_equal(exit.getOutputs(), names))
    if (outputName == name)
      return Value(output);
  return error() << "the model has no output '" << name
                 << "' for the loss; its outputs are " << quoteAll(names);
}

/// The output and the target that an option such as `mse:y,t` names.
FailureOr<AttachLoss::Target> AttachLoss::splitNames(StringRef kind,
                                                     StringRef names) {
  auto [outputName, targetName] = names.split(',');
  if (outputName.empty() || targetName.empty())
    return error() << "loss '" << kind << ":" << names
                   << "' does not name an output and a target; write '" << kind
                   << ":OUTPUT,TARGET'";
  FailureOr<Value> output = findOutput(outputName);
  if (failed(output))
    return failure();
  if (!isFloat(*output))
    return error() << "output '" << outputName << "' is a " << output->getType()
                   << ", which has no gradient";
  return Target{*output, exit.getAxis(outputName), targetName};
}

/// The input \p name, which is added if the model has none; it is cut into
/// micro-batches along the output's batch axis. Labels may also be i32.
FailureOr<Value> AttachLoss::getTarget(const Target &target, Type type) {
  StringRef name = target.name;
  auto tensor = cast<RankedTensorType>(type);
  BlockArgument input = model.findInput(name);
  if (!input) {
    int64_t axis = target.axis < tensor.getRank() ? target.axis : -1;
    auto spec =
        pp::InputAttr::get(&getContext(), name, axis, /*label_classes=*/0,
                           /*ignore_index=*/0, /*index_limit=*/0);
    return Value(model.addInput(spec, type, model.getLoc()));
  }
  bool isNarrowLabel =
      tensor.getElementType().isInteger(64) &&
      input.getType() == tensor.clone(IntegerType::get(&getContext(), 32));
  if (input.getType() == type || isNarrowLabel)
    return Value(input);
  return error() << "input '" << name << "' is a " << input.getType()
                 << ", but the loss needs a " << type;
}

/// Lets the runtime check the class indices that it reads.
void AttachLoss::markLabels(Value labels, int64_t classes) {
  SmallVector<Attribute> inputs(model.getInputs().begin(),
                                model.getInputs().end());
  unsigned index = cast<BlockArgument>(labels).getArgNumber();
  pp::InputAttr spec = model.getInputSpec(index);
  inputs[index] =
      pp::InputAttr::get(&getContext(), spec.getName(), spec.getAxis(), classes,
                         ignoreIndex, spec.getIndexLimit());
  model.setInputsAttr(ArrayAttr::get(&getContext(), inputs));
}

//===----------------------------------------------------------------------===//
// The loss layer
//===----------------------------------------------------------------------===//

/// The type of the loss of a model that computes in \p element: sums of many
/// small terms need f32 at least.
static Type getLossType(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

static Value widen(Value value, GradientBuilder &b) {
  return b.castTo(value, getLossType(getTensorType(value).getElementType()));
}

/// Appends a layer "loss" with a function of its own, and makes its results
/// the loss of the model.
void AttachLoss::appendLayer(ValueRange arguments, LossBody body) {
  OpBuilder builder(model->getContext());
  Location loc = NameLoc::get(builder.getStringAttr("loss"));
  Type element = getTensorType(arguments.front()).getElementType();
  Type scalar = RankedTensorType::get({}, getLossType(element));
  auto type = builder.getFunctionType(arguments.getTypes(), {scalar, scalar});
  auto function = nn::FunctionOp::create(builder, loc, "loss", type);
  Block *block = builder.createBlock(&function.getBody());
  for (Type argument : arguments.getTypes())
    block->addArgument(argument, loc);
  GradientBuilder b(builder, loc);
  auto [sum, weight] = body(b, block->getArguments());
  b.create<nn::ReturnOp>(ValueRange{widen(sum, b), widen(weight, b)});
  SymbolTable(getOperation()).insert(function);

  builder.setInsertionPoint(exit);
  auto layer = pp::LayerOp::create(
      builder, loc, type.getResults(), builder.getStringAttr("loss"),
      FlatSymbolRefAttr::get(function.getSymNameAttr()), arguments,
      builder.getArrayAttr({}), pp::CostAttr());
  exit.getLossMutable().assign(layer.getOutputs());
}

//===----------------------------------------------------------------------===//
// Kinds of losses
//===----------------------------------------------------------------------===//

LogicalResult AttachLoss::attachCrossEntropy(StringRef names) {
  FailureOr<Target> target = splitNames("cross-entropy", names);
  if (failed(target))
    return failure();
  Value logits = target->output;
  RankedTensorType type = getTensorType(logits);
  if (type.getRank() < 2)
    return error() << "logits of type " << type
                   << " have no batch axis before the class axis";
  Type labelsType = RankedTensorType::get(type.getShape().drop_back(),
                                          IntegerType::get(&getContext(), 64));
  FailureOr<Value> labels = getTarget(*target, labelsType);
  if (failed(labels))
    return failure();
  markLabels(*labels, type.getShape().back());

  appendLayer({logits, *labels}, [&](GradientBuilder &b, ValueRange inputs) {
    Value wide = widen(inputs[0], b);
    Type scalar = RankedTensorType::get({}, getElementTypeOrSelf(wide));
    auto loss = b.create<nn::CrossEntropyOp>(scalar, scalar, wide, inputs[1],
                                             static_cast<int64_t>(ignoreIndex));
    return std::pair<Value, Value>(loss.getSum(), loss.getWeight());
  });
  return success();
}

LogicalResult AttachLoss::attachMeanSquare(StringRef names) {
  FailureOr<Target> target = splitNames("mse", names);
  if (failed(target))
    return failure();
  Value prediction = target->output;
  FailureOr<Value> values = getTarget(*target, prediction.getType());
  if (failed(values))
    return failure();

  appendLayer({prediction, *values}, [](GradientBuilder &b, ValueRange inputs) {
    Value difference = b.subtract(widen(inputs[0], b), widen(inputs[1], b));
    RankedTensorType type = getTensorType(difference);
    Value sum = b.reduce(nn::Reduction::Sum, b.multiply(difference, difference),
                         getAxes(0, type.getRank()));
    return std::pair(sum, b.constant(type.getNumElements(), sum));
  });
  return success();
}

/// The model computes its loss: each micro-batch counts alike.
LogicalResult AttachLoss::attachOutput(StringRef name) {
  FailureOr<Value> output = findOutput(name);
  if (failed(output))
    return failure();
  if (!isFloat(*output) || getTensorType(*output).getNumElements() != 1)
    return error() << "output '" << name << "' is a " << output->getType()
                   << ", not a scalar that can be a loss";
  appendLayer(*output, [](GradientBuilder &b, ValueRange inputs) {
    Value sum = widen(b.reshape(inputs[0], {}), b);
    return std::pair(sum, b.constant(1, sum));
  });
  return success();
}

LogicalResult AttachLoss::attachOnlyScalar() {
  SmallVector<StringRef> scalars;
  for (auto [output, name] : llvm::zip_equal(
           exit.getOutputs(), exit.getNames().getAsValueRange<StringAttr>()))
    if (isFloat(output) && getTensorType(output).getNumElements() == 1)
      scalars.push_back(name);
  if (scalars.empty())
    return error() << "the model has no scalar output to be its loss; choose "
                      "'cross-entropy:LOGITS,LABELS' or 'mse:PRED,TARGET'";
  if (scalars.size() > 1)
    return error() << "the model has " << scalars.size()
                   << " scalar outputs that could be its loss; choose one of "
                   << quoteAll(scalars);
  return attachOutput(scalars.front());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult AttachLoss::attach() {
  model = pp::getModel(getOperation());
  if (!model)
    return getOperation().emitError("has no 'pp.model' to train");
  exit = cast<pp::ReturnOp>(model.getBody().front().getTerminator());
  if (!exit.getLoss().empty())
    return error() << "the model has a loss already";
  StringRef spec = loss;
  if (spec.empty())
    return attachOnlyScalar();
  if (spec.consume_front("cross-entropy:"))
    return attachCrossEntropy(spec);
  if (spec.consume_front("mse:"))
    return attachMeanSquare(spec);
  return attachOutput(spec);
}

void AttachLoss::runOnOperation() {
  if (failed(attach()))
    signalPassFailure();
}
