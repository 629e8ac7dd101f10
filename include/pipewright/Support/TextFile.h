//===- TextFile.h - Write text files ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SUPPORT_TEXTFILE_H
#define PIPEWRIGHT_SUPPORT_TEXTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace pipewright {

/// Makes the file \p path of what \p print prints, whole or not at all. The
/// error says which file cannot be written and why.
llvm::Error writeTextFile(llvm::StringRef path,
                          llvm::function_ref<void(llvm::raw_ostream &)> print);

} // namespace pipewright

#endif // PIPEWRIGHT_SUPPORT_TEXTFILE_H
