//===- NodeName.h - Which ONNX node an op comes from ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_NODENAME_H
#define PIPEWRIGHT_DIALECT_PP_NODENAME_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

namespace pipewright {

/// The ONNX node name that \p loc carries, or "".
llvm::StringRef getNodeName(mlir::Location loc);

} // namespace pipewright

#endif // PIPEWRIGHT_DIALECT_PP_NODENAME_H
