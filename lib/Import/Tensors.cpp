//===- Tensors.cpp - ONNX tensors as attributes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors.h"

#include "Proto/Onnx.pb.h"

#include "mlir/IR/Builders.h"

#include <cstring>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

unsigned pipewright::getUnsignedBits(int32_t dataType) {
  switch (dataType) {
  case TensorProto::UINT8:
    return 8;
  case TensorProto::UINT16:
    return 16;
  case TensorProto::UINT32:
    return 32;
  default:
    return 0;
  }
}

Type pipewright::convertElementType(int32_t dataType, MLIRContext *context) {
  Builder builder(context);
  switch (dataType) {
  case TensorProto::FLOAT:
    return builder.getF32Type();
  case TensorProto::DOUBLE:
    return builder.getF64Type();
  case TensorProto::FLOAT16:
    return builder.getF16Type();
  case TensorProto::BFLOAT16:
    return builder.getBF16Type();
  case TensorProto::BOOL:
    return builder.getI1Type();
  case TensorProto::INT8:
    return builder.getI8Type();
  case TensorProto::UINT8:
  case TensorProto::INT16:
    return builder.getI16Type();
  case TensorProto::UINT16:
  case TensorProto::INT32:
    return builder.getI32Type();
  case TensorProto::UINT32:
  case TensorProto::INT64:
    return builder.getI64Type();
  default:
    return {};
  }
}

/// The elements of \p bytes, of type FromT, as a tensor of the wider ToT.
template <typename FromT, typename ToT>
static DenseElementsAttr widen(ArrayRef<int64_t> dims, StringRef bytes,
                               MLIRContext *context) {
  SmallVector<ToT> values(bytes.size() / sizeof(FromT));
  for (size_t i = 0; i < values.size(); ++i) {
    FromT value;
    std::memcpy(&value, bytes.data() + i * sizeof(FromT), sizeof(FromT));
    values[i] = value;
  }
  Type element = IntegerType::get(context, 8 * sizeof(ToT));
  return DenseElementsAttr::get(RankedTensorType::get(dims, element),
                                ArrayRef<ToT>(values));
}

DenseElementsAttr pipewright::convertTensor(const TensorContents &contents,
                                            MLIRContext *context) {
  ArrayRef<int64_t> dims = contents.dims;
  StringRef bytes = contents.bytes;
  switch (contents.dataType) {
  case TensorProto::UINT8:
    return widen<uint8_t, int16_t>(dims, bytes, context);
  case TensorProto::UINT16:
    return widen<uint16_t, int32_t>(dims, bytes, context);
  case TensorProto::UINT32:
    return widen<uint32_t, int64_t>(dims, bytes, context);
  default:
    break;
  }
  auto type = RankedTensorType::get(
      dims, convertElementType(contents.dataType, context));
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  // The bytes may lie at any address; the attribute's own are aligned.
  SmallVector<char> aligned(bytes.begin(), bytes.end());
  return DenseElementsAttr::getFromRawBuffer(type, aligned);
}
