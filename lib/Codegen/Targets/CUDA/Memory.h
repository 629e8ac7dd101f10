//===- Memory.h - Which buffers share memory --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_MEMORY_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_MEMORY_H

#include "mlir/IR/Value.h"

#include <cstdint>

namespace pipewright::cuda {

/// The memory that a buffer names.
struct Memory {
  /// The argument, allocation or constant that it is part of. Different roots
  /// never overlap: that is the contract of layer functions.
  mlir::Value root;
  /// In bytes from the start of the root.
  int64_t offset = 0;
  int64_t bytes = 0;
  /// The buffer has all bytes of the range, row-major.
  bool isContiguous = true;
};

Memory getMemory(mlir::Value buffer);

bool mayOverlap(const Memory &lhs, const Memory &rhs);

/// The buffer, allocated or cut out of a workspace, that \p buffer is another
/// shape or a part of.
mlir::Value getWholeBuffer(mlir::Value buffer);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_MEMORY_H
