//===- MemoryTimeline.h - Pictures of memory over a step --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_PACKAGE_MEMORYTIMELINE_H
#define PIPEWRIGHT_LIB_PACKAGE_MEMORYTIMELINE_H

#include "pipewright/Package/PlanSummary.h"

#include "llvm/Support/raw_ostream.h"

namespace pipewright {

/// For each rank a chart of the bytes in use during each action of its step,
/// its peak marked, and what is in memory then. All charts have one scale.
void writeMemoryTimelines(llvm::raw_ostream &html, const PlanSummary &plan);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_PACKAGE_MEMORYTIMELINE_H
