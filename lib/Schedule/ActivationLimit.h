//===- ActivationLimit.h - Memory as a number of micro-batches --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_ACTIVATIONLIMIT_H
#define PIPEWRIGHT_LIB_SCHEDULE_ACTIVATIONLIMIT_H

#include "pipewright/Schedule/StageGraph.h"

namespace pipewright {

/// How many micro-batches' activations, in the unit of
/// Metrics::peakActivations, each rank can hold beside its parameters, their
/// gradients and their optimizer states in \p bytes; nothing if it is less
/// than one.
///
/// An estimate, before there is a plan of the memory: it counts what forwards
/// read and write, takes all stages of a rank for as large as the largest, and
/// knows no workspaces.
std::optional<double> estimateActivationLimit(const StageGraph &graph,
                                              int64_t bytes);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_ACTIVATIONLIMIT_H
