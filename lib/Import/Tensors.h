//===- Tensors.h - ONNX tensors as attributes -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_TENSORS_H
#define PIPEWRIGHT_LIB_IMPORT_TENSORS_H

#include "pipewright/Import/OnnxFile.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace pipewright {

/// How many bits the unsigned integers of an ONNX data type have, if a signed
/// type can hold them; 0 for other types.
unsigned getUnsignedBits(int32_t dataType);

/// Our element type for an ONNX data type; null for types that nn ops do not
/// compute with. Unsigned integers are held in the next wider signed type.
mlir::Type convertElementType(int32_t dataType, mlir::MLIRContext *context);

/// The values of a tensor, in the type that convertElementType gives.
mlir::DenseElementsAttr convertTensor(const onnx::TensorContents &contents,
                                      mlir::MLIRContext *context);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_TENSORS_H
