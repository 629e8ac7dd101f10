//===- MeasuredTopology.h - A profile's links as a topology -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_MEASUREDTOPOLOGY_H
#define PIPEWRIGHT_COST_MEASUREDTOPOLOGY_H

#include "pipewright/Cost/Profile.h"

namespace pipewright {

/// The table of a topology file (docs/Topology.md) with a device, called
/// \p device, for each rank that exchanged messages in \p profile, a node for
/// each of their hosts, and a link for each pair. Devices are numbered as hosts
/// first occur, and on a host as the ranks are.
llvm::json::Value makeTopologyTable(const Profile &profile,
                                    llvm::StringRef device);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_MEASUREDTOPOLOGY_H
