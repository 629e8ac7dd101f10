//===- Npy.cpp - NumPy's file format --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A magic string, a version, the length of the header, and the header, which
// is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape':
// (2, 3), }.
//
//===----------------------------------------------------------------------===//

#include "Npy.h"

#include <charconv>
#include <cstring>
#include <string_view>

using namespace pprt;
using std::string_view;

namespace {
struct TypeName {
  string_view text;
  PprtDtype dtype;
  int64_t bytes;
};
} // namespace

// NumPy has no bf16: packages that add it save two bytes of no type. Of the
// names of a dtype the first is written.
static constexpr TypeName typeNames[] = {
    {"<f4", PPRT_F32, 4},  {"<f8", PPRT_F64, 8},  {"<f2", PPRT_F16, 2},
    {"<V2", PPRT_BF16, 2}, {"|V2", PPRT_BF16, 2}, {"|i1", PPRT_I8, 1},
    {"<i2", PPRT_I16, 2},  {"<i4", PPRT_I32, 4},  {"<i8", PPRT_I64, 8},
    {"|u1", PPRT_I16, 1},  {"<u2", PPRT_I32, 2},  {"<u4", PPRT_I64, 4},
    {"|b1", PPRT_BOOL, 1}};

static constexpr string_view magic = "\x93NUMPY";

/// What follows `'key':` in a header; empty if there is none.
static string_view findValue(string_view header, string_view key) {
  size_t position = header.find(key);
  if (position == string_view::npos)
    return {};
  position = header.find_first_not_of(" :", position + key.size());
  return position == string_view::npos ? string_view()
                                       : header.substr(position);
}

static bool parseShape(string_view text, std::vector<int64_t> &shape) {
  if (text.empty() || text[0] != '(')
    return false;
  while (true) {
    size_t next = text.find_first_not_of("(, ");
    if (next == string_view::npos)
      return false;
    text.remove_prefix(next);
    if (text[0] == ')')
      return true;
    int64_t extent;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), extent);
    if (error != std::errc() || extent < 0)
      return false;
    shape.push_back(extent);
    text.remove_prefix(end - text.data());
  }
}

/// Parses a header; returns what is wrong, or "".
static std::string parseHeader(string_view header, NpyArray &array) {
  string_view descr = findValue(header, "'descr'");
  const TypeName *type = nullptr;
  for (const TypeName &candidate : typeNames)
    if (descr.substr(0, 5) == "'" + std::string(candidate.text) + "'")
      type = &candidate;
  if (!type)
    return "has element type " + std::string(descr.substr(0, descr.find(','))) +
           ", which is not supported";
  array.dtype = type->dtype;
  array.elementBytes = type->bytes;
  if (findValue(header, "'fortran_order'").substr(0, 5) != "False")
    return "is in column-major order; save numpy.ascontiguousarray of it";
  if (!parseShape(findValue(header, "'shape'"), array.shape))
    return "has a malformed shape";
  return "";
}

Status pprt::openNpy(const std::string &path, NpyArray &result) {
  if (Status status = MappedFile::open(path, result.file); status.failed())
    return status;
  const uint8_t *data = result.file->getData();
  size_t size = result.file->getSize();
  auto fail = [&](const std::string &what) {
    return Status::dataError("'" + path + "' " + what);
  };
  if (size < 12 || memcmp(data, magic.data(), magic.size()) != 0)
    return fail("is not a .npy file");
  // Version 1 has a length of two bytes, later ones of four.
  size_t lengthBytes = data[6] == 1 ? 2 : 4;
  uint32_t length = 0;
  memcpy(&length, data + 8, lengthBytes);
  size_t start = 8 + lengthBytes + length;
  if (start > size)
    return fail("is cut off in its header");
  string_view header(reinterpret_cast<const char *>(data) + 8 + lengthBytes,
                     length);
  if (std::string problem = parseHeader(header, result); !problem.empty())
    return fail(problem);
  uint64_t bytes = result.elementBytes;
  for (int64_t extent : result.shape)
    if (__builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      return fail("has a shape that is too large");
  if (size - start != bytes)
    return fail("has " + std::to_string(size - start) +
                " bytes of elements, but its shape needs " +
                std::to_string(bytes));
  result.data = data + start;
  return Status();
}

std::string pprt::formatNpyHeader(PprtDtype dtype,
                                  const std::vector<int64_t> &shape) {
  const TypeName *type = nullptr;
  for (const TypeName &candidate : typeNames)
    if (!type && candidate.dtype == dtype)
      type = &candidate;
  if (!type)
    return "";
  std::string header = "{'descr': '" + std::string(type->text) +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape)
    header += std::to_string(extent) + ", ";
  header += "), }";
  // The elements start at a multiple of 64 bytes.
  size_t length = (10 + header.size() + 1 + 63) / 64 * 64 - 10;
  header.resize(length - 1, ' ');
  header += '\n';
  std::string start(magic);
  start += '\1';
  start += '\0';
  start += static_cast<char>(length & 255);
  start += static_cast<char>(length >> 8);
  return start + header;
}
