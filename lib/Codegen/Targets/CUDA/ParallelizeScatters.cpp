//===- ParallelizeScatters.cpp - Scattered sums in any order of rows
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A scattered sum adds each item to the line of a table that the item's key
// names. Items with the same key meet there, so that they are sorted by their
// keys first; those with the same key stay in order. Threads then have items
// that follow each other, and add up those of each key. A line whose items are
// all one thread's is written at once. What threads have of other lines is
// kept, and added by the thread with the first item of the line.
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "LoopNest.h"
#include "Overlaps.h"
#include "Scatter.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

namespace pipewright {
#define GEN_PASS_DEF_PARALLELIZESCATTERS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;
using arith::CmpIPredicate;
using utils::IteratorType;

/// So few items one thread adds faster than several find out who does.
static constexpr int64_t minItems = 32;
/// How many items a thread has.
static constexpr int64_t itemsPerThread = 32;

static int64_t count(ArrayRef<scf::ForOp> loops) {
  return ShapedType::getNumElements(getExtents(loops));
}

/// Makes the loops of \p scatter, whose iterations do not meet, parallel.
static void makeParallel(const Scatter &scatter) {
  scf::ForOp outermost = scatter.outermost;
  ImplicitLocOpBuilder builder(outermost.getLoc(), outermost);
  SmallVector<scf::ForOp> nest = getNest(outermost);
  SmallVector<Value> upper, lower(nest.size(), createIndex(builder, 0)),
      step(nest.size(), createIndex(builder, 1));
  for (scf::ForOp loop : nest)
    upper.push_back(loop.getUpperBound());
  auto loops = scf::ParallelOp::create(builder, lower, upper, step);
  builder.setInsertionPointToStart(loops.getBody());
  IRMapping mapping;
  for (auto [loop, index] : llvm::zip_equal(nest, loops.getInductionVars()))
    mapping.map(loop.getInductionVar(), index);
  for (Operation &op : nest.back().getBody()->without_terminator())
    builder.clone(op, mapping);
  outermost.erase();
}

namespace {
class ScatterKernels {
public:
  explicit ScatterKernels(Scatter scatter)
      : scatter(scatter),
        builder(scatter.outermost.getLoc(), scatter.outermost),
        items(count(scatter.items)), columns(count(scatter.columns)),
        threads(llvm::divideCeil(items, itemsPerThread)) {}

  void build() {
    Value keys = allocate({items}, builder.getI32Type());
    loopOver({items}, [&](ValueRange item) {
      Value key = computeHere(scatter.key, item[0], /*column=*/Value());
      store(toNumber(key), keys, item[0]);
    });
    sort(keys);
    if (threads > 1)
      partials = allocate({2, threads, columns}, scatter.update.getType());
    loopOver({threads, columns},
             [&](ValueRange place) { addOwnItems(place[0], place[1]); });
    if (threads > 1)
      loopOver({threads - 1, columns},
               [&](ValueRange place) { addPartials(place[0], place[1]); });
    scatter.outermost.erase();
  }

private:
  Value constant(int64_t value) { return createIndex(builder, value); }

  Value allocate(ArrayRef<int64_t> shape, Type type) {
    return memref::AllocOp::create(builder, MemRefType::get(shape, type));
  }
  Value load(Value buffer, ValueRange indices) {
    return memref::LoadOp::create(builder, buffer, indices);
  }
  void store(Value value, Value buffer, ValueRange indices) {
    memref::StoreOp::create(builder, value, buffer, indices);
  }
  Value compare(CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, predicate, lhs, rhs);
  }
  Value toNumber(Value index) {
    return arith::IndexCastOp::create(builder, builder.getI32Type(), index);
  }
  Value toIndex(Value number) {
    return arith::IndexCastOp::create(builder, builder.getIndexType(), number);
  }
  Value add(Value index, int64_t offset) {
    return arith::AddIOp::create(builder, index, constant(offset));
  }
  Value select(Value condition, Value then, Value otherwise) {
    return arith::SelectOp::create(builder, condition, then, otherwise);
  }

  /// Runs \p body once for each iteration, in any order.
  void loopOver(ArrayRef<int64_t> extents,
                llvm::function_ref<void(ValueRange)> body) {
    SmallVector<Value> lower(extents.size(), constant(0)),
        step(extents.size(), constant(1)), upper;
    for (int64_t extent : extents)
      upper.push_back(constant(extent));
    auto loops = scf::ParallelOp::create(builder, lower, upper, step);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loops.getBody());
    body(loops.getInductionVars());
  }

  void branch(Value condition, llvm::function_ref<void()> then) {
    auto op = scf::IfOp::create(builder, condition);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(op.thenBlock()->getTerminator());
    then();
  }

