//===- ScheduleCosts.h - The times that users give --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_SCHEDULECOSTS_H
#define PIPEWRIGHT_TOOLS_SCHEDULECOSTS_H

#include "ScheduleOptions.h"

namespace pipewright {

/// Reads the entries of --cost, `f=1`, `comm=0.5`, `fb=`, into \p costs.
llvm::Error parseCosts(llvm::ArrayRef<std::string> entries, ShareCosts &costs);

/// Reads the costs of single stages, from --stage-cost or from --layout and
/// --layer-cost, into \p request, whose other costs are known already.
llvm::Error readStageCosts(const ScheduleOptions &options,
                           ScheduleRequest &request);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_SCHEDULECOSTS_H
