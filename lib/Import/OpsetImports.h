//===- OpsetImports.h - Which version of an operator is meant ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_OPSETIMPORTS_H
#define PIPEWRIGHT_LIB_IMPORT_OPSETIMPORTS_H

#include "Proto/Onnx.pb.h"

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace pipewright::onnx {

using OpsetImports = google::protobuf::RepeatedPtrField<OperatorSetIdProto>;

/// ONNX calls its own domain both "" and "ai.onnx"; we say "".
llvm::StringRef normalizeDomain(llvm::StringRef domain);

/// The version of operator set \p domain in the imports of a model or of a
/// function; none if it is not one of them.
std::optional<int64_t> getOpsetVersion(const OpsetImports &imports,
                                       llvm::StringRef domain);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_OPSETIMPORTS_H
