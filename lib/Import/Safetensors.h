//===- Safetensors.h - Reads files of weights -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A safetensors file (https://github.com/huggingface/safetensors) is a header
// length (8 bytes, little-endian), a JSON header that maps names to element
// type, shape and a range of bytes, and the bytes.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_SAFETENSORS_H
#define PIPEWRIGHT_LIB_IMPORT_SAFETENSORS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace pipewright::onnx {

/// A tensor of a safetensors file.
struct StoredTensor {
  int32_t dataType; ///< a TensorProto::DataType; UNDEFINED: ONNX has none
  llvm::SmallVector<int64_t> shape;
  int64_t offset; ///< of its bytes in the file
  int64_t bytes;
};

/// The tensors that the safetensors file with the bytes \p file says it has, by
/// name. Fails, and says why, if it is none or a tensor lies beyond its end.
llvm::Expected<llvm::StringMap<StoredTensor>>
readSafetensors(llvm::StringRef file);

} // namespace pipewright::onnx

#endif // PIPEWRIGHT_LIB_IMPORT_SAFETENSORS_H
