//===- ConfigFile.h - Options from a file -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_CONFIGFILE_H
#define PIPEWRIGHT_TOOLS_CONFIGFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace pipewright {

/// An option without its dashes, and its value; "" for a flag that is on.
using ConfigEntry = std::pair<std::string, std::string>;

/// Reads a `.toml` or `.json` file of options under their command-line names:
///
///   ranks = 4
///   schedule = "1f1b"
///   split-at = ["h.3", "h.6"]     # a list is joined by commas
///   bind = {batch = 4}            # a table becomes batch=4
///   forward-only = true
///
/// The error names the file and, in it, the place.
llvm::Expected<std::vector<ConfigEntry>> readConfigFile(llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_CONFIGFILE_H
