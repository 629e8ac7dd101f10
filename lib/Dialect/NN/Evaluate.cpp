//===- Evaluate.cpp - Reference semantics of the nn dialect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/Evaluate.h"

#include "Evaluate/EvaluatorRegistry.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::nn;

//===----------------------------------------------------------------------===//
// Registry
//===----------------------------------------------------------------------===//

namespace pipewright::nn {
#define PIPEWRIGHT_ENTRY(family) void register##family(EvaluatorRegistry &);
#include "pipewright/Dialect/NN/Evaluators.def"
#undef PIPEWRIGHT_ENTRY
} // namespace pipewright::nn

const EvaluatorRegistry &EvaluatorRegistry::get() {
  static const EvaluatorRegistry registry = [] {
    EvaluatorRegistry result;
#define PIPEWRIGHT_ENTRY(family) register##family(result);
#include "pipewright/Dialect/NN/Evaluators.def"
#undef PIPEWRIGHT_ENTRY
    return result;
  }();
  return registry;
}

bool nn::hasEvaluator(OperationName name) {
  if (!name.isRegistered())
    return false;
  // A call is evaluated here, by evaluating the function.
  return name.getTypeID() == TypeID::get<CallOp>() ||
         EvaluatorRegistry::get().lookup(name.getTypeID());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static LogicalResult verifyOperands(Operation *op,
                                    ArrayRef<HostTensor> operands) {
  if (operands.size() != op->getNumOperands())
    return op->emitOpError("has ")
           << op->getNumOperands() << " operands, but is evaluated with "
           << operands.size();
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (!operands[index].matches(type))
      return op->emitOpError("is evaluated with a tensor of another type than ")
             << type << " as operand " << index;
  }
  return success();
}

static void applyElementType(Type type, Rounding rounding, HostTensor &tensor) {
  if (auto integer = dyn_cast<IntegerType>(type))
    tensor.wrapIntegers(integer);
  else if (rounding == Rounding::ToElementType)
    tensor.roundFloats(cast<FloatType>(type));
}

static FailureOr<SmallVector<HostTensor>>
evaluateCall(CallOp call, ArrayRef<HostTensor> operands, Rounding rounding,
             const SymbolTable *symbols) {
  auto callee =
      symbols ? symbols->lookup<FunctionOp>(call.getCallee()) : FunctionOp();
  if (!callee)
    return call.emitOpError("is evaluated without the function '")
           << call.getCallee() << "'";
  return evaluateFunction(callee, operands, *symbols, rounding);
}

FailureOr<SmallVector<HostTensor>> nn::evaluate(Operation *op,
                                                ArrayRef<HostTensor> operands,
                                                Rounding rounding,
                                                const SymbolTable *symbols) {
  if (failed(verifyOperands(op, operands)))
    return failure();
  if (auto call = dyn_cast<CallOp>(op))
    return evaluateCall(call, operands, rounding, symbols);

  const EvaluatorRegistry::Evaluator *evaluator =
      op->isRegistered()
          ? EvaluatorRegistry::get().lookup(op->getName().getTypeID())
          : nullptr;
  if (!evaluator)
    return op->emitOpError("cannot be evaluated");

  SmallVector<HostTensor> results;
  for (Type type : op->getResultTypes())
    results.push_back(HostTensor::zeros(cast<RankedTensorType>(type)));
  if (failed((*evaluator)(op, operands, results)))
    return failure();
  for (auto [result, type] : llvm::zip_equal(results, op->getResultTypes()))
    applyElementType(getElementTypeOrSelf(type), rounding, result);
  return results;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<HostTensor>>
nn::evaluateFunction(FunctionOp function, ArrayRef<HostTensor> arguments,
                     const SymbolTable &symbols, Rounding rounding) {
  if (function.isExternal())
    return function.emitOpError("has no body to evaluate");
  if (arguments.size() != function.getNumArguments())
    return function.emitOpError("has ")
           << function.getNumArguments() << " arguments, but is evaluated with "
           << arguments.size();

  DenseMap<Value, HostTensor> values;
  for (auto [argument, tensor] :
       llvm::zip_equal(function.getArguments(), arguments))
    values.insert({argument, tensor});

  for (Operation &op : function.getBody().front()) {
    SmallVector<HostTensor> operands;
    for (Value operand : op.getOperands())
      operands.push_back(values.at(operand));
    if (isa<ReturnOp>(op))
      return operands;
    auto results = evaluate(&op, operands, rounding, &symbols);
    if (failed(results))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      values.insert({value, std::move(tensor)});
  }
  llvm_unreachable("a function ends with nn.return");
}
