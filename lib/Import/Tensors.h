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

/// Our element type for an ONNX data type; null for types that nn ops do not
/// compute with.
mlir::Type convertElementType(int32_t dataType, mlir::MLIRContext *context);

/// The values of a tensor. Unsigned integers are widened to the next signed
/// type, which holds all of them.
mlir::DenseElementsAttr convertTensor(const onnx::TensorContents &contents,
                                      mlir::MLIRContext *context);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_TENSORS_H
