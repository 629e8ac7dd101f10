//===- BuildPlan.h - The options of a plan in a file ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TOOLS_BUILDPLAN_H
#define PIPEWRIGHT_TOOLS_BUILDPLAN_H

#include "pipewright/Driver/BuildOptions.h"

#include <optional>

namespace pipewright {

/// What `pipewright build MODEL --config PATH` would be asked for; nothing,
/// with a message, if it would be refused.
std::optional<BuildOptions> readPlan(const std::string &path,
                                     const std::string &model);

} // namespace pipewright

#endif // PIPEWRIGHT_TOOLS_BUILDPLAN_H