  /// Has copies of what computes \p value compute that of \p item, and of
  /// \p column unless it is null.
  Value computeHere(Value value, Value item, Value column) {
    IRMapping mapping;
    auto mapLoops = [&](ArrayRef<scf::ForOp> loops, Value number) {
      SmallVector<Value> indices =
          delinearize(builder, number, getExtents(loops));
      for (auto [loop, index] : llvm::zip_equal(loops, indices)) {
        scf::ForOp op = loop;
        mapping.map(op.getInductionVar(), index);
      }
    };
    mapLoops(scatter.items, item);
    if (column)
      mapLoops(scatter.columns, column);
    for (Operation *op : getSlice(value, scatter.store->getBlock()))
      builder.clone(*op, mapping);
    return mapping.lookupOrDefault(value);
  }

  /// Makes `order`, the items by their keys, and `sorted`, their keys.
  void sort(Value keys) {
    Value ranks = allocate({items}, builder.getI32Type());
    Value zero =
        arith::ConstantOp::create(builder, builder.getI32IntegerAttr(0));
    linalg::FillOp::create(builder, zero, ranks);
    countEarlier(keys, ranks);
    order = allocate({items}, builder.getI32Type());
    sorted = allocate({items}, builder.getI32Type());
    loopOver({items}, [&](ValueRange item) {
      Value rank = toIndex(load(ranks, item));
      store(toNumber(item[0]), order, rank);
      store(load(keys, item), sorted, rank);
    });
  }

  /// Adds to the rank of each item how many items come before it.
  void countEarlier(Value keys, Value ranks) {
    AffineMap item = AffineMap::get(2, 0, builder.getAffineDimExpr(0));
    AffineMap other = AffineMap::get(2, 0, builder.getAffineDimExpr(1));
    linalg::GenericOp::create(
        builder, TypeRange(), ValueRange{keys, keys}, ranks,
        {item, other, item}, {IteratorType::parallel, IteratorType::reduction},
        [&](OpBuilder &nested, Location loc, ValueRange arguments) {
          ImplicitLocOpBuilder inner(loc, nested);
          auto compareHere = [&](CmpIPredicate predicate, Value lhs,
                                 Value rhs) -> Value {
            return arith::CmpIOp::create(inner, predicate, lhs, rhs);
          };
          Value isLess =
              compareHere(CmpIPredicate::slt, arguments[1], arguments[0]);
          Value isEqual =
              compareHere(CmpIPredicate::eq, arguments[1], arguments[0]);
          Value isEarlier =
              compareHere(CmpIPredicate::ult, linalg::IndexOp::create(inner, 1),
                          linalg::IndexOp::create(inner, 0));
          Value counts = arith::OrIOp::create(
              inner, isLess, arith::AndIOp::create(inner, isEqual, isEarlier));
          Value one = arith::ExtUIOp::create(inner, inner.getI32Type(), counts);
          Value sum = arith::AddIOp::create(inner, arguments[2], one);
          linalg::YieldOp::create(inner, sum);
        });
  }

  Value sum(Value lhs, Value rhs) {
    IRMapping mapping;
    for (Value operand : scatter.sum->getOperands())
      mapping.map(operand, operand == scatter.update ? rhs : lhs);
    return builder.clone(*scatter.sum, mapping)->getResult(0);
  }

  /// Adds \p value to the element \p column of the line of \p key.
  void addToTable(Value key, Value column, Value value) {
    SmallVector<Value> numbers =
        delinearize(builder, column, getExtents(scatter.columns));
    SmallVector<Value> place;
    for (Value index : scatter.store.getIndices()) {
      const auto *loop =
          llvm::find_if(scatter.columns, [&](scf::ForOp candidate) {
            return candidate.getInductionVar() == index;
          });
      if (index == scatter.key)
        place.push_back(toIndex(key));
      else if (loop != scatter.columns.end())
        place.push_back(numbers[loop - scatter.columns.begin()]);
      else
        place.push_back(index);
    }
    Value table = scatter.store.getMemRef();
    store(sum(load(table, place), value), table, place);
  }

  /// Whether the line of the item at \p place, the first of a thread, has items
  /// of the thread before.
  Value isContinued(Value place, Value key) {
    Value isFirst = compare(CmpIPredicate::eq, place, constant(0));
    Value before = add(select(isFirst, constant(1), place), -1);
    Value isSame = compare(CmpIPredicate::eq, load(sorted, before), key);
    return select(isFirst, constantBool(false), isSame);
  }

  Value constantBool(bool value) {
    return arith::ConstantOp::create(builder, builder.getBoolAttr(value));
  }

  /// Whether the item at \p place has the key \p key; false past the end.
  std::pair<Value, Value> loadNext(Value place, Value key) {
    Value exists = isBelow(builder, place, items);
    Value next = load(sorted, select(exists, place, constant(items - 1)));
    Value isSame = arith::AndIOp::create(builder, exists,
                                         compare(CmpIPredicate::eq, next, key));
    return {next, isSame};
  }

