//===- WriteFile.cpp - Files that appear whole ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteFile.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace pprt;

Status OutputFile::fail() const {
  return Status::dataError("cannot write '" + path + "': " + strerror(errno));
}

Status OutputFile::open(const std::string &where) {
  path = where;
  struct stat place;
  bool exists = stat(where.c_str(), &place) == 0;
  // A device such as /dev/null must not be replaced.
  bool isDevice = exists && S_ISCHR(place.st_mode);
  if (exists && !isDevice && !S_ISREG(place.st_mode)) {
    errno = S_ISDIR(place.st_mode) ? EISDIR : ESPIPE;
    return fail();
  }
  temporary = isDevice ? where : where + ".part." + std::to_string(getpid());
  file =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return file < 0 ? fail() : Status();
}

Status OutputFile::write(const void *data, uint64_t bytes, uint64_t offset) {
  const char *next = static_cast<const char *>(data);
  while (bytes != 0) {
    ssize_t written = pwrite(file, next, bytes, offset);
    if (written < 0 && errno != EINTR)
      return fail();
    if (written < 0)
      continue;
    next += written;
    offset += written;
    bytes -= written;
  }
  return Status();
}

Status OutputFile::commit() {
  if (temporary != path &&
      (fsync(file) != 0 || rename(temporary.c_str(), path.c_str()) != 0))
    return fail();
  close(file);
  file = -1;
  return Status();
}

OutputFile::~OutputFile() {
  if (file < 0)
    return;
  close(file);
  if (temporary != path)
    unlink(temporary.c_str());
}

Status pprt::checkWritable(const std::string &path) {
  OutputFile file;
  return file.open(path);
}

Status pprt::writeFile(const std::string &path, const std::string &content) {
  OutputFile file;
  if (Status status = file.open(path); status.failed())
    return status;
  if (Status status = file.write(content.data(), content.size(), 0);
      status.failed())
    return status;
  return file.commit();
}
