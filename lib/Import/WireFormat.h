//===- WireFormat.h - Leaves weights in the file ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Protobuf copies every byte of a message that it parses, and cannot parse more
// than 2 GiB. Models are mostly weights, so a pass over the wire format runs
// first: it copies the message without the values of tensors and notes in the
// fields `left_at` and `left_bytes` where those are.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_WIREFORMAT_H
#define PIPEWRIGHT_LIB_IMPORT_WIREFORMAT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace pipewright::onnx {

/// Copies the serialized `ModelProto` in \p file without the values of tensors
/// that are stored as they lie in memory: `raw_data` and packed `float_data`
/// and `double_data`.
///
/// Fails if \p file does not have the structure of a protobuf message; says
/// at which byte.
llvm::Expected<std::string> copyWithoutWeights(llvm::StringRef file);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_WIREFORMAT_H
