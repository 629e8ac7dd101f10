//===- FileHash.cpp - The SHA-256 of a file
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Support/FileHash.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SHA256.h"

using namespace llvm;

Expected<std::string> pipewright::hashFile(StringRef path) {
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file)
    return file.takeError();
  SHA256 hash;
  SmallVector<char, 0> piece(1 << 20);
  while (true) {
    Expected<size_t> count = sys::fs::readNativeFile(*file, piece);
    if (!count || *count == 0) {
      sys::fs::closeFile(*file);
      if (!count)
        return count.takeError();
      return toHex(hash.final(), /*LowerCase=*/true);
    }
    hash.update(StringRef(piece.data(), *count));
  }
}
