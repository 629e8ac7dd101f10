//===- KernelGroups.cpp - Ops that make one kernel
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

std::optional<SmallVector<Combiner>> cuda::getCombiners(linalg::GenericOp op) {
  SmallVector<Combiner> combiners;
  for (unsigned result = 0; result < op.getNumDpsInits(); ++result) {
    SmallVector<Operation *> chain;
    Value contribution =
        matchReduction(op.getRegionOutputArgs(), result, chain);
    if (!contribution || chain.size() != 1)
      return std::nullopt;
    Type type = contribution.getType();
    std::optional<TypedAttr> neutral = arith::getNeutralElement(chain[0]);
    if (!neutral || !(type.isF32() || type.isInteger(32)))
      return std::nullopt;
    combiners.push_back({chain[0], contribution, *neutral});
  }
  return combiners;
}

/// The number of outer loops with \p rows iterations in all, none if there is
/// no such number.
static std::optional<int64_t> countRowLoops(ArrayRef<int64_t> extents,
                                            int64_t rows) {
  int64_t product = 1, count = 0;
  for (int64_t extent : extents) {
    if (product == rows)
      break;
    product *= extent;
    ++count;
  }
  return product == rows ? std::optional<int64_t>(count) : std::nullopt;
}

/// \p op in \p space, or none if it has no place there.
static std::optional<KernelOp> findPlace(linalg::GenericOp op,
                                         KernelSpace space) {
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  int64_t parallel = op.getNumParallelLoops();
  if (llvm::is_contained(ArrayRef(iterators).take_front(parallel),
                         IteratorType::reduction))
    return std::nullopt;
  KernelOp result{op, OpForm::Element, op.getStaticLoopRanges(), {}, {}};
  ArrayRef<int64_t> extents = result.extents;
  int64_t outer = ShapedType::getNumElements(extents.take_front(parallel));
  if (op.getNumReductionLoops() > 0) {
    std::optional<SmallVector<Combiner>> combiners = getCombiners(op);
    if (outer != space.rows || !combiners ||
        ShapedType::getNumElements(extents) != space.getNumElements())
      return std::nullopt;
    result.form = OpForm::Reduction;
    result.combiners = *combiners;
    result.rowLoops = parallel;
    return result;
  }
  if (outer == space.getNumElements()) {
    result.rowLoops = countRowLoops(extents, space.rows);
    return result;
  }
  if (outer != space.rows)
    return std::nullopt;
  result.form = OpForm::Row;
  result.rowLoops = extents.size();
  return result;
}

/// The number of outer loops whose indices, in order, are where \p map points
/// to; none if it points elsewhere. Axes of extent 1 have no index.
static std::optional<unsigned> countLeadingLoops(AffineMap map,
                                                 MemRefType type) {
  unsigned count = 0;
  for (auto [expr, extent] :
       llvm::zip_equal(map.getResults(), type.getShape())) {
    if (isa<AffineConstantExpr>(expr) && extent == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || dim.getPosition() != count)
      return std::nullopt;
    ++count;
  }
  return count;
}

Access KernelOp::getAccess(OpOperand &operand) const {
  linalg::GenericOp generic = op;
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  Access access{operand.get(), map, Place::Other, getMemory(operand.get()),
                generic};
  std::optional<unsigned> loops =
      countLeadingLoops(map, cast<MemRefType>(operand.get().getType()));
  if (!loops || !access.memory.isContiguous)
    return access;
  if (form != OpForm::Row && *loops == extents.size())
    access.place = Place::Element;
  else if (rowLoops && *loops == *rowLoops)
    access.place = Place::Row;
  return access;
}

bool KernelOp::readsInit(OpOperand &init) const {
  linalg::GenericOp generic = op;
  return form == OpForm::Reduction ||
         generic.payloadUsesValueFromOperand(&init);
}

