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
    return emitOpError("calls '")
           << getCallee() << "', which is not a function";
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

namespace {
/// Compares the functions that a derivative names with what it says of them.
class DerivativeVerifier {
public:
  DerivativeVerifier(DerivativeOp op, SymbolTableCollection &symbols)
      : op(op), symbols(symbols) {}

  LogicalResult verify();

private:
  LogicalResult lookup(FlatSymbolRefAttr name, FunctionType &type);
  LogicalResult verifyForward();
  LogicalResult verifyBackward();
  LogicalResult verifyWeight();
  LogicalResult verifyRecompute();

  /// Checks that \p function takes the values that \p operands name.
  LogicalResult verifyOperands(StringRef name, FunctionType function,
                               ArrayRef<OperandAttr> operands);
  /// Checks that \p function begins its results with the gradients of the
  /// arguments \p gradients.
  LogicalResult verifyGradients(StringRef name, FunctionType function,
                                ArrayRef<int64_t> gradients);

  /// The types among which a role's index chooses.
  TypeRange getTypes(ValueRole role);

  DerivativeOp op;
  SymbolTableCollection &symbols;
  FunctionType primal, forward, backward, weight, recompute;
};
} // namespace

LogicalResult DerivativeVerifier::lookup(FlatSymbolRefAttr name,
                                         FunctionType &type) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOp>(op, name);
  if (!function)
    return op.emitOpError("names '")
           << name.getValue() << "', which is not a function";
  type = function.getFunctionType();
  return success();
}

TypeRange DerivativeVerifier::getTypes(ValueRole role) {
  switch (role) {
  case ValueRole::Argument:
  case ValueRole::Accumulator:
    return primal.getInputs();
  case ValueRole::Result:
  case ValueRole::Cotangent:
    return primal.getResults();
  case ValueRole::Saved:
    return TypeRange(forward.getResults()).drop_front(primal.getNumResults());
  case ValueRole::Pending:
    if (!backward)
      return {};
    return TypeRange(backward.getResults())
        .drop_front(op.getInputGradients().size());
  }
  llvm_unreachable("all roles are above");
}

LogicalResult
DerivativeVerifier::verifyOperands(StringRef name, FunctionType function,
                                   ArrayRef<OperandAttr> operands) {
  if (function.getNumInputs() != operands.size())
    return op.emitOpError("lists ")
           << operands.size() << " operands of '" << name << "', which takes "
           << function.getNumInputs();
  for (auto [operand, type] : llvm::zip_equal(operands, function.getInputs())) {
    TypeRange types = getTypes(operand.getRole());
    int64_t index = operand.getIndex();
    if (index < 0 || index >= static_cast<int64_t>(types.size()))
      return op.emitOpError("names ")
             << stringifyValueRole(operand.getRole()) << " " << index
             << ", but there are " << types.size();
    if (types[index] != type)
      return op.emitOpError("gives '")
             << name << "' " << stringifyValueRole(operand.getRole()) << " "
             << index << " of type " << types[index] << ", but it takes "
             << type;
  }
  return success();
}

LogicalResult DerivativeVerifier::verifyGradients(StringRef name,
                                                  FunctionType function,
                                                  ArrayRef<int64_t> gradients) {
  if (function.getNumResults() < gradients.size())
    return op.emitOpError("expects ")
           << gradients.size() << " gradients of '" << name << "', which has "
           << function.getNumResults() << " results";
  for (auto [argument, type] : llvm::zip(gradients, function.getResults())) {
    if (argument < 0 || argument >= primal.getNumInputs())
      return op.emitOpError("names the gradient of argument ")
             << argument << ", but there are " << primal.getNumInputs();
    if (primal.getInput(argument) != type)
      return op.emitOpError("expects a gradient of type ")
             << primal.getInput(argument) << " for argument " << argument
             << ", but '" << name << "' yields " << type;
  }
  return success();
}

LogicalResult DerivativeVerifier::verifyForward() {
  ArrayRef<Type> results = forward.getResults();
  if (forward.getInputs() != primal.getInputs() ||
      results.take_front(primal.getNumResults()) != primal.getResults())
    return op.emitOpError("has forward '")
           << op.getForward() << "' of type " << forward
           << "; it must begin as '" << op.getPrimal() << "' of type "
           << primal;
  return success();
}

