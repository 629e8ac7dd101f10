//===- DescribeRank.h - The runtime's descriptor of a rank, from the IR -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_DESCRIBERANK_H
#define PIPEWRIGHT_PACKAGE_DESCRIBERANK_H

#include "pipewright/Codegen/RankDescription.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"

namespace pipewright {

struct PlanSummary;

/// Everything that the runtime has to know of \p rank: what lies where in its
/// arena, its tasks and what they are bound to, its channels. Requires the
/// phase Program; \p plan is the summary of \p module.
RankDescription describeRank(mlir::ModuleOp module, int64_t rank,
                             const PlanSummary &plan,
                             const std::array<uint8_t, 32> &planHash);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_DESCRIBERANK_H
