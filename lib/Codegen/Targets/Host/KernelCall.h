//===- KernelCall.h - Calls of the runtime's kernels ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_HOST_KERNELCALL_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_HOST_KERNELCALL_H

#include "mlir/IR/Builders.h"

#include <string>

namespace pipewright::host {

/// A call of a kernel that is made for several types of operand and result.
struct KernelCall {
  /// The kernel's name without the types.
  std::string stem;
  /// The types of the first operand and of the result name the kernel.
  mlir::Value operand, result;
  /// What it gets: contiguous memrefs, then sizes, numbers and flags.
  llvm::ArrayRef<mlir::Value> buffers;
  llvm::ArrayRef<int64_t> sizes;
  llvm::ArrayRef<bool> flags;
  /// What it returns.
  mlir::TypeRange types = {};
  llvm::ArrayRef<double> numbers = {};
};

mlir::ResultRange emitKernelCall(const KernelCall &call, mlir::Location loc,
                                 mlir::OpBuilder &builder);

} // namespace pipewright::host

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_HOST_KERNELCALL_H
