//===- KernelPlans.cpp - Which ops become which kernel
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlans.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

/// The group of \p ops in \p space; none if they make none.
static std::optional<KernelGroup> makeGroup(ArrayRef<linalg::GenericOp> ops,
                                            KernelSpace space) {
  KernelGroup group(space);
  for (linalg::GenericOp op : ops)
    if (!group.add(op))
      return std::nullopt;
  return group;
}

/// Whether \p group becomes better by \p op, with which it is \p next: by one
/// that shares memory, or a small one.
static bool isBetterWith(linalg::GenericOp op, const KernelGroup &group,
                         const KernelGroup &next) {
  return group.sharesMemory(op) || fitsRegisters(next);
}

/// The first of \p ops that reads anything, and what before it only fills
/// buffers.
static ArrayRef<linalg::GenericOp>
takeWithFills(ArrayRef<linalg::GenericOp> ops) {
  size_t count = 1;
  while (count < ops.size() && isFill(ops[count - 1]))
    ++count;
  return ops.take_front(count);
}

/// Adds to \p group whatever of \p ops, which follow it, fits: all that comes
/// right after it, and later what shares memory with it. Returns the rest.
static SmallVector<linalg::GenericOp>
extendGroup(KernelGroup &group, ArrayRef<linalg::GenericOp> ops) {
  SmallVector<linalg::GenericOp> rest;
  while (!ops.empty()) {
    ArrayRef<linalg::GenericOp> unit = takeWithFills(ops);
    ops = ops.drop_front(unit.size());
    KernelGroup next = group;
    bool fits = llvm::all_of(unit, [&](linalg::GenericOp op) {
      return mayPrecede(op, rest) && next.add(op);
    });
    if (fits && isBetterWith(unit.back(), group, next) &&
        (rest.empty() || group.sharesMemory(unit.back())))
      group = next;
    else
      llvm::append_range(rest, unit);
  }
  return rest;
}

/// Whether \p fill gives all elements of the result of \p op, a reduction, one
/// value.
static bool fillsResult(linalg::GenericOp fill, linalg::GenericOp op) {
  if (!isFill(fill) || fill.getNumReductionLoops() > 0 ||
      fill.getNumDpsInits() != 1 || op.getNumDpsInits() != 1 ||
      fill.hasIndexSemantics())
    return false;
  Memory filled = getMemory(fill.getDpsInits()[0]);
  Memory result = getMemory(op.getDpsInits()[0]);
  return filled.isContiguous && filled.root == result.root &&
         filled.offset == result.offset && filled.bytes == result.bytes;
}

/// Groups elementwise ops over equally many elements; other ops are single.
static void planElements(ArrayRef<linalg::GenericOp> ops,
                         std::vector<KernelPlan> &plans) {
  for (size_t index = 0; index < ops.size(); ++index) {
    linalg::GenericOp op = ops[index];
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    int64_t iterations = ShapedType::getNumElements(extents);
    linalg::GenericOp next =
        index + 1 < ops.size() ? ops[index + 1] : linalg::GenericOp();
    if (next && next.getNumReductionLoops() > 0 && fillsResult(op, next)) {
      plans.push_back({KernelGroup({1, iterations}), next, op});
      ++index;
      continue;
    }
    if (!plans.empty() && plans.back().group.getSpace().rows == 1 &&
        !plans.back().single && op.getNumReductionLoops() == 0 &&
        iterations == plans.back().group.getSpace().columns &&
        plans.back().group.add(op))
      continue;
    KernelGroup group({1, iterations});
    bool isSingle = op.getNumReductionLoops() > 0 || !group.add(op);
    plans.push_back({group, isSingle ? op : linalg::GenericOp()});
  }
}

std::vector<KernelPlan> cuda::planKernels(ArrayRef<linalg::GenericOp> ops) {
  std::vector<KernelPlan> plans;
  SmallVector<linalg::GenericOp> left(ops);
  while (!left.empty()) {
    auto *reduction = llvm::find_if(left, [](linalg::GenericOp op) {
      return getReducedSpace(op).has_value();
    });
    size_t index = reduction - left.begin();
    if (index == left.size()) {
      planElements(left, plans);
      break;
    }
    // What comes before the reduction joins as far back as it can.
    KernelSpace space = *getReducedSpace(*reduction);
    ArrayRef<linalg::GenericOp> before = ArrayRef(left).take_front(index + 1);
    size_t first = index;
    KernelGroup group = *makeGroup(before.drop_front(first), space);
    while (first > 0) {
      auto next = makeGroup(before.drop_front(first - 1), space);
      if (!next || !isBetterWith(before[first - 1], group, *next))
        break;
      group = *next;
      --first;
    }
    planElements(before.take_front(first), plans);
    left = extendGroup(group, ArrayRef(left).drop_front(index + 1));
    plans.push_back({group, {}});
  }
  return plans;
}
