//===- TypedData.cpp - Values stored in numeric fields
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TypedData.h"

#include "Proto/Onnx.pb.h"

#include <cstring>

using namespace pipewright::onnx;

/// Each value of \p field, narrowed or widened to ElementT.
template <typename ElementT, typename FieldT>
static std::vector<char> store(const FieldT &field) {
  std::vector<char> bytes(field.size() * sizeof(ElementT));
  for (int i = 0; i < field.size(); ++i) {
    ElementT element = static_cast<ElementT>(field.Get(i));
    std::memcpy(bytes.data() + i * sizeof(ElementT), &element,
                sizeof(ElementT));
  }
  return bytes;
}

std::vector<char> pipewright::onnx::decodeTypedData(const TensorProto &tensor) {
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    return store<float>(tensor.float_data());
  case TensorProto::DOUBLE:
    return store<double>(tensor.double_data());
  case TensorProto::INT64:
    return store<int64_t>(tensor.int64_data());
  case TensorProto::UINT32:
    return store<uint32_t>(tensor.uint64_data());
  case TensorProto::INT32:
    return store<int32_t>(tensor.int32_data());
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return store<uint16_t>(tensor.int32_data());
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return store<uint8_t>(tensor.int32_data());
  default:
    return {};
  }
}
