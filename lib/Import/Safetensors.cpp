//===- Safetensors.cpp - Reads files of weights
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"

#include "Proto/Onnx.pb.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace pipewright::onnx;

static int32_t getDataType(StringRef dtype) {
  return StringSwitch<int32_t>(dtype)
      .Case("F64", TensorProto::DOUBLE)
      .Case("F32", TensorProto::FLOAT)
      .Case("F16", TensorProto::FLOAT16)
      .Case("BF16", TensorProto::BFLOAT16)
      .Case("I64", TensorProto::INT64)
      .Case("I32", TensorProto::INT32)
      .Case("I16", TensorProto::INT16)
      .Case("I8", TensorProto::INT8)
      .Case("U32", TensorProto::UINT32)
      .Case("U16", TensorProto::UINT16)
      .Case("U8", TensorProto::UINT8)
      .Case("BOOL", TensorProto::BOOL)
      .Default(TensorProto::UNDEFINED);
}

/// The numbers of \p array; nothing if anything else is in it.
static std::optional<SmallVector<int64_t>>
parseSizes(const json::Array *array) {
  if (!array)
    return std::nullopt;
  SmallVector<int64_t> sizes;
  for (const json::Value &value : *array) {
    std::optional<int64_t> size = value.getAsInteger();
    if (!size || *size < 0)
      return std::nullopt;
    sizes.push_back(*size);
  }
  return sizes;
}

/// The tensor that \p value describes; its bytes follow the first \p begin of a
/// file of \p fileBytes.
static std::optional<StoredTensor>
parseTensor(const json::Value &value, uint64_t begin, uint64_t fileBytes) {
  const json::Object *object = value.getAsObject();
  if (!object)
    return std::nullopt;
  std::optional<StringRef> dtype = object->getString("dtype");
  std::optional<SmallVector<int64_t>> shape =
      parseSizes(object->getArray("shape"));
  std::optional<SmallVector<int64_t>> range =
      parseSizes(object->getArray("data_offsets"));
  if (!dtype || !shape || !range || range->size() != 2 ||
      (*range)[0] > (*range)[1] || uint64_t((*range)[1]) > fileBytes - begin)
    return std::nullopt;
  return StoredTensor{getDataType(*dtype), std::move(*shape),
                      int64_t(begin) + (*range)[0], (*range)[1] - (*range)[0]};
}

/// Whether the brackets of \p text nest no deeper than those of a header do.
/// The parser calls itself for each, and a file must not end its stack.
static bool isFlat(StringRef text) {
  constexpr int maxDepth = 16;
  int depth = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInString && c == '\\')
      ++i;
    else if (c == '"')
      isInString = !isInString;
    else if (!isInString && (c == '[' || c == '{') && ++depth > maxDepth)
      return false;
    else if (!isInString && (c == ']' || c == '}'))
      --depth;
  }
  return true;
}

Expected<StringMap<StoredTensor>>
pipewright::onnx::readSafetensors(StringRef file) {
  constexpr uint64_t lengthBytes = 8;
  uint64_t headerBytes =
      file.size() < lengthBytes ? 0 : support::endian::read64le(file.data());
  if (file.size() < lengthBytes || headerBytes > file.size() - lengthBytes)
    return createStringError("its header does not fit into its %zu bytes",
                             file.size());
  StringRef text = file.substr(lengthBytes, headerBytes);
  if (!isFlat(text))
    return createStringError("its header nests brackets too deep");
  Expected<json::Value> header = json::parse(text);
  if (!header) {
    consumeError(header.takeError());
    return createStringError("its header is not JSON");
  }
  const json::Object *entries = header->getAsObject();
  if (!entries)
    return createStringError("its header is not a JSON object");
  StringMap<StoredTensor> tensors;
  for (const auto &[name, value] : *entries) {
    if (name == "__metadata__")
      continue;
    std::optional<StoredTensor> tensor =
        parseTensor(value, lengthBytes + headerBytes, file.size());
    if (!tensor)
      return createStringError("what it says of tensor '%s' makes no sense",
                               name.str().c_str());
    tensors.try_emplace(name, std::move(*tensor));
  }
  return tensors;
}
