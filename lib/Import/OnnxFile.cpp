//===- OnnxFile.cpp - Reads ONNX model files
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxFile.h"

#include "ExternalData.h"
#include "Proto/Onnx.pb.h"
#include "TextForm.h"
#include "TypedData.h"
#include "WireFormat.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace pipewright::onnx;

int64_t pipewright::onnx::getElementBytes(int32_t dataType) {
  switch (dataType) {
  case TensorProto::BOOL:
  case TensorProto::INT8:
  case TensorProto::UINT8:
    return 1;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
    return 8;
  default:
    return 0;
  }
}

std::string pipewright::onnx::getDataTypeName(int32_t dataType) {
  if (!TensorProto::DataType_IsValid(dataType))
    return "#" + std::to_string(dataType);
  return StringRef(TensorProto::DataType_Name(
                       static_cast<TensorProto::DataType>(dataType)))
      .lower();
}

/// The bytes that the shape and the element type of \p tensor ask for.
static Expected<int64_t> getBytes(const TensorProto &tensor) {
  int64_t bytes = getElementBytes(tensor.data_type());
  if (bytes == 0)
    return createStringError("has elements of type %s, which is not supported",
                             getDataTypeName(tensor.data_type()).c_str());
  bool isEmpty = false;
  for (int64_t dim : tensor.dims()) {
    if (dim < 0)
      return createStringError("has a dimension of size %lld", (long long)dim);
    isEmpty |= dim == 0;
    // An axis of no length does not make the others small.
    std::optional<int64_t> product =
        checkedMul(bytes, std::max<int64_t>(dim, 1));
    if (!product)
      return createStringError("has more bytes than can be counted");
    bytes = *product;
  }
  return isEmpty ? 0 : bytes;
}

/// \p error, with what it is about.
static Error withSubject(const Twine &subject, Error error) {
  return createStringError(subject + toString(std::move(error)));
}

OnnxFile::OnnxFile(StringRef path, const OnnxFileOptions &options)
    : options(options),
      isText(path.ends_with(".onnxtxt") || path.ends_with(".textproto")),
      model(std::make_unique<ModelProto>()) {
  SmallString<256> absolute(path);
  // If this fails, opening the file says why.
  (void)sys::fs::make_absolute(absolute);
  this->path = std::string(absolute);
}

OnnxFile::~OnnxFile() = default;

Expected<std::unique_ptr<OnnxFile>>
OnnxFile::open(StringRef path, const OnnxFileOptions &options) {
  std::unique_ptr<OnnxFile> file(new OnnxFile(path, options));
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      mapRegularFile(file->path, /*contained=*/false);
  if (!buffer)
    return buffer.takeError();
  file->buffer = std::move(*buffer);
  if (Error error = file->isText ? file->parseText() : file->parse())
    return withSubject("'" + path + "' ", std::move(error));
  return std::move(file);
}

Error OnnxFile::parse() {
  Expected<std::string> copy = copyWithoutWeights(buffer->getBuffer());
  if (!copy)
    return copy.takeError();
  if (!model->ParseFromString(*copy))
    return createStringError("is not an ONNX model: the fields are not those "
                             "of a model");
  return Error::success();
}

Error OnnxFile::parseText() {
  return parseTextForm(buffer->getBuffer(), *model);
}

bool OnnxFile::hasValues(const TensorProto &tensor) const {
  auto it = added.find(&tensor);
  return it == added.end() || it->second;
}

Expected<TensorContents> OnnxFile::describe(const TensorProto &tensor) const {
  TensorContents contents;
  contents.dataType = tensor.data_type();
  contents.dims.assign(tensor.dims().begin(), tensor.dims().end());
  Expected<int64_t> bytes = getBytes(tensor);
  if (!bytes)
    return bytes.takeError();
  contents.range = FileRange{/*file=*/"", /*offset=*/0, *bytes};
  return std::move(contents);
}

Expected<TensorContents> OnnxFile::read(const TensorProto &tensor) {
  if (!hasValues(tensor))
    return createStringError("has no values");
  if (tensor.has_segment())
    return createStringError("is stored in segments, which is not supported");
  Expected<TensorContents> described = describe(tensor);
  if (!described)
    return described.takeError();
  TensorContents contents = std::move(*described);
  int64_t bytes = contents.range->length;
  contents.range.reset();
  if (auto it = added.find(&tensor); it != added.end()) {
    if (Error error = readAdded(*it->second, contents))
      return std::move(error);
  } else if (tensor.data_location() == TensorProto::EXTERNAL) {
    if (Error error = readExternal(tensor, contents))
      return std::move(error);
  } else if (tensor.has_left_at() && !isText) {
    if (Error error = readLeft(tensor, contents))
      return std::move(error);
  } else if (tensor.has_raw_data()) {
    contents.bytes = tensor.raw_data();
  } else {
    contents.decoded = decodeTypedData(tensor);
    contents.bytes =
        StringRef(contents.decoded.data(), contents.decoded.size());
  }
  if (int64_t(contents.bytes.size()) != bytes)
    return createStringError("has %zu of %lld bytes", contents.bytes.size(),
                             (long long)bytes);
  return std::move(contents);
}

