//===- Model.cpp - Parameters, the model, its layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/TensorSize.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::pp;

//===----------------------------------------------------------------------===//
// ParameterOp
//===----------------------------------------------------------------------===//

RankedTensorType ParameterOp::getWholeType() {
  RankedTensorType type = getTensorType();
  if (getShards() == 1)
    return type;
  SmallVector<int64_t> shape(type.getShape());
  shape.front() *= getShards();
  return type.clone(shape);
}

LogicalResult ParameterOp::verify() {
  ArrayRef<int64_t> shape = getTensorType().getShape();
  SmallVector<int64_t> sizes(shape);
  sizes.push_back(getShards());
  if (getShards() > 1 && (shape.empty() || !nn::hasReasonableSize(sizes)))
    return emitOpError("cannot be one of ")
           << getShards() << " parts of a " << getType();
  RankedTensorType type = getWholeType();
  if (getTrainable() && !isa<FloatType>(type.getElementType()))
    return emitOpError("is trainable but holds ") << type.getElementType();
  if (auto external = dyn_cast<ExternalAttr>(getValue())) {
    if (external.getOffset() < 0)
      return emitOpError("starts at offset ") << external.getOffset();
    if (Type stored = external.getStored()) {
      if (!type.getElementType().isF32() ||
          !(stored.isF16() || stored.isBF16()))
        return emitOpError("of ")
               << type.getElementType() << " cannot be made of " << stored;
      type = type.clone(stored);
    }
    if (external.getLength() != getBytes(type))
      return emitOpError("has ") << external.getLength() << " bytes, but "
                                 << type << " takes " << getBytes(type);
    return success();
  }
  auto elements = dyn_cast<ElementsAttr>(getValue());
  if (!elements)
    return emitOpError("value is neither #pp.external nor elements");
  if (elements.getType() != type)
    return emitOpError("holds ") << elements.getType() << " but is a " << type;
  return success();
}

//===----------------------------------------------------------------------===//
// ModelOp
//===----------------------------------------------------------------------===//

ParseResult ModelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> inputs;
  auto parseInput = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    Attribute input;
    if (parser.parseArgument(argument, /*allowType=*/true) ||
        parser.parseEqual() || parser.parseAttribute(input))
      return failure();
    arguments.push_back(argument);
    inputs.push_back(input);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseInput))
    return failure();
  result.addAttribute(getInputsAttrName(result.name),
                      parser.getBuilder().getArrayAttr(inputs));
  return failure(parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseOptionalAttrDict(result.attributes));
}

void ModelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          printer.printRegionArgument(std::get<0>(pair));
                          printer << " = " << std::get<1>(pair);
                        });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"sym_name", "inputs"});
}

LogicalResult ModelOp::verify() {
  if (getBody().getNumArguments() != getInputs().size())
    return emitOpError("has ")
           << getBody().getNumArguments() << " arguments but describes "
           << getInputs().size() << " inputs";
  llvm::StringSet<> names;
  for (auto [index, argument] : llvm::enumerate(getBody().getArguments())) {
    InputAttr input = getInputSpec(index);
    if (!names.insert(input.getName()).second)
      return emitOpError("has two inputs named '") << input.getName() << "'";
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return emitOpError("input '")
             << input.getName() << "' is not a static tensor";
    if (input.getAxis() < -1 || input.getAxis() >= type.getRank())
      return emitOpError("input '") << input.getName() << "' is cut along axis "
                                    << input.getAxis() << " of " << type;
  }
  if (!isa<ReturnOp>(getBody().front().back()))
    return emitOpError("does not end with 'pp.return'");
  return success();
}

int64_t ModelOp::getMicrobatchSize() {
  for (auto [index, argument] : llvm::enumerate(getBody().getArguments())) {
    int64_t axis = getInputSpec(index).getAxis();
    if (axis >= 0)
      return cast<RankedTensorType>(argument.getType()).getDimSize(axis);
  }
  return 1;
}

BlockArgument ModelOp::findInput(StringRef name) {
  for (auto [index, argument] : llvm::enumerate(getBody().getArguments()))
    if (getInputSpec(index).getName() == name)
      return argument;
  return {};
}