  /// Adds up the items of \p thread, line by line.
  void addOwnItems(Value thread, Value column) {
    Value first = multiplyAdd(builder, thread, itemsPerThread, Value());
    Value end = arith::MinUIOp::create(builder, add(first, itemsPerThread),
                                       constant(items));
    Value key = load(sorted, first);
    Value nothing = arith::ConstantOp::create(
        builder, builder.getZeroAttr(scatter.update.getType()));
    // The sum of the line so far, whether the thread has its first item, its
    // key, and whether the item is not its first.
    auto loop = scf::ForOp::create(
        builder, first, end, constant(1),
        ValueRange{nothing, isContinued(first, key), key, constantBool(false)});
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(loop.getBody());
    Value place = loop.getInductionVar();
    Value before = loop.getRegionIterArg(0),
          continued = loop.getRegionIterArg(1);
    key = loop.getRegionIterArg(2);
    Value isLater = loop.getRegionIterArg(3);
    Value item = toIndex(load(order, place));
    Value update = computeHere(scatter.update, item, column);
    Value total = select(isLater, sum(before, update), update);
    Value nextPlace = add(place, 1);
    auto [nextKey, goesOn] = loadNext(nextPlace, key);
    Value ends = arith::XOrIOp::create(builder, goesOn, constantBool(true));
    Value isOwn = arith::XOrIOp::create(builder, continued, constantBool(true));
    branch(arith::AndIOp::create(builder, ends, isOwn),
           [&] { addToTable(key, column, total); });
    if (threads > 1) {
      Value isLast = compare(CmpIPredicate::eq, nextPlace, end);
      // What is left for others to add, or to be added to.
      Value isPartial =
          select(continued, arith::OrIOp::create(builder, ends, isLast),
                 arith::AndIOp::create(builder, goesOn, isLast));
      branch(isPartial, [&] {
        Value kind = select(continued, constant(0), constant(1));
        store(total, partials, {kind, thread, column});
      });
    }
    Value stillContinued = arith::AndIOp::create(builder, continued, goesOn);
    scf::YieldOp::create(builder,
                         ValueRange{total, stillContinued, nextKey, goesOn});
  }

  /// Adds what several threads have of the last line of \p thread, if its first
  /// item is this thread's.
  void addPartials(Value thread, Value column) {
    Value end = add(multiplyAdd(builder, thread, itemsPerThread, Value()),
                    itemsPerThread);
    Value key = load(sorted, add(end, -1));
    Value goesOn = loadNext(end, key).second;
    Value begins = arith::XOrIOp::create(
        builder, isContinued(add(end, -itemsPerThread), key),
        constantBool(true));
    branch(arith::AndIOp::create(builder, goesOn, begins), [&] {
      Value own = load(partials, {constant(1), thread, column});
      addToTable(key, column, addFollowing(add(thread, 1), column, key, own));
    });
  }

  /// \p own and what \p thread and those after it have of the line of \p key.
  Value addFollowing(Value thread, Value column, Value key, Value own) {
    SmallVector<Value> initial = {thread, own};
    auto types = ValueRange(initial).getTypes();
    auto loop = scf::WhileOp::create(builder, types, initial);
    OpBuilder::InsertionGuard guard(builder);
    Block *before =
        builder.createBlock(&loop.getBefore(), {}, types,
                            SmallVector<Location>(2, builder.getLoc()));
    Value current = before->getArgument(0);
    Value total = sum(before->getArgument(1),
                      load(partials, {constant(0), current, column}));
    Value next = add(current, 1);
    Value goesOn =
        loadNext(multiplyAdd(builder, next, itemsPerThread, Value()), key)
            .second;
    scf::ConditionOp::create(builder, goesOn, ValueRange{next, total});
    Block *after =
        builder.createBlock(&loop.getAfter(), {}, types,
                            SmallVector<Location>(2, builder.getLoc()));
    scf::YieldOp::create(builder, after->getArguments());
    return loop.getResult(1);
  }

  Scatter scatter;
  ImplicitLocOpBuilder builder;
  int64_t items, columns, threads;
  /// By place in the order of keys: the item and its key.
  Value order, sorted;
  /// What threads have of lines that are not theirs alone: of the line of their
  /// first item, and of that of their last.
  Value partials;
};

struct ParallelizeScatters
    : pipewright::impl::ParallelizeScattersBase<ParallelizeScatters> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isDeclaration())
      return;
    for (auto loop : llvm::make_early_inc_range(
             function.getBody().front().getOps<scf::ForOp>())) {
      if (parallelizeOverlaps(loop))
        continue;
      std::optional<Scatter> scatter = matchScatter(loop);
      if (!scatter)
        continue;
      inlineUpdate(*scatter);
      if (hasDistinctKeys(*scatter))
        makeParallel(*scatter);
      else if (count(scatter->items) > minItems && count(scatter->columns) > 0)
        ScatterKernels(*scatter).build();
    }
  }
};
} // namespace
