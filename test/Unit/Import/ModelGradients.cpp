//===- ModelGradients.cpp - A model's function, differentiated
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelGradients.h"

#include "pipewright/Dialect/NN/Evaluate.h"
#include "pipewright/Training/Adjoint.h"

#include "mlir/IR/SymbolTable.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace pipewright;

/// A tensor of ones, as a cotangent is.
static nn::HostTensor makeOnes(Type type) {
  auto tensor = nn::HostTensor::zeros(cast<RankedTensorType>(type));
  llvm::fill(tensor.getFloats(), 1.0);
  return tensor;
}

SmallVector<nn::HostTensor>
pipewright::evaluateGradients(ModelFunction &model,
                              ArrayRef<nn::HostTensor> inputs) {
  nn::FunctionOp function = model.getFunction();
  unsigned arguments = function.getNumArguments();
  Activity activity(/*firstParameter=*/arguments, arguments,
                    function.getNumResults());
  activity.arguments.set();
  activity.results.set();
  FailureOr<Adjoint> adjoint = buildAdjoint(function, activity);
  EXPECT_TRUE(succeeded(adjoint));
  if (failed(adjoint))
    return {};
  nn::FunctionOp whole = adjoint->function.get();
  Block &body = whole.getBody().front();
  whole.setType(FunctionType::get(whole.getContext(), body.getArgumentTypes(),
                                  body.getTerminator()->getOperandTypes()));
  SmallVector<nn::HostTensor> values;
  for (auto [role, type] :
       llvm::zip_equal(adjoint->roles, body.getArgumentTypes()))
    values.push_back(role.getRole() == nn::ValueRole::Argument
                         ? inputs[role.getIndex()]
                         : makeOnes(type));
  auto results = nn::evaluateFunction(
      whole, values, SymbolTable(model.getModule()), nn::Rounding::None);
  EXPECT_TRUE(succeeded(results));
  return succeeded(results) ? *results : SmallVector<nn::HostTensor>();
}
