//===- Weights.h - Initial values of all parameters in one file -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_WEIGHTS_H
#define PIPEWRIGHT_PACKAGE_WEIGHTS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

namespace pipewright {

/// Writes the values of all parameters of \p module to \p path in the
/// safetensors format (https://github.com/huggingface/safetensors): the length
/// of a JSON header in 8 bytes, the header, the bytes. Values in other files
/// are copied in pieces: memory does not grow with the model.
///
/// Emits a diagnostic on the parameter whose bytes cannot be read.
mlir::LogicalResult writeWeights(mlir::ModuleOp module, llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_WEIGHTS_H
