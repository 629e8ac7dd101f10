//===- OutputDirectory.cpp - A directory that appears whole or not at all
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/OutputDirectory.h"

#include "pipewright/Support/TextFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace pipewright;

/// As for the files inside, the user's mask decides who may read.
static constexpr sys::fs::perms permissions = sys::fs::all_all;

static Error makeError(StringRef path, std::error_code error) {
  return createStringError(error,
                           "cannot write '" + path + "': " + error.message());
}

/// Whether \p path is \p directory or lies in it.
static bool holds(StringRef directory, StringRef path) {
  SmallString<256> outer, inner;
  if (sys::fs::real_path(directory, outer) || sys::fs::real_path(path, inner))
    return false;
  StringRef rest = inner;
  return rest.consume_front(outer) &&
         (rest.empty() || outer == "/" || rest.front() == '/');
}

Error OutputDirectory::check(StringRef path, bool force,
                             ArrayRef<StringRef> needed) {
  if (path.empty())
    return createStringError("the output directory has no name");
  if (!sys::fs::exists(path))
    return Error::success();
  if (!sys::fs::is_directory(path))
    return createStringError("'" + path + "' exists and is not a directory");
  if (!force)
    return createStringError("'" + path +
                             "' exists; give '--force' to replace it");
  if (holds(path, "."))
    return createStringError("'" + path +
                             "' cannot be replaced: it holds the current "
                             "directory");
  for (StringRef one : needed)
    if (!one.empty() && holds(path, one))
      return createStringError("'" + path + "' cannot be replaced: it holds '" +
                               one + "'");
  return Error::success();
}

Expected<OutputDirectory> OutputDirectory::create(StringRef path, bool force) {
  if (Error error = check(path, force))
    return error;
  SmallString<256> absolute(path);
  sys::fs::make_absolute(absolute);
  sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
  while (absolute.size() > 1 && sys::path::is_separator(absolute.back()))
    absolute.pop_back();

  SmallString<256> temporary;
  sys::fs::createUniquePath(absolute + ".partial-%%%%%%", temporary,
                            /*MakeAbsolute=*/false);
  if (std::error_code error = sys::fs::create_directories(
          temporary, /*IgnoreExisting=*/false, permissions))
    return makeError(path, error);
  return OutputDirectory(absolute.str().str(), temporary.str().str());
}

OutputDirectory::OutputDirectory(OutputDirectory &&other)
    : finalPath(std::move(other.finalPath)), path(std::move(other.path)) {
  other.path.clear();
}

OutputDirectory::~OutputDirectory() {
  if (!path.empty())
    sys::fs::remove_directories(path);
}

std::string OutputDirectory::getPath(StringRef name) const {
  SmallString<256> result(path);
  sys::path::append(result, name);
  return result.str().str();
}

Error OutputDirectory::makeDirectory(StringRef name) {
  std::string directory = getPath(name);
  if (std::error_code error = sys::fs::create_directories(
          directory, /*IgnoreExisting=*/true, permissions))
    return makeError(directory, error);
  return Error::success();
}

Error OutputDirectory::writeFile(StringRef name, StringRef content,
                                 bool isExecutable) {
  std::string file = getPath(name);
  if (Error error =
          writeTextFile(file, [&](raw_ostream &os) { os << content; }))
    return error;
  if (!isExecutable)
    return Error::success();
  std::error_code error = sys::fs::setPermissions(
      file, sys::fs::all_read | sys::fs::all_exe | sys::fs::owner_write);
  return error ? makeError(file, error) : Error::success();
}

Error OutputDirectory::commit() {
  // A directory cannot be renamed onto a full one: move the old one away first.
  std::string old;
  if (sys::fs::exists(finalPath)) {
    old = path + ".old";
    if (std::error_code error = sys::fs::rename(finalPath, old))
      return makeError(finalPath, error);
  }
  if (std::error_code error = sys::fs::rename(path, finalPath)) {
    if (!old.empty())
      (void)sys::fs::rename(old, finalPath);
    return makeError(finalPath, error);
  }
  path.clear();
  if (!old.empty())
    sys::fs::remove_directories(old);
  return Error::success();
}
