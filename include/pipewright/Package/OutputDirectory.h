//===- OutputDirectory.h - A directory that appears whole or not at all -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_OUTPUTDIRECTORY_H
#define PIPEWRIGHT_PACKAGE_OUTPUTDIRECTORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace pipewright {

/// A directory that is filled under another name beside its final place and
/// then renamed; dropped with all it holds unless `commit` succeeds.
class OutputDirectory {
public:
  /// Whether \p path may be made, as far as can be told before: it fails if it
  /// exists and \p force is not set, if it is not a directory, or if the
  /// current directory or one of \p needed lies in it and would go with it.
  static llvm::Error check(llvm::StringRef path, bool force,
                           llvm::ArrayRef<llvm::StringRef> needed = {});

  /// Fails as `check` does, and if its parent cannot be written.
  static llvm::Expected<OutputDirectory> create(llvm::StringRef path,
                                                bool force);
  OutputDirectory(OutputDirectory &&other);
  OutputDirectory(const OutputDirectory &) = delete;
  ~OutputDirectory();

  /// The path, for now, of \p name in the directory.
  std::string getPath(llvm::StringRef name) const;

  /// Creates a directory inside.
  llvm::Error makeDirectory(llvm::StringRef name);

  /// Writes a whole file, which may be run if \p isExecutable.
  llvm::Error writeFile(llvm::StringRef name, llvm::StringRef content,
                        bool isExecutable = false);

  /// Puts the directory in its place; what was there is removed.
  llvm::Error commit();

private:
  OutputDirectory(std::string finalPath, std::string path)
      : finalPath(std::move(finalPath)), path(std::move(path)) {}

  std::string finalPath;
  /// Empty once committed or moved from.
  std::string path;
};

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_OUTPUTDIRECTORY_H
