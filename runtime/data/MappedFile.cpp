//===- MappedFile.cpp - A file's bytes, mapped for reading ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pprt;

static Status fail(const std::string &path, const char *what) {
  return Status::dataError("cannot read '" + path + "': " + what);
}

Status MappedFile::open(const std::string &path,
                        std::unique_ptr<MappedFile> &result) {
  // Not blocking: a FIFO would never open.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return fail(path, strerror(errno));
  struct stat info;
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return fail(path, "not a regular file");
  }
  size_t size = info.st_size;
  void *data = nullptr;
  if (size != 0)
    data = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (data == MAP_FAILED)
    return fail(path, strerror(errno));
  result.reset(new MappedFile(path, static_cast<uint8_t *>(data), size));
  return Status();
}

MappedFile::~MappedFile() {
  if (size != 0)
    munmap(const_cast<uint8_t *>(data), size);
}
