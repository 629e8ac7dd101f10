//===- KernelFunction.h - Layer functions as kernels on no GPU --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_CODEGEN_KERNELFUNCTION_H
#define PIPEWRIGHT_TEST_UNIT_CODEGEN_KERNELFUNCTION_H

#include "CompiledFunction.h"
#include "Ptx/Machine.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace pipewright {

/// One layer function whose ops, products included, are kernels in PTX. The
/// launches run one after the other on the interpreter of PTX.
class KernelFunction {
public:
  explicit KernelFunction(nn::FunctionOp function);

  /// Whether all of it has kernels; if not, errors were reported.
  bool hasKernels() const { return static_cast<bool>(kernels); }

  /// The results for \p arguments. Checks that no launch has a fault: no access
  /// outside of the function's buffers, no race, no read of what nobody wrote.
  Tensors run(llvm::ArrayRef<nn::HostTensor> arguments);

  /// The names of the kernels, in the order of their launches.
  std::vector<std::string> getLaunches();

private:
  /// Where buffers are: one address a root.
  using Addresses = llvm::DenseMap<mlir::Value, ptx::Address>;

  void launch(mlir::gpu::LaunchFuncOp op, Addresses &addresses,
              ptx::Machine &machine);

  nn::FunctionOp function;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp host;
  std::shared_ptr<const ptx::Module> kernels;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_CODEGEN_KERNELFUNCTION_H