bool Access::isSame(const Access &other) const {
  // An op that reads and writes a part of a buffer.
  if (op == other.op && buffer == other.buffer && map == other.map)
    return true;
  return place != Place::Other && place == other.place &&
         memory.root == other.memory.root &&
         memory.offset == other.memory.offset &&
         memory.bytes == other.memory.bytes &&
         getElementTypeOrSelf(buffer.getType()) ==
             getElementTypeOrSelf(other.buffer.getType());
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// What \p kernelOp reads.
static SmallVector<Access> getReads(const KernelOp &kernelOp) {
  linalg::GenericOp op = kernelOp.op;
  SmallVector<Access> reads;
  for (OpOperand *operand : op.getDpsInputOperands())
    if (isa<MemRefType>(operand->get().getType()))
      reads.push_back(kernelOp.getAccess(*operand));
  for (OpOperand &init : op.getDpsInitsMutable())
    if (kernelOp.readsInit(init))
      reads.push_back(kernelOp.getAccess(init));
  op.getBody()->walk([&](memref::LoadOp load) {
    Value buffer = load.getMemRef();
    reads.push_back({buffer, AffineMap(), Place::Other, getMemory(buffer), op});
  });
  return reads;
}

/// Whether \p access goes with \p others, of which one of the two writes.
static bool isSafe(const Access &access, ArrayRef<Access> others) {
  return llvm::all_of(others, [&](const Access &other) {
    return !mayOverlap(access.memory, other.memory) || access.isSame(other);
  });
}

bool KernelGroup::add(linalg::GenericOp op) {
  std::optional<KernelOp> kernelOp = findPlace(op, space);
  if (!kernelOp)
    return false;
  SmallVector<Access> newReads = ::getReads(*kernelOp);
  SmallVector<Access> newWrites;
  for (OpOperand &init : op.getDpsInitsMutable())
    newWrites.push_back(kernelOp->getAccess(init));
  for (const Access &write : newWrites)
    if ((kernelOp->form != OpForm::Element && write.place != Place::Row) ||
        !isSafe(write, reads) || !isSafe(write, writes) ||
        !isSafe(write, newReads))
      return false;
  for (const Access &read : newReads)
    if (!isSafe(read, writes))
      return false;
  ops.push_back(*kernelOp);
  llvm::append_range(reads, newReads);
  llvm::append_range(writes, newWrites);
  return true;
}

bool KernelGroup::isElementwise() const {
  return space.rows == 1 && llvm::all_of(ops, [](const KernelOp &kernelOp) {
           return kernelOp.form == OpForm::Element;
         });
}

/// The largest power of two that divides \p value.
static int64_t getPowerOfTwo(int64_t value) { return value & -value; }

int64_t KernelGroup::getVectorLength() const {
  // Two accesses for a chunk of one buffer would leave gaps between what the
  // threads of a warp touch at once.
  unsigned bits = 16;
  for (ArrayRef<Access> accesses : {getReads(), getWrites()})
    for (const Access &access : accesses)
      if (access.place == Place::Element)
        bits = std::max(bits, getElementTypeOrSelf(access.buffer.getType())
                                  .getIntOrFloatBitWidth());
  int64_t length = std::max<int64_t>(1, 128 / bits);
  for (const KernelOp &kernelOp : ops)
    if (kernelOp.form != OpForm::Row && kernelOp.extents.size() > 1)
      length = std::min(length, getPowerOfTwo(kernelOp.extents.back()));
  // Elements that are left over have threads of their own; rows have none.
  return isElementwise() ? length
                         : std::min(length, getPowerOfTwo(space.columns));
}

int64_t KernelGroup::getNumElementBuffers() const {
  SmallVector<Access> distinct;
  for (ArrayRef<Access> accesses : {getReads(), getWrites()})
    for (const Access &access : accesses)
      if (access.place == Place::Element &&
          llvm::none_of(distinct, [&](const Access &other) {
            return access.isSame(other);
          }))
        distinct.push_back(access);
  return distinct.size();
}

bool KernelGroup::isUsedAfter(Operation *user) const {
  Operation *first = linalg::GenericOp(ops.front().op);
  Operation *last = first->getBlock()->findAncestorOpInBlock(*user);
  return !last->isBeforeInBlock(first) &&
         llvm::none_of(ops, [&](const KernelOp &kernelOp) {
           linalg::GenericOp op = kernelOp.op;
           return op == last;
         });
}

bool KernelGroup::isTemporary(Value buffer) const {
  SmallVector<Value> aliases = {getWholeBuffer(buffer)};
  if (!aliases.front().getDefiningOp<memref::ViewOp>() &&
      !aliases.front().getDefiningOp<memref::AllocOp>())
    return false;
  while (!aliases.empty()) {
    for (Operation *user : aliases.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        aliases.push_back(user->getResult(0));
      else if (isUsedAfter(user))
        return false;
    }
  }
  return true;
}

/// The loop whose iterations touch elements of \p operand that follow each
/// other, if the innermost is not the one, but touches others.
static std::optional<int64_t> getCrossedLoop(const KernelOp &kernelOp,
                                             OpOperand &operand) {
  // Shorter lines leave most of a square empty.
  constexpr int64_t minExtent = 8;
  linalg::GenericOp op = kernelOp.op;
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type || !map.isProjectedPermutation() || map.getNumResults() < 2 ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return std::nullopt;
  int64_t innermost = map.getNumDims() - 1;
  int64_t loop = map.getDimPosition(map.getNumResults() - 1);
  if (loop == innermost || !map.isFunctionOfDim(innermost) ||
      kernelOp.extents[loop] < minExtent ||
      kernelOp.extents[innermost] < minExtent)
    return std::nullopt;
  return loop;
}

SmallVector<Crossing> cuda::findCrossings(const KernelGroup &group) {
  // As many squares as shared memory is sure to have room for.
  constexpr size_t maxCrossings = 4;
  SmallVector<Crossing> crossings;
  for (const KernelOp &kernelOp : group.getOps()) {
    linalg::GenericOp op = kernelOp.op;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      std::optional<int64_t> loop = getCrossedLoop(kernelOp, *operand);
      bool fits = loop && crossings.size() < maxCrossings &&
                  (crossings.empty() ||
                   (crossings.front().loop == *loop &&
                    crossings.front().kernelOp->extents == kernelOp.extents));
      if (fits)
        crossings.push_back({&kernelOp, operand, *loop});
    }
  }
  return crossings;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// The space of an op that reduces rows of its operands, or none.
static std::optional<KernelSpace> getRowSpace(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0)
    return std::nullopt;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t rows = ShapedType::getNumElements(
      ArrayRef(extents).take_front(op.getNumParallelLoops()));
  int64_t elements = ShapedType::getNumElements(extents);
  if (elements == 0)
    return std::nullopt;
  KernelSpace space{rows, elements / rows};
  KernelGroup group(space);
  // A product of matrices has no operand with all elements of the space.
  if (!group.add(op) || group.getNumElementBuffers() == 0)
    return std::nullopt;
  return space;
}

