//===- Dtypes.h - Element types outside the compiler ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_DTYPES_H
#define PIPEWRIGHT_PACKAGE_DTYPES_H

#include "pprt/Descriptor.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

namespace pipewright {

/// What the runtime calls \p elementType, a type that a model's tensors have.
PprtDtype getDtype(mlir::Type elementType);

/// The name of \p elementType in safetensors and in the manifest: "F32",
/// "I64", ….
llvm::StringRef getDtypeName(mlir::Type elementType);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_DTYPES_H
