//===- CompiledFunction.h - Layer functions as callable code ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_CODEGEN_COMPILEDFUNCTION_H
#define PIPEWRIGHT_TEST_UNIT_CODEGEN_COMPILEDFUNCTION_H

#include "pipewright/Codegen/Target.h"
#include "pipewright/Dialect/NN/HostTensor.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

#include <memory>

namespace pipewright {

using Tensors = llvm::SmallVector<nn::HostTensor>;

/// The processor of all unit tests, so that they do not depend on the machine.
constexpr llvm::StringLiteral testProcessor = "x86-64-v3";

/// A loader for object files that call a plain matrix product and the C
/// library. Tests that need more add it.
std::unique_ptr<llvm::orc::LLJIT> createLoader();

/// Adds the address of \p function under \p name.
void define(llvm::orc::LLJIT &loader, llvm::StringRef name, void *function);

/// Adds an object file.
void load(llvm::orc::LLJIT &loader, llvm::ArrayRef<char> object);

/// One layer function, compiled as for a rank and loaded.
class CompiledFunction {
public:
  CompiledFunction(nn::FunctionOp function, const CodegenTarget &target);

  /// The results for \p arguments. Checks that nothing was written outside of
  /// the function's buffers, and that all results were.
  Tensors run(llvm::ArrayRef<nn::HostTensor> arguments);

  int64_t getWorkspaceBytes() const { return workspaceBytes; }

private:
  nn::FunctionOp function;
  std::unique_ptr<llvm::orc::LLJIT> loader;
  void (*entry)(void **pointers) = nullptr;
  int64_t workspaceBytes = 0;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_CODEGEN_COMPILEDFUNCTION_H
