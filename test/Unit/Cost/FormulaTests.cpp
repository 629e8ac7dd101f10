//===- FormulaTests.cpp - Every op has a cost formula
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace pipewright;

/// A new op fails here until a file of lib/Cost/Formulas prices it.
TEST(FormulaRegistry, PricesEveryOp) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect>();
  for (RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("nn")) {
    // Structure, not computation.
    if (name.getTypeID() == TypeID::get<nn::FunctionOp>() ||
        name.getTypeID() == TypeID::get<nn::ReturnOp>() ||
        name.getTypeID() == TypeID::get<nn::CallOp>() ||
        name.getTypeID() == TypeID::get<nn::KeepOp>() ||
        name.getTypeID() == TypeID::get<nn::DerivativeOp>())
      continue;
    EXPECT_TRUE(FormulaRegistry::get().contains(name.getStringRef()))
        << name.getStringRef().str();
  }
}
