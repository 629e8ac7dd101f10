//===- Function.cpp - Functions, calls and derivatives
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace pipewright::nn;

//===----------------------------------------------------------------------===//
// FunctionOp
//===----------------------------------------------------------------------===//

void FunctionOp::build(OpBuilder &builder, OperationState &state,
                       StringRef name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult FunctionOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void FunctionOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult ReturnOp::verify() {
  auto function = cast<FunctionOp>((*this)->getParentOp());
  if (getOperandTypes() != function.getResultTypes())
    return emitOpError("returns other types than function '")
           << function.getSymName() << "' declares";
  return success();
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee =
      symbols.lookupNearestSymbolFrom<FunctionOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError("calls '") << getCallee() << "', which is not a function";
  FunctionType type = callee.getFunctionType();
  if (getOperandTypes() != type.getInputs() ||
      getResultTypes() != type.getResults()) {
    InFlightDiagnostic diag = emitOpError("calls '")
                              << getCallee() << "' with other types";
    diag.attachNote(callee.getLoc()) << "its type is " << type;
    return diag;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// DerivativeOp
//===----------------------------------------------------------------------===//

LogicalResult DerivativeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (FlatSymbolRefAttr name : {getPrimalAttr(), getForwardAttr(),
                                 getBackwardAttr(), getWeightAttr()})
    if (name && !symbols.lookupNearestSymbolFrom<FunctionOp>(*this, name))
      return emitOpError("names '")
             << name.getValue() << "', which is not a function";
  return success();
}