BlockArgument ModelOp::addInput(InputAttr spec, Type type, Location loc) {
  SmallVector<Attribute> inputs(getInputs().begin(), getInputs().end());
  inputs.push_back(spec);
  setInputsAttr(ArrayAttr::get(getContext(), inputs));
  return getBody().addArgument(type, loc);
}

int64_t ReturnOp::getAxis(StringRef name) {
  if (std::optional<ArrayRef<int64_t>> axes = getAxes())
    for (auto [other, axis] :
         llvm::zip_equal(getNames().getAsValueRange<StringAttr>(), *axes))
      if (other == name)
        return axis;
  return 0;
}

static LogicalResult verifyAxes(ReturnOp op, ArrayRef<int64_t> axes) {
  if (axes.size() != op.getOutputs().size())
    return op.emitOpError("has ") << axes.size() << " axes for "
                                  << op.getOutputs().size() << " outputs";
  for (auto [axis, output] : llvm::zip_equal(axes, op.getOutputs())) {
    auto type = cast<RankedTensorType>(output.getType());
    if (axis < 0 || axis >= std::max<int64_t>(type.getRank(), 1))
      return op.emitOpError("has axis ") << axis << " of output " << type;
  }
  return success();
}

LogicalResult ReturnOp::verify() {
  if (getNames().size() != getOutputs().size())
    return emitOpError("names ")
           << getNames().size() << " outputs but has " << getOutputs().size();
  if (!getLoss().empty() && getLoss().size() != 2)
    return emitOpError("has ")
           << getLoss().size() << " loss operands instead of sum and weight";
  return getAxes() ? verifyAxes(*this, *getAxes()) : success();
}

//===----------------------------------------------------------------------===//
// ExchangedOp
//===----------------------------------------------------------------------===//

LogicalResult pp::verifyBlocks(Operation *op, Type type, int64_t peers) {
  auto tensor = cast<RankedTensorType>(type);
  if (peers >= 2 && tensor.getRank() > 0 && tensor.getDimSize(0) % peers == 0)
    return success();
  return op->emitOpError("cannot exchange blocks of ")
         << type << " between " << peers << " peers";
}

LogicalResult ExchangedOp::verify() {
  return verifyBlocks(*this, getType(), getPeers());
}

//===----------------------------------------------------------------------===//
// Symbol users
//===----------------------------------------------------------------------===//

LogicalResult GetParameterOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter)
    return emitOpError("reads '")
           << getParameter() << "', which is not a parameter";
  if (parameter.getType() != getType())
    return emitOpError("reads '") << getParameter() << "' as " << getType()
                                  << ", but it is a " << parameter.getType();
  return success();
}

LogicalResult LayerOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee =
      symbols.lookupNearestSymbolFrom<nn::FunctionOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls '")
           << getCallee() << "', which is not a function";
  SmallVector<Type> types(getOperandTypes());
  for (FlatSymbolRefAttr name :
       getParameters().getAsRange<FlatSymbolRefAttr>()) {
    auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name);
    if (!parameter)
      return emitOpError("uses '")
             << name.getValue() << "', which is not a parameter";
    types.push_back(parameter.getType());
  }
  FunctionType type = callee.getFunctionType();
  if (type.getInputs() == ArrayRef<Type>(types) &&
      type.getResults() == getResultTypes())
    return success();
  InFlightDiagnostic diag = emitOpError("calls '")
                            << getCallee() << "' with other types";
  diag.attachNote(callee.getLoc()) << "its type is " << type;
  return diag;
}

LogicalResult UpdateOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto parameter =
      symbols.lookupNearestSymbolFrom<ParameterOp>(*this, getParameterAttr());
  if (!parameter || !parameter.getTrainable())
    return emitOpError("updates '")
           << getParameter() << "', which is not a trainable parameter";
  if (getLayers().empty() || !llvm::is_sorted(getLayers()))
    return emitOpError("of '")
           << getParameter() << "' needs the layers that use it, ascending";
  return success();
}
