//===- BufferBytes.h - The size of a buffer ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_BUFFERBYTES_H
#define PIPEWRIGHT_LIB_CODEGEN_BUFFERBYTES_H

#include "pipewright/Dialect/PP/PP.h"

namespace pipewright {

/// The bytes of the elements of a buffer of \p type, without gaps.
inline int64_t getBytes(mlir::MemRefType type) {
  return pp::getBytes(
      mlir::RankedTensorType::get(type.getShape(), type.getElementType()));
}

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_BUFFERBYTES_H
