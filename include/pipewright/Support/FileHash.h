//===- FileHash.h - The SHA-256 of a file -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SUPPORT_FILEHASH_H
#define PIPEWRIGHT_SUPPORT_FILEHASH_H

#include "llvm/Support/Error.h"

#include <string>

namespace pipewright {

/// The SHA-256 of the file at \p path in lower-case hexadecimal digits. Reads
/// it in pieces.
llvm::Expected<std::string> hashFile(llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_SUPPORT_FILEHASH_H
