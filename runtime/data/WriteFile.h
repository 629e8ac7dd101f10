//===- WriteFile.h - Files that appear whole --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_WRITEFILE_H
#define PPRT_DATA_WRITEFILE_H

#include "pprt/Status.h"

#include <cstdint>
#include <string>

namespace pprt {

/// A file that is written beside its place and moved there when complete.
class OutputFile {
public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  Status open(const std::string &path);
  Status write(const void *data, uint64_t bytes, uint64_t offset);
  Status commit();

private:
  Status fail() const;

  std::string path, temporary;
  int file = -1;
};

/// Whether a file can be written at \p path, where nothing changes.
Status checkWritable(const std::string &path);

/// Writes all of a file.
Status writeFile(const std::string &path, const std::string &content);

} // namespace pprt

#endif // PPRT_DATA_WRITEFILE_H