/// The group of the ops [\p first, \p last) in \p space; none if they make
/// none.
static std::optional<KernelGroup> tryGroup(ArrayRef<linalg::GenericOp> ops,
                                           KernelSpace space) {
  KernelGroup group(space);
  for (linalg::GenericOp op : ops)
    if (!group.add(op))
      return std::nullopt;
  return group;
}

/// Groups elementwise ops over equally many elements; other ops are single.
static void planElements(ArrayRef<linalg::GenericOp> ops,
                         std::vector<KernelPlan> &plans) {
  for (linalg::GenericOp op : ops) {
    if (!plans.empty() && plans.back().group.getSpace().rows == 1 &&
        !plans.back().single && op.getNumReductionLoops() == 0) {
      KernelSpace space = plans.back().group.getSpace();
      SmallVector<int64_t> extents = op.getStaticLoopRanges();
      if (ShapedType::getNumElements(extents) == space.columns &&
          plans.back().group.add(op))
        continue;
    }
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    KernelGroup group({1, ShapedType::getNumElements(extents)});
    bool isSingle = op.getNumReductionLoops() > 0 || !group.add(op);
    plans.push_back({group, isSingle ? op : linalg::GenericOp()});
  }
}

std::vector<KernelPlan> cuda::planKernels(ArrayRef<linalg::GenericOp> ops) {
  std::vector<KernelPlan> plans;
  while (!ops.empty()) {
    const auto *reduction = llvm::find_if(
        ops, [](linalg::GenericOp op) { return getRowSpace(op).has_value(); });
    size_t index = reduction - ops.begin();
    if (index == ops.size()) {
      planElements(ops, plans);
      break;
    }
    // What comes before the rows are reduced joins as far back as it can.
    KernelSpace space = *getRowSpace(*reduction);
    size_t first = index;
    while (first > 0 &&
           tryGroup(ops.slice(first - 1, index + 2 - first), space))
      --first;
    KernelGroup group = *tryGroup(ops.slice(first, index + 1 - first), space);
    size_t end = index + 1;
    while (end < ops.size() && group.add(ops[end]))
      ++end;
    planElements(ops.take_front(first), plans);
    plans.push_back({group, {}});
    ops = ops.drop_front(end);
  }
  return plans;
}
