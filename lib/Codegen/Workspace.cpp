//===- Workspace.cpp - Where short-lived buffers lie
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Workspace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace pipewright;

static bool overlap(const BufferLifetime &a, const BufferLifetime &b) {
  return a.first <= b.last && b.first <= a.last;
}

WorkspacePlan
pipewright::planWorkspace(llvm::ArrayRef<BufferLifetime> lifetimes) {
  auto order = llvm::to_vector(llvm::seq<size_t>(0, lifetimes.size()));
  // The largest first.
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::pair(-lifetimes[a].bytes, a) <
           std::pair(-lifetimes[b].bytes, b);
  });

  WorkspacePlan plan;
  plan.offsets.resize(lifetimes.size());
  // Those already placed, by ascending offset.
  llvm::SmallVector<size_t> placed;
  for (size_t buffer : order) {
    int64_t bytes = llvm::alignTo(lifetimes[buffer].bytes, workspaceAlignment);
    int64_t offset = 0;
    for (size_t other : placed) {
      if (!overlap(lifetimes[buffer], lifetimes[other]))
        continue;
      if (offset + bytes <= plan.offsets[other])
        break;
      int64_t end = plan.offsets[other] +
                    llvm::alignTo(lifetimes[other].bytes, workspaceAlignment);
      offset = std::max(offset, end);
    }
    plan.offsets[buffer] = offset;
    plan.bytes = std::max(plan.bytes, offset + bytes);
    auto *position = llvm::find_if(
        placed, [&](size_t other) { return plan.offsets[other] > offset; });
    placed.insert(position, buffer);
  }
  return plan;
}
