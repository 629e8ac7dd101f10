//===- Safetensors.cpp - The file format of weights -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Safetensors.h"
#include "MappedFile.h"

#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

using namespace pprt;
using nlohmann::json;

/// True if \p value is an array of non-negative integers; fills \p result.
static bool parseIntegers(const json &value, std::vector<int64_t> &result) {
  if (!value.is_array())
    return false;
  for (const json &element : value) {
    if (!element.is_number_unsigned())
      return false;
    result.push_back(element.get<int64_t>());
  }
  return true;
}

/// Bytes of a tensor, or nothing if they overflow.
static std::optional<uint64_t> countBytes(const SafetensorsEntry &entry) {
  uint64_t bytes = getElementBytes(entry.dtype);
  for (int64_t extent : entry.shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes))
      return std::nullopt;
  return bytes;
}

/// Parses the description of one tensor; returns what is wrong with it, or "".
static std::string parseEntry(const json &value, uint64_t dataStart,
                              uint64_t fileSize, SafetensorsEntry &entry) {
  if (!value.is_object() || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets") ||
      !value["dtype"].is_string())
    return "needs 'dtype', 'shape' and 'data_offsets'";
  std::string dtypeName = value["dtype"].get<std::string>();
  std::optional<PprtDtype> dtype = parseFormatName(dtypeName);
  if (!dtype)
    return "has element type '" + dtypeName + "', which is not supported";
  entry.dtype = *dtype;
  std::vector<int64_t> range;
  if (!parseIntegers(value["shape"], entry.shape) ||
      !parseIntegers(value["data_offsets"], range) || range.size() != 2)
    return "has a malformed 'shape' or 'data_offsets'";
  uint64_t available = fileSize - dataStart;
  uint64_t begin = range[0], end = range[1];
  if (begin > end || end > available)
    return "occupies bytes " + std::to_string(begin) + " to " +
           std::to_string(end) + " of " + std::to_string(available);
  entry.offset = dataStart + begin;
  entry.bytes = end - begin;
  if (countBytes(entry) != entry.bytes)
    return "has " + std::to_string(entry.bytes) + " bytes, which is not " +
           formatShape(entry.shape) + " of " + getDtypeName(entry.dtype);
  return "";
}

Status pprt::readSafetensorsIndex(const std::string &path,
                                  SafetensorsIndex &index) {
  std::unique_ptr<MappedFile> file;
  if (Status status = MappedFile::open(path, file); status.failed())
    return status;
  uint64_t headerBytes = 0;
  if (file->getSize() >= 8)
    memcpy(&headerBytes, file->getData(), 8);
  if (file->getSize() < 8 || headerBytes > file->getSize() - 8)
    return Status::dataError("'" + path +
                             "' is not a safetensors file: its "
                             "header does not fit into its " +
                             std::to_string(file->getSize()) + " bytes");
  const uint8_t *text = file->getData() + 8;
  json header = json::parse(text, text + headerBytes, /*cb=*/nullptr,
                            /*allow_exceptions=*/false);
  if (!header.is_object())
    return Status::dataError("'" + path +
                             "' is not a safetensors file: its "
                             "header is not a JSON object");
  for (const auto &[name, value] : header.items()) {
    if (name == "__metadata__")
      continue;
    std::string problem =
        parseEntry(value, 8 + headerBytes, file->getSize(), index[name]);
    if (!problem.empty())
      return Status::dataError("'" + path + "': tensor '" + name + "' " +
                               problem);
  }
  return Status();
}

std::string pprt::layOutSafetensors(SafetensorsIndex &index) {
  json header = json::object();
  uint64_t end = 0;
  for (auto &[name, entry] : index) {
    entry.offset = end;
    end += entry.bytes;
    header[name] = {{"dtype", getFormatName(entry.dtype)},
                    {"shape", entry.shape},
                    {"data_offsets", {entry.offset, end}}};
  }
  std::string text = header.dump();
  // Padded so that the tensors are aligned in the file.
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  uint64_t headerBytes = text.size();
  std::string start(reinterpret_cast<const char *>(&headerBytes), 8);
  start += text;
  for (auto &[name, entry] : index)
    entry.offset += start.size();
  return start;
}
