//===- PlanFile.h - A plan as options of a build ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_PLANFILE_H
#define PIPEWRIGHT_TOOLS_PLANFILE_H

#include "pipewright/Driver/BuildOptions.h"

#include "llvm/Support/Error.h"

namespace pipewright {

/// Writes \p options, but for the model and what is as by default, to the .toml
/// file \p path: `build --config` takes them from there.
llvm::Error writePlanFile(const BuildOptions &options, llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_PLANFILE_H
