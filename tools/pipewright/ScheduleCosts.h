//===- ScheduleCosts.h - The times that users give --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_SCHEDULECOSTS_H
#define PIPEWRIGHT_TOOLS_SCHEDULECOSTS_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/Support/Error.h"

namespace pipewright {

/// Reads the entries of --cost, `f=1`, `comm=0.5`, `fb=`, into \p costs.
llvm::Error parseCosts(llvm::ArrayRef<std::string> entries, ShareCosts &costs);

/// Reads the file of --stage-cost into \p costs.
llvm::Error readStageCosts(llvm::StringRef path, ShareCosts &costs);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_SCHEDULECOSTS_H