/// A range of \p buffer, which is the file \p path.
static Error setRange(const MemoryBuffer &buffer, StringRef path,
                      uint64_t offset, uint64_t length,
                      TensorContents &contents) {
  uint64_t size = buffer.getBufferSize();
  if (offset > size || length > size - offset)
    return createStringError(
        "needs %llu bytes at offset %llu of '%s', which has %llu bytes",
        (unsigned long long)length, (unsigned long long)offset,
        path.str().c_str(), (unsigned long long)size);
  contents.bytes = buffer.getBuffer().substr(offset, length);
  contents.range = FileRange{path.str(), int64_t(offset), int64_t(length)};
  return Error::success();
}

Error OnnxFile::readLeft(const TensorProto &tensor, TensorContents &contents) {
  return setRange(*buffer, path, tensor.left_at(), tensor.left_bytes(),
                  contents);
}

Error OnnxFile::readExternal(const TensorProto &tensor,
                             TensorContents &contents) {
  Expected<ExternalData> data = ExternalData::parse(tensor);
  if (!data)
    return data.takeError();
  Expected<std::string> dataPath =
      resolveExternal(sys::path::parent_path(path), data->location,
                      options.allowExternalSymlinks);
  if (!dataPath)
    return dataPath.takeError();
  Expected<const MemoryBuffer *> file = mapExternal(*dataPath);
  if (!file)
    return file.takeError();
  Expected<int64_t> bytes = getBytes(tensor);
  if (!bytes)
    return bytes.takeError();
  uint64_t length = data->hasLength ? data->length : uint64_t(*bytes);
  return setRange(**file, *dataPath, data->offset, length, contents);
}

Expected<const MemoryBuffer *> OnnxFile::mapExternal(StringRef dataPath) {
  std::unique_ptr<MemoryBuffer> &file = externalFiles[dataPath];
  if (file)
    return file.get();
  Expected<std::unique_ptr<MemoryBuffer>> mapped =
      mapRegularFile(dataPath, /*contained=*/!options.allowExternalSymlinks);
  if (!mapped)
    return withSubject("has external data, but ", mapped.takeError());
  file = std::move(*mapped);
  return file.get();
}

//===----------------------------------------------------------------------===//
// Weights from elsewhere
//===----------------------------------------------------------------------===//

Expected<StringRef> OnnxFile::mapWeights(StringRef weights) {
  std::unique_ptr<MemoryBuffer> &file = externalFiles[weights];
  if (!file) {
    Expected<std::unique_ptr<MemoryBuffer>> mapped =
        mapRegularFile(weights, /*contained=*/false);
    if (!mapped)
      return mapped.takeError();
    file = std::move(*mapped);
  }
  return file->getBuffer();
}

void OnnxFile::addInitializer(TensorProto initializer, const FileRange &range) {
  TensorProto *tensor = model->mutable_graph()->add_initializer();
  *tensor = std::move(initializer);
  added[tensor] = range;
}

void OnnxFile::addInitializer(TensorProto initializer) {
  TensorProto *tensor = model->mutable_graph()->add_initializer();
  *tensor = std::move(initializer);
  added[tensor] = std::nullopt;
}

void OnnxFile::addCopy(const TensorProto &tensor, StringRef name) {
  TensorProto *copy = model->mutable_graph()->add_initializer();
  *copy = tensor;
  copy->set_name(name.str());
  if (auto range = added.find(&tensor); range != added.end()) {
    std::optional<FileRange> values = range->second;
    added[copy] = std::move(values);
  }
}

Error OnnxFile::readAdded(const FileRange &range, TensorContents &contents) {
  SmallString<256> absolute(range.file);
  if (std::error_code error = sys::fs::make_absolute(absolute))
    return createStringError("is in '%s', whose place is not known: %s",
                             range.file.c_str(), error.message().c_str());
  return setRange(*externalFiles.at(range.file), absolute, range.offset,
                  range.length, contents);
}
