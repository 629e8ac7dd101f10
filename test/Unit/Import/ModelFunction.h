//===- ModelFunction.h - A whole model as one function ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_IMPORT_MODELFUNCTION_H
#define PIPEWRIGHT_TEST_UNIT_IMPORT_MODELFUNCTION_H

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace pipewright {

/// The values of \p parameter, from the model's file if they are still there.
nn::HostTensor readParameter(pp::ParameterOp parameter);

/// The computation of an imported model as a function of its inputs, in their
/// order, and then of its parameters and the key of its random numbers.
class ModelFunction {
public:
  explicit ModelFunction(mlir::ModuleOp imported);

  mlir::ModuleOp getModule() { return *module; }
  nn::FunctionOp getFunction() { return function; }
  /// The names of the model's inputs.
  const std::vector<std::string> &getInputs() const { return inputs; }
  /// The values of the other arguments.
  llvm::ArrayRef<nn::HostTensor> getParameters() const { return parameters; }
  bool isRandom() const { return hasRandomKey; }

private:
  /// Turns \p op into an argument, which has \p value.
  void addParameter(mlir::Operation &op, nn::HostTensor value);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  nn::FunctionOp function;
  mlir::IRMapping mapping;
  std::vector<std::string> inputs;
  llvm::SmallVector<nn::HostTensor> parameters;
  bool hasRandomKey = false;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_IMPORT_MODELFUNCTION_H
