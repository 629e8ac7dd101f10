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
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;
using utils::IteratorType;

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Whether \p value, of the body of \p op, depends on the innermost loop.
static bool isOfInnermostLoop(Value value, linalg::GenericOp op) {
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    Operation *source = next.getDefiningOp();
    if (!source) {
      auto argument = cast<BlockArgument>(next);
      if (argument.getOwner() == op.getBody() &&
          op.getMatchingIndexingMap(op.getMatchingOpOperand(argument))
              .isFunctionOfDim(op.getNumLoops() - 1))
        return true;
      continue;
    }
    auto index = dyn_cast<linalg::IndexOp>(source);
    if (index && index.getDim() + 1 == op.getNumLoops())
      return true;
    if (source->getBlock() == op.getBody())
      llvm::append_range(pending, source->getOperands());
  }
  return false;
}

bool cuda::loadsLine(memref::LoadOp load, linalg::GenericOp op) {
  MemRefType type = load.getMemRefType();
  if (type.getRank() == 0 || !type.getLayout().isIdentity() ||
      type.getElementTypeBitWidth() < 8 ||
      getMemory(load.getMemRef()).root.getDefiningOp<memref::GetGlobalOp>())
    return false;
  auto index = load.getIndices().back().getDefiningOp<linalg::IndexOp>();
  return index && index.getDim() + 1 == op.getNumLoops() &&
         llvm::none_of(load.getIndices().drop_back(), [&](Value other) {
           return isOfInnermostLoop(other, op);
         });
}

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

namespace {
/// The loops of a reduction, if those that are reduced follow each other.
struct ReducedLoops {
  /// Which are reduced.
  int64_t first, end;
  /// How many iterations those before, the reduced ones and those after have.
  int64_t before, reduced, after;
  bool isOverRows;

  KernelSpace getSpace() const {
    return isOverRows ? KernelSpace{before * reduced, after, reduced}
                      : KernelSpace{before, reduced};
  }
};
} // namespace

