//===- InlineLoad.h - Loads of what an op before casts ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_INLINELOAD_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_INLINELOAD_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace pipewright::cuda {

/// Replaces \p load, in \p user, which writes to the buffers \p written, if
/// what it loads is made by an elementwise op before \p user of one operand
/// that is no wider, such as a cast: \p user then does that itself. Erases the
/// op if nothing else needs it. Returns what replaces the load, or null.
mlir::Value inlineLoad(mlir::memref::LoadOp load, mlir::Operation *user,
                       mlir::ValueRange written);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_INLINELOAD_H
