//===- TableFile.h - Files that users write ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SUPPORT_TABLEFILE_H
#define PIPEWRIGHT_SUPPORT_TABLEFILE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"

#include <vector>

namespace pipewright {

/// Reads a `.json` or `.toml` file as one JSON value; a date or a time of TOML
/// is null. The error names the file and, in it, the place.
llvm::Expected<llvm::json::Value> readTableFile(llvm::StringRef path);

/// A table that comes with the program, as JSON.
struct NamedTable {
  llvm::StringRef name, text;
};

/// The names of \p tables, in their order.
std::vector<llvm::StringRef> getNames(llvm::ArrayRef<NamedTable> tables);

/// The table that is meant by \p nameOrFile: the one of \p known that has this
/// name, or a file that ends in `.json` or `.toml`. The error of a name that is
/// not known says that there is no such \p what.
llvm::Expected<llvm::json::Value>
readNamedTable(llvm::StringRef what, llvm::StringRef nameOrFile,
               llvm::ArrayRef<NamedTable> known);

} // namespace pipewright

#endif // PIPEWRIGHT_SUPPORT_TABLEFILE_H
