//===- TextForm.h - Models as protobuf text ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_TEXTFORM_H
#define PIPEWRIGHT_LIB_IMPORT_TEXTFORM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace pipewright::onnx {

class ModelProto;

/// Parses protobuf's text form of a `ModelProto`, in which `#` begins a
/// comment. Fails with every line that is wrong.
llvm::Error parseTextForm(llvm::StringRef text, ModelProto &model);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_TEXTFORM_H
