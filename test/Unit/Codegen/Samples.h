//===- Samples.h - Functions that cover the nn dialect ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_CODEGEN_SAMPLES_H
#define PIPEWRIGHT_TEST_UNIT_CODEGEN_SAMPLES_H

#include "CompiledFunction.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace pipewright {

/// A module whose functions are the samples.
class Samples {
public:
  /// Those of the samples' folder.
  Samples();
  /// Those in \p text.
  explicit Samples(llvm::StringRef text);

  mlir::MLIRContext &getContext() { return context; }
  mlir::ModuleOp getModule() { return *module; }
  std::vector<nn::FunctionOp> getFunctions();

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// \p count functions of random ops, always the same: some become code on
/// buffers early, some late, and some only move elements.
std::string writeRandomFunctions(int count);

/// Arguments for \p function, always the same. Floats are between -2 and 2 and
/// integers between -3 and 3, unless the argument has the attributes `test.low`
/// and `test.high`.
Tensors makeArguments(nn::FunctionOp function);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_CODEGEN_SAMPLES_H
