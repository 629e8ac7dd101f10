//===- Scatter.cpp - Loops that add to lines of a table
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scatter.h"

#include "InlineLoad.h"
#include "LoopNest.h"
#include "Memory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<int64_t> cuda::getExtents(ArrayRef<scf::ForOp> loops) {
  return llvm::map_to_vector(loops, [](scf::ForOp loop) {
    return *getConstantIntValue(loop.getUpperBound());
  });
}

SmallVector<Operation *> cuda::getSlice(Value value, Block *body) {
  llvm::SetVector<Operation *> slice;
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == body && slice.insert(op))
      llvm::append_range(pending, op->getOperands());
  }
  SmallVector<Operation *> ops = slice.takeVector();
  llvm::sort(ops, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return ops;
}

bool cuda::matchSum(Block *body, Scatter &scatter) {
  scatter.store =
      dyn_cast_or_null<memref::StoreOp>(body->getTerminator()->getPrevNode());
  if (!scatter.store)
    return false;
  scatter.sum = scatter.store.getValue().getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(scatter.sum))
    return false;
  for (int operand : {0, 1}) {
    auto load =
        scatter.sum->getOperand(operand).getDefiningOp<memref::LoadOp>();
    if (!load || load.getMemRef() != scatter.store.getMemRef() ||
        !llvm::equal(load.getIndices(), scatter.store.getIndices()))
      continue;
    scatter.load = load;
    scatter.update = scatter.sum->getOperand(1 - operand);
  }
  if (!scatter.load || !scatter.load->hasOneUse() || !scatter.sum->hasOneUse())
    return false;
  Memory table = getMemory(scatter.store.getMemRef());
  return llvm::all_of(*body, [&](Operation &op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load)
      return load == scatter.load ||
             !mayOverlap(table, getMemory(load.getMemRef()));
    return op.getNumRegions() == 0 && (isPure(&op) || &op == scatter.store ||
                                       op.hasTrait<OpTrait::IsTerminator>());
  });
}

/// Finds the loops over columns, which are part of the place, and the key.
static bool matchPlace(ArrayRef<scf::ForOp> nest, Scatter &scatter) {
  auto findLoop = [&](Value number) {
    return llvm::find_if(nest, [&](scf::ForOp loop) {
      return loop.getInductionVar() == number;
    });
  };
  for (Value index : scatter.store.getIndices()) {
    if (getConstantIntValue(index))
      continue;
    const auto *loop = findLoop(index);
    if (loop != nest.end()) {
      scatter.columns.push_back(*loop);
      continue;
    }
    if (scatter.key)
      return false;
    scatter.key = index;
  }
  for (scf::ForOp loop : nest)
    if (!llvm::is_contained(scatter.columns, loop))
      scatter.items.push_back(loop);
  if (!scatter.key || scatter.items.empty())
    return false;
  Block *body = scatter.store->getBlock();
  return llvm::none_of(getSlice(scatter.key, body), [&](Operation *op) {
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      return llvm::any_of(scatter.columns, [&](scf::ForOp loop) {
        return loop.getInductionVar() == operand;
      });
    });
  });
}

std::optional<Scatter> cuda::matchScatter(scf::ForOp outermost) {
  SmallVector<scf::ForOp> nest = getNest(outermost);
  Scatter scatter;
  scatter.outermost = outermost;
  if (nest.empty() || !matchSum(nest.back().getBody(), scatter) ||
      !matchPlace(nest, scatter))
    return std::nullopt;
  return scatter;
}

//===----------------------------------------------------------------------===//
// Constant keys
//===----------------------------------------------------------------------===//

/// The value that the ops of \p slice, the last of which is \p key's, compute
/// from that of \p load; none if it is not known.
static std::optional<int64_t> evaluate(ArrayRef<Operation *> slice,
                                       memref::LoadOp load, Attribute loaded,
                                       Value key) {
  DenseMap<Value, Attribute> known = {{load.getResult(), loaded}};
  for (Operation *op : slice) {
    if (op == load)
      continue;
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands()) {
      Attribute value = known.lookup(operand);
      if (!value)
        matchPattern(operand, m_Constant(&value));
      operands.push_back(value);
    }
    SmallVector<OpFoldResult> results;
    if (failed(op->fold(operands, results)) || results.size() != 1)
      return std::nullopt;
    auto value = dyn_cast<Attribute>(results[0]);
    known[op->getResult(0)] =
        value ? value : known.lookup(cast<Value>(results[0]));
  }
  auto number = dyn_cast_or_null<IntegerAttr>(known.lookup(key));
  return number ? std::optional<int64_t>(number.getInt()) : std::nullopt;
}

/// The numbers that \p load reads, if they are constants and all loops over
/// items have a part in which of them it is.
static DenseIntElementsAttr getConstants(memref::LoadOp load,
                                         const Scatter &scatter) {
  auto constant = load.getMemRef().getDefiningOp<memref::GetGlobalOp>();
  for (scf::ForOp loop : scatter.items)
    if (*getConstantIntValue(loop.getUpperBound()) > 1 &&
        !llvm::is_contained(load.getIndices(), loop.getInductionVar()))
      return {};
  if (!constant)
    return {};
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      constant, constant.getNameAttr());
  if (!global || !global.getConstant() || !global.getInitialValue())
    return {};
  return dyn_cast<DenseIntElementsAttr>(*global.getInitialValue());
}

bool cuda::hasDistinctKeys(const Scatter &scatter) {
  memref::StoreOp store = scatter.store;
  SmallVector<Operation *> slice = getSlice(scatter.key, store->getBlock());
  memref::LoadOp load;
  for (Operation *op : slice)
    if (auto found = dyn_cast<memref::LoadOp>(op)) {
      if (load)
        return false;
      load = found;
    }
  DenseIntElementsAttr constants =
      load ? getConstants(load, scatter) : DenseIntElementsAttr();
  if (!constants)
    return false;
  DenseSet<int64_t> keys;
  return llvm::all_of(constants.getValues<Attribute>(), [&](Attribute value) {
    std::optional<int64_t> key = evaluate(slice, load, value, scatter.key);
    return key && keys.insert(*key).second;
  });
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

void cuda::inlineUpdate(Scatter &scatter) {
  for (Operation *op : getSlice(scatter.update, scatter.store->getBlock())) {
    auto load = dyn_cast<memref::LoadOp>(op);
    bool isUpdate = load && load.getResult() == scatter.update;
    Value value =
        load ? inlineLoad(load, scatter.outermost, scatter.store.getMemRef())
             : Value();
    if (value && isUpdate)
      scatter.update = value;
  }
}
