//===- Stage.cpp - Stages, their tasks, their channels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::pp;

LogicalResult StageOp::verify() {
  if (getDirection() > 1)
    return emitOpError("has direction ")
           << getDirection() << "; there are 0 and 1";
  if (getLayers().empty())
    return emitOpError("has no layer");
  return success();
}

LogicalResult StageOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto name : getParameters().getAsRange<FlatSymbolRefAttr>())
    if (!symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name))
      return emitOpError("holds '")
             << name.getValue() << "', which is not a parameter";
  return success();
}

std::string pp::nameChannel(ChannelKind kind, StageOp source, int64_t number) {
  StringRef what = kind == ChannelKind::Activation ? "act." : "grad.";
  StringRef direction = source.getDirection() == 0 ? "" : "u";
  return (what + direction + Twine(source.getIndex()) + "." + Twine(number))
      .str();
}

LogicalResult ChannelOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto source =
      symbols.lookupNearestSymbolFrom<StageOp>(*this, getSourceAttr());
  auto target =
      symbols.lookupNearestSymbolFrom<StageOp>(*this, getTargetAttr());
  if (!source || !target)
    return emitOpError("names '")
           << (source ? getTarget() : getSource()) << "', which is not a stage";
  if (source.getDirection() != target.getDirection())
    return emitOpError("joins stages of two directions");
  bool isActivation = getKind() == ChannelKind::Activation;
  if (isActivation == (source.getIndex() < target.getIndex()) &&
      source.getIndex() != target.getIndex())
    return success();
  return emitOpError("carries ")
         << (isActivation ? "an activation" : "a gradient") << " from stage "
         << source.getIndex() << " to stage " << target.getIndex()
         << ", which is not " << (isActivation ? "a later" : "an earlier")
         << " one";
}

LogicalResult ExchangeOp::verify() {
  return verifyBlocks(*this, getType(), getPeers());
}

LogicalResult ExchangeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<StageOp>(*this, getStageAttr()))
    return emitOpError("names '") << getStage() << "', which is not a stage";
  return success();
}

//===----------------------------------------------------------------------===//
// TaskOp
//===----------------------------------------------------------------------===//

YieldOp TaskOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

ParseResult TaskOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  RoleAttr role;
  FlatSymbolRefAttr stage;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseKeyword("role") ||
      parser.parseCustomAttributeWithFallback(
          role, Type(), getRoleAttrName(result.name), result.attributes) ||
      parser.parseKeyword("stage") ||
      parser.parseAttribute(stage, getStageAttrName(result.name),
                            result.attributes))
    return failure();

  int64_t part = 0;
  if (succeeded(parser.parseOptionalKeyword("part")) &&
      parser.parseInteger(part))
    return failure();

  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> argumentBindings, resultBindings;
  auto parseBinding = [&](SmallVector<Attribute> &bindings) -> ParseResult {
    BindingAttr binding;
    if (parser.parseEqual() || parser.parseCustomAttributeWithFallback(binding))
      return failure();
    bindings.push_back(binding);
    return success();
  };
  auto parseArgument = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back(), /*allowType=*/true))
      return failure();
    return parseBinding(argumentBindings);
  };
  // The types are those of the yielded values; printed for the reader.
  auto parseResult = [&]() -> ParseResult {
    Type type;
    if (parser.parseType(type))
      return failure();
    return parseBinding(resultBindings);
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseArgument) ||
      parser.parseArrow() ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseResult))
    return failure();
  Builder &builder = parser.getBuilder();
  result.addAttribute(getArgumentBindingsAttrName(result.name),
                      builder.getArrayAttr(argumentBindings));
  result.addAttribute(getResultBindingsAttrName(result.name),
                      builder.getArrayAttr(resultBindings));
  result.addAttribute(getPartAttrName(result.name),
                      builder.getI64IntegerAttr(part));
  return failure(parser.parseRegion(*result.addRegion(), arguments) ||
                 parser.parseOptionalAttrDict(result.attributes));
}

void TaskOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << " role " << stringifyRole(getRole()) << " stage ";
  printer.printAttributeWithoutType(getStageAttr());
  if (getPart() != 0)
    printer << " part " << getPart();
  printer << " (";
  llvm::interleaveComma(
      llvm::zip_equal(getBody().getArguments(), getArgumentBindings()), printer,
      [&](auto pair) {
        printer.printRegionArgument(std::get<0>(pair));
        printer << " = ";
        printer.printStrippedAttrOrType(cast<BindingAttr>(std::get<1>(pair)));
      });
  printer << ") -> (";
  llvm::interleaveComma(
      llvm::zip_equal(getYield().getValues(), getResultBindings()), printer,
      [&](auto pair) {
        printer << std::get<0>(pair).getType() << " = ";
        printer.printStrippedAttrOrType(cast<BindingAttr>(std::get<1>(pair)));
      });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict(
      (*this)->getAttrs(), {"sym_name", "role", "stage", "argument_bindings",
                            "result_bindings", "part"});
}

/// Does the runtime write what \p kind names, while no task runs?
static bool isReadOnly(BindingKind kind) {
  return kind == BindingKind::Input || kind == BindingKind::RandomKey ||
         kind == BindingKind::Parameter || kind == BindingKind::LossScale ||
         kind == BindingKind::Received;
}

LogicalResult TaskOp::verify() {
  if (getBody().getNumArguments() != getArgumentBindings().size())
    return emitOpError("has ")
           << getBody().getNumArguments() << " arguments but "
           << getArgumentBindings().size() << " argument bindings";
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError("does not end with 'pp.yield'");
  if (yield.getValues().size() != getResultBindings().size())
    return emitOpError("yields ")
           << yield.getValues().size() << " values but has "
           << getResultBindings().size() << " result bindings";
  for (auto binding : getResultBindings().getAsRange<BindingAttr>()) {
    if (isReadOnly(binding.getKind()))
      return emitOpError("writes ") << binding << ", which tasks only read";
    if (binding.getKind() == BindingKind::Gradient &&
        !llvm::is_contained(getArgumentBindings(), binding))
      return emitOpError("adds to ")
             << binding << ", which is not one of its arguments";
  }
  return success();
}

LogicalResult TaskOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<StageOp>(*this, getStageAttr()))
    return emitOpError("names '") << getStage() << "', which is not a stage";
  auto check = [&](Attribute attribute, Type type) -> LogicalResult {
    auto binding = cast<BindingAttr>(attribute);
    auto name = StringAttr::get(getContext(), binding.getName());
    Type declared;
    if (binding.getKind() == BindingKind::Channel) {
      if (auto op = symbols.lookupNearestSymbolFrom<ChannelOp>(*this, name))
        declared = op.getType();
    } else if (binding.getKind() == BindingKind::Sent ||
               binding.getKind() == BindingKind::Received) {
      if (auto op = symbols.lookupNearestSymbolFrom<ExchangeOp>(*this, name))
        declared = op.getType();
    } else if (binding.getKind() == BindingKind::Parameter ||
               binding.getKind() == BindingKind::Gradient) {
      if (auto op = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name))
        declared = op.getType();
    } else if (binding.getKind() == BindingKind::LossScale) {
      // That of the loss, which has more digits in a model of f64.
      Type element = getElementTypeOrSelf(type);
      if (!element.isF64())
        element = Float32Type::get(getContext());
      declared = RankedTensorType::get({}, element);
    } else {
      return success();
    }
    if (!declared)
      return emitOpError("binds a value to ")
             << binding << ", which is not declared";
    if (declared != type)
      return emitOpError("binds a ")
             << type << " to " << binding << ", which is a " << declared;
    return success();
  };
  for (auto [argument, binding] :
       llvm::zip_equal(getBody().getArguments(), getArgumentBindings()))
    if (failed(check(binding, argument.getType())))
      return failure();
  for (auto [value, binding] :
       llvm::zip_equal(getYield().getValues(), getResultBindings()))
    if (failed(check(binding, value.getType())))
      return failure();
  return success();
}
