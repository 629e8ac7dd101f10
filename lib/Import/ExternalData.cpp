//===- ExternalData.cpp - Weights in files beside the model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExternalData.h"

#include "Proto/Onnx.pb.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace pipewright::onnx;

static Error parseNumber(StringRef key, StringRef text, uint64_t &number) {
  if (text.getAsInteger(10, number))
    return createStringError("has external data with %s '%s', which is not a "
                             "number of bytes",
                             key.str().c_str(), text.str().c_str());
  return Error::success();
}

Expected<ExternalData> ExternalData::parse(const TensorProto &tensor) {
  ExternalData data;
  for (const StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      data.location = entry.value();
    } else if (entry.key() == "offset") {
      if (Error error = parseNumber("offset", entry.value(), data.offset))
        return std::move(error);
    } else if (entry.key() == "length") {
      data.hasLength = true;
      if (Error error = parseNumber("length", entry.value(), data.length))
        return std::move(error);
    }
  }
  // Other keys (checksum, basepath) say nothing about where the values are.
  if (data.location.empty())
    return createStringError("has external data without a location");
  return data;
}

Expected<std::string> pipewright::onnx::resolveExternal(StringRef folder,
                                                        StringRef location,
                                                        bool allowSymlinks) {
  std::string name = location.str();
  auto refuse = [&](const char *why) {
    return createStringError("has external data in '%s', %s", name.c_str(),
                             why);
  };
  if (location.contains('\0') || sys::path::is_absolute(location))
    return refuse("which is not a path relative to the model");
  SmallString<256> path(folder);
  for (auto it = sys::path::begin(location), end = sys::path::end(location);
       it != end; ++it) {
    if (*it == "..")
      return refuse("which may leave the model's folder");
    sys::path::append(path, *it);
    if (!allowSymlinks && sys::fs::is_symlink_file(path))
      return refuse("which is reached through a symbolic link; allow this with "
                    "--allow-external-symlinks");
  }
  return std::string(path);
}

Expected<std::unique_ptr<MemoryBuffer>>
pipewright::onnx::mapRegularFile(StringRef path, bool contained) {
  std::string name = path.str();
  // O_NONBLOCK: opening a FIFO returns, so that it can be refused.
  int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK |
                                            (contained ? O_NOFOLLOW : 0));
  if (descriptor < 0)
    return createStringError("cannot open '%s': %s", name.c_str(),
                             sys::StrError().c_str());
  llvm::scope_exit close([&] { ::close(descriptor); });
  struct stat status;
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return createStringError("'%s' is not a regular file", name.c_str());
  if (contained && status.st_nlink > 1)
    return createStringError("'%s' has other names (hard links)", name.c_str());
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getOpenFile(
      sys::fs::convertFDToNativeFile(descriptor), path, status.st_size,
      /*RequiresNullTerminator=*/false);
  if (!buffer)
    return createStringError("cannot read '%s': %s", name.c_str(),
                             buffer.getError().message().c_str());
  return std::move(*buffer);
}
