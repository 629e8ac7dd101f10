//===- TableFile.h - Files that users write ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SUPPORT_TABLEFILE_H
#define PIPEWRIGHT_SUPPORT_TABLEFILE_H

#include "llvm/Support/JSON.h"

namespace pipewright {

/// Reads a `.json` or `.toml` file as one JSON value; a date or a time of TOML
/// is null. The error names the file and, in it, the place.
llvm::Expected<llvm::json::Value> readTableFile(llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_SUPPORT_TABLEFILE_H
