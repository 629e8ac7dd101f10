//===- WireFormat.cpp - Leaves weights in the file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WireFormat.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

using namespace llvm;

namespace {

/// The messages that contain tensors, however deep.
enum class Message {
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  SparseTensor,
  Function
};

struct Nesting {
  Message outer;
  uint64_t field;
  Message inner;
};

constexpr Nesting nestings[] = {
    {Message::Model, 7, Message::Graph},
    {Message::Model, 25, Message::Function},
    {Message::Function, 7, Message::Node},
    {Message::Function, 11, Message::Attribute},
    {Message::Graph, 1, Message::Node},
    {Message::Graph, 5, Message::Tensor},
    {Message::Graph, 15, Message::SparseTensor},
    {Message::Node, 5, Message::Attribute},
    {Message::Attribute, 5, Message::Tensor},
    {Message::Attribute, 6, Message::Graph},
    {Message::Attribute, 10, Message::Tensor},
    {Message::Attribute, 11, Message::Graph},
    {Message::Attribute, 22, Message::SparseTensor},
    {Message::SparseTensor, 1, Message::Tensor},
    {Message::SparseTensor, 2, Message::Tensor},
};

enum WireType { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// Fields of TensorProto.
constexpr uint64_t floatDataField = 4;
constexpr uint64_t rawDataField = 9;
constexpr uint64_t doubleDataField = 10;
constexpr uint64_t leftAtField = 1000;
constexpr uint64_t leftBytesField = 1001;

// A field of NodeProto.
constexpr uint64_t opsetVersionField = 1000;

/// Protobuf refuses messages nested deeper than this; so do we, before the
/// stack ends.
constexpr int maxDepth = 100;

class WeightRemover {
public:
  explicit WeightRemover(StringRef file) : file(file) {}

  /// Appends bytes [begin, end) of the file, a message of kind \p message,
  /// to \p out.
  Error copy(Message message, size_t begin, size_t end, int depth,
             std::string &out);

private:
  Error copyBytes(Message message, uint64_t field, size_t begin, size_t end,
                  int depth, std::string &out);
  Expected<uint64_t> readVarint(size_t &at, size_t end) const;
  Error skip(uint64_t bytes, size_t &at, size_t end) const;
  static void writeVarint(uint64_t value, std::string &out);

  StringRef file;
};

} // namespace

static std::optional<Message> getNested(Message outer, uint64_t field) {
  for (const Nesting &nesting : nestings)
    if (nesting.outer == outer && nesting.field == field)
      return nesting.inner;
  return std::nullopt;
}

static bool isStoredAsInMemory(uint64_t tensorField) {
  return tensorField == rawDataField || tensorField == floatDataField ||
         tensorField == doubleDataField;
}

/// The fields that ONNX does not have are ours alone to write.
static bool isOurs(Message message, uint64_t field) {
  if (message == Message::Node)
    return field == opsetVersionField;
  return message == Message::Tensor &&
         (field == leftAtField || field == leftBytesField);
}

Expected<uint64_t> WeightRemover::readVarint(size_t &at, size_t end) const {
  size_t start = at;
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && at < end; shift += 7) {
    uint8_t byte = file[at++];
    value |= uint64_t(byte & 0x7f) << shift;
    if (!(byte & 0x80))
      return value;
  }
  return createStringError("is truncated or not an ONNX model: byte %zu does "
                           "not begin a number",
                           start);
}

void WeightRemover::writeVarint(uint64_t value, std::string &out) {
  for (; value >= 0x80; value >>= 7)
    out.push_back(char(value | 0x80));
  out.push_back(char(value));
}

Error WeightRemover::skip(uint64_t bytes, size_t &at, size_t end) const {
  if (bytes > end - at)
    return createStringError("is truncated or not an ONNX model: the field at "
                             "byte %zu needs %llu bytes, but %zu are left",
                             at, (unsigned long long)bytes, end - at);
  at += bytes;
  return Error::success();
}

Error WeightRemover::copy(Message message, size_t begin, size_t end, int depth,
                          std::string &out) {
  if (depth > maxDepth)
    return createStringError("nests messages deeper than %d at byte %zu",
                             maxDepth, begin);
  for (size_t at = begin; at < end;) {
    size_t start = at;
    Expected<uint64_t> tag = readVarint(at, end);
    if (!tag)
      return tag.takeError();
    uint64_t field = *tag >> 3;
    switch (*tag & 7) {
    case Varint:
      if (Expected<uint64_t> value = readVarint(at, end); !value)
        return value.takeError();
      break;
    case Fixed64:
      if (Error error = skip(8, at, end))
        return error;
      break;
    case Fixed32:
      if (Error error = skip(4, at, end))
        return error;
      break;
    case Bytes: {
      Expected<uint64_t> length = readVarint(at, end);
      if (!length)
        return length.takeError();
      size_t value = at;
      if (Error error = skip(*length, at, end))
        return error;
      if (Error error = copyBytes(message, field, value, at, depth, out))
        return error;
      continue;
    }
    default:
      return createStringError("is not an ONNX model: byte %zu does not begin "
                               "a protobuf field",
                               start);
    }
    if (!isOurs(message, field))
      out.append(file.data() + start, at - start);
  }
  return Error::success();
}

Error WeightRemover::copyBytes(Message message, uint64_t field, size_t begin,
                               size_t end, int depth, std::string &out) {
  size_t length = end - begin;
  if (message == Message::Tensor && isStoredAsInMemory(field)) {
    writeVarint(leftAtField << 3 | Varint, out);
    writeVarint(begin, out);
    writeVarint(leftBytesField << 3 | Varint, out);
    writeVarint(length, out);
    return Error::success();
  }
  writeVarint(field << 3 | Bytes, out);
  std::optional<Message> nested = getNested(message, field);
  if (!nested) {
    writeVarint(length, out);
    out.append(file.data() + begin, length);
    return Error::success();
  }
  std::string inner;
  if (Error error = copy(*nested, begin, end, depth + 1, inner))
    return error;
  writeVarint(inner.size(), out);
  out += inner;
  return Error::success();
}

Expected<std::string> pipewright::onnx::copyWithoutWeights(StringRef file) {
  std::string copy;
  WeightRemover remover(file);
  if (Error error = remover.copy(Message::Model, 0, file.size(), 0, copy))
    return std::move(error);
  return copy;
}
