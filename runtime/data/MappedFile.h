//===- MappedFile.h - A file's bytes, mapped for reading --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_MAPPEDFILE_H
#define PPRT_DATA_MAPPEDFILE_H

#include "pprt/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pprt {

/// The bytes of a regular file; unmapped with the object.
class MappedFile {
public:
  static Status open(const std::string &path,
                     std::unique_ptr<MappedFile> &result);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &getPath() const { return path; }
  const uint8_t *getData() const { return data; }
  size_t getSize() const { return size; }

private:
  MappedFile(std::string path, const uint8_t *data, size_t size)
      : path(std::move(path)), data(data), size(size) {}

  std::string path;
  const uint8_t *data;
  size_t size;
};

} // namespace pprt

#endif // PPRT_DATA_MAPPEDFILE_H