LogicalResult DerivativeVerifier::verifyBackward() {
  auto operands =
      llvm::to_vector(op.getBackwardOperands().getAsRange<OperandAttr>());
  if (!backward) {
    if (operands.empty() && op.getInputGradients().empty())
      return success();
    return op.emitOpError(
        "lists operands or gradients of no backward function");
  }
  for (OperandAttr operand : operands)
    if (operand.getRole() == ValueRole::Pending ||
        operand.getRole() == ValueRole::Accumulator)
      return op.emitOpError("gives '")
             << *op.getBackward() << "' a "
             << stringifyValueRole(operand.getRole())
             << ", which only the weight function takes";
  if (failed(verifyOperands(*op.getBackward(), backward, operands)))
    return failure();
  return verifyGradients(*op.getBackward(), backward, op.getInputGradients());
}

LogicalResult DerivativeVerifier::verifyWeight() {
  auto operands =
      llvm::to_vector(op.getWeightOperands().getAsRange<OperandAttr>());
  ArrayRef<int64_t> gradients = op.getWeightGradients();
  if (!weight) {
    if (operands.empty() && gradients.empty())
      return success();
    return op.emitOpError("lists operands or gradients of no weight function");
  }
  if (failed(verifyOperands(*op.getWeight(), weight, operands)) ||
      failed(verifyGradients(*op.getWeight(), weight, gradients)))
    return failure();
  if (weight.getNumResults() != gradients.size())
    return op.emitOpError("lists ")
           << gradients.size() << " gradients of '" << *op.getWeight()
           << "', which has " << weight.getNumResults() << " results";
  for (int64_t argument : gradients)
    if (!llvm::is_contained(operands,
                            OperandAttr::get(op.getContext(),
                                             ValueRole::Accumulator, argument)))
      return op.emitOpError("has no accumulator for the gradient of argument ")
             << argument;
  return success();
}

LogicalResult DerivativeVerifier::verifyRecompute() {
  auto operands =
      llvm::to_vector(op.getRecomputeOperands().getAsRange<OperandAttr>());
  if (!recompute) {
    if (operands.empty())
      return success();
    return op.emitOpError("lists operands of no recompute function");
  }
  StringRef name = *op.getRecompute();
  if (failed(verifyOperands(name, recompute, operands)))
    return failure();
  TypeRange saved = getTypes(ValueRole::Saved);
  if (recompute.getNumResults() > saved.size() ||
      saved.take_back(recompute.getNumResults()) != recompute.getResults())
    return op.emitOpError("has recompute '")
           << name << "' of type " << recompute
           << "; its results must be the last saved values of '"
           << op.getForward() << "'";
  int64_t kept = saved.size() - recompute.getNumResults();
  for (OperandAttr operand : operands)
    if (operand.getRole() != ValueRole::Argument &&
        (operand.getRole() != ValueRole::Saved || operand.getIndex() >= kept))
      return op.emitOpError("gives '")
             << name << "' " << stringifyValueRole(operand.getRole()) << " "
             << operand.getIndex()
             << "; it may take arguments and the saved values that it does not "
                "make";
  return success();
}

LogicalResult DerivativeVerifier::verify() {
  if (failed(lookup(op.getPrimalAttr(), primal)) ||
      failed(lookup(op.getForwardAttr(), forward)))
    return failure();
  if (op.getBackwardAttr() && failed(lookup(op.getBackwardAttr(), backward)))
    return failure();
  if (op.getWeightAttr() && failed(lookup(op.getWeightAttr(), weight)))
    return failure();
  if (op.getRecomputeAttr() && failed(lookup(op.getRecomputeAttr(), recompute)))
    return failure();
  // Later checks rely on what earlier ones assured.
  if (failed(verifyForward()) || failed(verifyBackward()) ||
      failed(verifyWeight()))
    return failure();
  return verifyRecompute();
}

LogicalResult DerivativeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return DerivativeVerifier(*this, symbols).verify();
}