static std::optional<ReducedLoops> getReducedLoops(linalg::GenericOp op) {
  SmallVector<IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  ReducedLoops loops;
  loops.first =
      llvm::find(iterators, IteratorType::reduction) - iterators.begin();
  loops.end = loops.first + op.getNumReductionLoops();
  ArrayRef<IteratorType> reduced =
      ArrayRef(iterators).slice(loops.first, op.getNumReductionLoops());
  if (reduced.empty() || llvm::is_contained(reduced, IteratorType::parallel))
    return std::nullopt;
  auto count = [&](int64_t first, int64_t end) {
    return ShapedType::getNumElements(
        ArrayRef(extents).slice(first, end - first));
  };
  loops.before = count(0, loops.first);
  loops.reduced = count(loops.first, loops.end);
  loops.after = count(loops.end, extents.size());
  loops.isOverRows = loops.end < static_cast<int64_t>(extents.size());
  return loops;
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

/// A reduction in \p space, or none if it has no place there.
static std::optional<KernelOp> findReduction(linalg::GenericOp op,
                                             KernelSpace space) {
  std::optional<ReducedLoops> loops = getReducedLoops(op);
  std::optional<SmallVector<Combiner>> combiners = getCombiners(op);
  if (!loops || !combiners)
    return std::nullopt;
  KernelSpace own = loops->getSpace();
  if (own.rows != space.rows || own.columns != space.columns ||
      own.reducedRows != space.reducedRows)
    return std::nullopt;
  KernelOp result(op, OpForm::Reduction);
  result.combiners = *combiners;
  result.rowLoops = own.reducedRows == 0 ? loops->first : loops->end;
  for (int64_t loop = 0; loop < op.getNumLoops(); ++loop)
    if (loop < loops->first || loop >= loops->end)
      result.resultLoops.push_back(loop);
  return result;
}

/// \p op in \p space, or none if it has no place there.
static std::optional<KernelOp> findPlace(linalg::GenericOp op,
                                         KernelSpace space) {
  if (op.getNumReductionLoops() > 0)
    return findReduction(op, space);
  KernelOp result(op, OpForm::Element);
  int64_t iterations = ShapedType::getNumElements(result.extents);
  if (iterations == space.getNumElements()) {
    result.rowLoops = countRowLoops(result.extents, space.rows);
    return result;
  }
  if (iterations != space.getNumResults())
    return std::nullopt;
  result.form = OpForm::Result;
  result.rowLoops = result.extents.size();
  return result;
}

/// Whether \p map points to the indices of \p loops, in order. Axes of extent 1
/// have no index.
static bool selects(AffineMap map, MemRefType type, ArrayRef<int64_t> loops) {
  for (auto [expr, extent] :
       llvm::zip_equal(map.getResults(), type.getShape())) {
    if (isa<AffineConstantExpr>(expr) && extent == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || loops.empty() || dim.getPosition() != loops.front())
      return false;
    loops = loops.drop_front();
  }
  return loops.empty();
}

Access KernelOp::getAccess(OpOperand &operand) const {
  linalg::GenericOp generic = op;
  AffineMap map = generic.getMatchingIndexingMap(&operand);
  auto type = cast<MemRefType>(operand.get().getType());
  Access access{operand.get(), map, Place::Other, getMemory(operand.get()),
                generic};
  if (!access.memory.isContiguous)
    return access;
  auto all = llvm::to_vector(llvm::seq<int64_t>(extents.size()));
  if (form != OpForm::Result && selects(map, type, all))
    access.place = Place::Element;
  else if (form == OpForm::Result && selects(map, type, all))
    access.place = Place::Result;
  else if (form == OpForm::Reduction &&
           (rowsAreResults || generic.isDpsInit(&operand)) &&
           selects(map, type, resultLoops))
    access.place = Place::Result;
  else if (form == OpForm::Element && rowsAreResults && rowLoops &&
           selects(map, type, ArrayRef(all).take_front(*rowLoops)))
    access.place = Place::Result;
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

/// The threads of a block exchange a chunk for each result that columns are
/// reduced to: shared memory is sure to have room for so many.
static constexpr size_t maxColumnResults = 4;

static bool hasRoom(ArrayRef<KernelOp> ops, const KernelOp &added) {
  size_t results = added.combiners.size();
  for (const KernelOp &kernelOp : ops)
    results += kernelOp.combiners.size();
  return results <= maxColumnResults;
}

bool KernelGroup::add(linalg::GenericOp op) {
  std::optional<KernelOp> kernelOp = findPlace(op, space);
  if (!kernelOp || (space.reducedRows > 0 && !hasRoom(ops, *kernelOp)))
    return false;
  kernelOp->rowsAreResults = space.reducedRows == 0;
  SmallVector<Access> newReads = ::getReads(*kernelOp);
  SmallVector<Access> newWrites;
  for (OpOperand &init : op.getDpsInitsMutable())
    newWrites.push_back(kernelOp->getAccess(init));
  for (const Access &write : newWrites)
    if ((kernelOp->form != OpForm::Element && write.place != Place::Result) ||
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

/// Whether each iteration has an element of its own where \p map, if there is
/// one, points to.
static bool hasAllLoops(AffineMap map) {
  return map && map.getNumDims() > 0 &&
         map.isProjectedPermutation(/*allowZeroInResults=*/true) &&
         llvm::all_of(llvm::seq<unsigned>(map.getNumDims()),
                      [&](unsigned dim) { return map.isFunctionOfDim(dim); });
}

/// The largest power of two that divides \p value.
static int64_t getPowerOfTwo(int64_t value) { return value & -value; }

int64_t KernelGroup::getVectorLength() const {
  // Two accesses for a chunk of one buffer would leave gaps between what the
  // threads of a warp touch at once.
  unsigned bits = 0;
  for (ArrayRef<Access> accesses : {getReads(), getWrites()})
    for (const Access &access : accesses)
      if (access.place != Place::Result && hasAllLoops(access.map) &&
          !isTemporary(access.buffer))
        bits = std::max(bits, getElementTypeOrSelf(access.buffer.getType())
                                  .getIntOrFloatBitWidth());
  for (const KernelOp &kernelOp : ops) {
    linalg::GenericOp op = kernelOp.op;
    for (auto load : op.getBody()->getOps<memref::LoadOp>())
      if (loadsLine(load, op))
        bits = std::max(bits, load.getMemRefType().getElementTypeBitWidth());
  }
  // Single loads of threads that follow each other are better close together.
  if (bits == 0)
    return 1;
  int64_t length = std::max<int64_t>(1, 128 / std::max(16u, bits));
  for (const KernelOp &kernelOp : ops)
    if (kernelOp.form != OpForm::Result && kernelOp.extents.size() > 1)
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

namespace {
/// The memory that an op touches.
struct Footprint {
  SmallVector<Memory> reads, writes;
};
} // namespace

static bool overlap(ArrayRef<Memory> lhs, ArrayRef<Memory> rhs) {
  return llvm::any_of(lhs, [&](const Memory &memory) {
    return llvm::any_of(
        rhs, [&](const Memory &other) { return mayOverlap(memory, other); });
  });
}

/// What \p op touches, loads before it included whose values it uses: kernels
/// do these themselves.
static Footprint getFootprint(linalg::GenericOp op) {
  Footprint footprint;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    footprint.writes.push_back(getMemory(init.get()));
    if (op.getNumReductionLoops() > 0 || op.payloadUsesValueFromOperand(&init))
      footprint.reads.push_back(getMemory(init.get()));
  }
  op.getBody()->walk([&](memref::LoadOp load) {
    footprint.reads.push_back(getMemory(load.getMemRef()));
  });
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(op.getRegion(), used);
  for (OpOperand *operand : op.getDpsInputOperands())
    used.insert(operand->get());
  SmallVector<Value> pending = used.takeVector();
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (isa<MemRefType>(value.getType()))
      footprint.reads.push_back(getMemory(value));
    else if (Operation *source = value.getDefiningOp())
      llvm::append_range(pending, source->getOperands());
  }
  return footprint;
}

bool KernelGroup::sharesMemory(linalg::GenericOp op) const {
  Footprint footprint = getFootprint(op);
  auto isTouched = [&](const Access &access) {
    return overlap(access.memory, footprint.reads) ||
           overlap(access.memory, footprint.writes);
  };
  return llvm::any_of(reads, isTouched) || llvm::any_of(writes, isTouched);
}

bool KernelGroup::isUsedAfter(Operation *user) const {
  Operation *first = linalg::GenericOp(ops.front().op);
  Operation *last = first->getBlock()->findAncestorOpInBlock(*user);
  // Another block may run before or after.
  if (!last)
    return true;
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

/// Whether \p op reads an operand of which each iteration has an element, that
/// of the innermost loop's next iteration after it. A product of matrices has
/// none.
static bool reducesOperand(linalg::GenericOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    AffineExpr innermost =
        getAffineDimExpr(op.getNumLoops() - 1, op.getContext());
    return isa<MemRefType>(operand->get().getType()) &&
           map.getNumResults() > 0 && map.getResults().back() == innermost &&
           hasAllLoops(map);
  });
}

std::optional<KernelSpace> cuda::getReducedSpace(linalg::GenericOp op) {
  std::optional<ReducedLoops> loops = getReducedLoops(op);
  if (!loops || !reducesOperand(op) ||
      loops->before * loops->reduced * loops->after == 0)
    return std::nullopt;
  KernelSpace space = loops->getSpace();
  KernelGroup group(space);
  return group.add(op) ? std::optional<KernelSpace>(space) : std::nullopt;
}

bool cuda::mayPrecede(linalg::GenericOp op,
                      ArrayRef<linalg::GenericOp> others) {
  Footprint own = getFootprint(op);
  return llvm::none_of(others, [&](linalg::GenericOp other) {
    Footprint there = getFootprint(other);
    return overlap(own.writes, there.reads) ||
           overlap(own.writes, there.writes) ||
           overlap(own.reads, there.writes);
  });
}

bool cuda::isFill(linalg::GenericOp op) {
  return getFootprint(op).reads.empty();
}
