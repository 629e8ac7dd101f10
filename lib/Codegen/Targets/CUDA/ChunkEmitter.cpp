//===- ChunkEmitter.cpp - Ops on a few elements of a row
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkEmitter.h"

#include "Launch.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

//===----------------------------------------------------------------------===//
// Bodies of ops
//===----------------------------------------------------------------------===//

SmallVector<Value> cuda::applyMap(ImplicitLocOpBuilder &builder, AffineMap map,
                                  ArrayRef<Value> indices) {
  SmallVector<Value> position;
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      position.push_back(indices[dim.getPosition()]);
      continue;
    }
    auto one = AffineMap::get(map.getNumDims(), 0, expr);
    position.push_back(affine::AffineApplyOp::create(builder, one, indices));
  }
  return position;
}

SmallVector<Value> cuda::cloneBody(ImplicitLocOpBuilder &builder,
                                   linalg::GenericOp op,
                                   ArrayRef<Value> arguments,
                                   ArrayRef<Value> indices, ValueRange wanted,
                                   ArrayRef<Combiner> without,
                                   VectorLoads *vectorLoads) {
  IRMapping mapping;
  for (auto [argument, value] :
       llvm::zip_equal(op.getBody()->getArguments(), arguments))
    if (value)
      mapping.map(argument, value);
  for (Operation &nested : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(nested))
      mapping.map(index.getResult(), indices[index.getDim()]);
    else if (vectorLoads && vectorLoads->clone(builder, nested, mapping))
      continue;
    else if (llvm::none_of(without, [&](const Combiner &combiner) {
               return combiner.op == &nested;
             }))
      builder.clone(nested, mapping);
  }
  return llvm::map_to_vector(
      wanted, [&](Value value) { return mapping.lookupOrDefault(value); });
}

VectorLoads::VectorLoads(linalg::GenericOp op, int64_t length)
    : length(length) {
  if (length == 1)
    return;
  for (auto load : op.getBody()->getOps<memref::LoadOp>())
    if (loadsLine(load, op) &&
        load.getMemRefType().getShape().back() % length == 0)
      loaded[load] = {};
}

bool VectorLoads::clone(ImplicitLocOpBuilder &builder, Operation &op,
                        IRMapping &mapping) {
  auto found = loaded.find(&op);
  if (found == loaded.end())
    return false;
  SmallVector<Value> &lanes = found->second;
  if (lanes.empty()) {
    auto load = cast<memref::LoadOp>(op);
    Type element = load.getMemRefType().getElementType();
    SmallVector<Value> indices =
        llvm::map_to_vector(load.getIndices(), [&](Value index) {
          return mapping.lookupOrDefault(index);
        });
    int64_t bytes = length * element.getIntOrFloatBitWidth() / 8;
    Value vector = vector::LoadOp::create(
        builder, VectorType::get({length}, element), load.getMemRef(), indices,
        /*nontemporal=*/false, llvm::MaybeAlign(std::min<int64_t>(16, bytes)));
    for (int64_t lane = length; lane-- > 0;)
      lanes.push_back(vector::ExtractOp::create(builder, vector, lane));
  }
  mapping.map(op.getResult(0), lanes.pop_back_val());
  return true;
}

Value cuda::combine(ImplicitLocOpBuilder &builder, const Combiner &combiner,
                    Value lhs, Value rhs) {
  IRMapping mapping;
  for (Value operand : combiner.op->getOperands())
    mapping.map(operand, operand == combiner.contribution ? rhs : lhs);
  return builder.clone(*combiner.op, mapping)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Chunks in memory
//===----------------------------------------------------------------------===//

/// Whether \p map points to elements that follow each other, for iterations of
/// the innermost loop that do.
static bool isConsecutive(AffineMap map, ArrayRef<int64_t> strides) {
  unsigned innermost = map.getNumDims() - 1;
  return map.getNumResults() > 0 && strides.back() == 1 &&
         map.getResults().back() ==
             getAffineDimExpr(innermost, map.getContext()) &&
         llvm::none_of(map.getResults().drop_back(), [&](AffineExpr expr) {
           return expr.isFunctionOfDim(innermost);
         });
}

/// The alignment, in bytes, of \p length elements of \p access that a thread
/// reads or writes at once; 0 if it must not. Roots are aligned to 64 bytes,
/// but constants only as their elements.
static int64_t getVectorAlignment(const Access &access, int64_t length) {
  auto type = cast<MemRefType>(access.buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  Type element = type.getElementType();
  if (length == 1 || access.map.getNumDims() == 0 ||
      access.memory.root.getDefiningOp<memref::GetGlobalOp>() ||
      !element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      !isConsecutive(access.map, strides))
    return 0;
  int64_t size = element.getIntOrFloatBitWidth() / 8;
  int64_t alignment = std::min<int64_t>(16, length * size);
  auto isAligned = [&](int64_t elements) {
    return !ShapedType::isDynamic(elements) && elements * size % alignment == 0;
  };
  strides.pop_back();
  return isAligned(offset) && llvm::all_of(strides, isAligned) &&
                 access.memory.offset % alignment == 0
             ? alignment
             : 0;
}

/// \p indices of the iteration \p lane iterations of the innermost loop later.
static SmallVector<Value> moveBy(ImplicitLocOpBuilder &builder,
                                 ArrayRef<Value> indices, int64_t lane) {
  SmallVector<Value> moved(indices);
  if (lane > 0)
    moved.back() =
        multiplyAdd(builder, indices.back(), 1, createIndex(builder, lane));
  return moved;
}

static SmallVector<Value> loadChunk(ImplicitLocOpBuilder &builder,
                                    const Access &access, int64_t length,
                                    ArrayRef<Value> indices) {
  SmallVector<Value> values;
  auto type = cast<MemRefType>(access.buffer.getType());
  if (int64_t alignment = getVectorAlignment(access, length)) {
    auto vector = VectorType::get({length}, type.getElementType());
    Value loaded = vector::LoadOp::create(
        builder, vector, access.buffer, applyMap(builder, access.map, indices),
        /*nontemporal=*/false, llvm::MaybeAlign(alignment));
    for (int64_t lane = 0; lane < length; ++lane)
      values.push_back(vector::ExtractOp::create(builder, loaded, lane));
    return values;
  }
  bool varies = access.map.getNumDims() > 0 &&
                access.map.isFunctionOfDim(access.map.getNumDims() - 1);
  for (int64_t lane = 0; lane < length; ++lane)
    values.push_back(
        lane > 0 && !varies
            ? values.front()
            : memref::LoadOp::create(builder, access.buffer,
                                     applyMap(builder, access.map,
                                              moveBy(builder, indices, lane))));
  return values;
}

static void storeChunk(ImplicitLocOpBuilder &builder, const Access &access,
                       ArrayRef<Value> indices, ValueRange values) {
  auto type = cast<MemRefType>(access.buffer.getType());
  int64_t length = values.size();
  if (int64_t alignment = getVectorAlignment(access, length)) {
    auto vector = VectorType::get({length}, type.getElementType());
    Value stored = vector::FromElementsOp::create(builder, vector, values);
    vector::StoreOp::create(builder, stored, access.buffer,
                            applyMap(builder, access.map, indices),
                            /*nontemporal=*/false, llvm::MaybeAlign(alignment));
    return;
  }
  for (auto [lane, value] : llvm::enumerate(values))
    memref::StoreOp::create(
        builder, value, access.buffer,
        applyMap(builder, access.map, moveBy(builder, indices, lane)));
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

const ChunkEmitter::Known *ChunkEmitter::find(const Access &access,
                                              Value column) const {
  for (const Known &entry : known) {
    bool isSameOperand =
        entry.access.buffer == access.buffer && entry.access.map == access.map;
    if (entry.column == column &&
        (entry.access.isSame(access) || isSameOperand))
      return &entry;
  }
  return nullptr;
}

void ChunkEmitter::keep(const Access &access, Value column, ValueRange values) {
  llvm::erase_if(known, [&](const Known &entry) {
    return entry.column == column && entry.access.isSame(access);
  });
  known.push_back({access, column, SmallVector<Value>(values)});
}

SmallVector<Value> ChunkEmitter::getLoopIndices(const KernelOp &kernelOp,
                                                Value column) {
  ArrayRef<int64_t> extents = kernelOp.extents;
  for (const KnownIndices &entry : knownIndices)
    if (entry.column == column && extents == ArrayRef(entry.extents))
      return entry.indices;
  Value rowIndex = row ? row : createIndex(builder, 0);
  if (!column && kernelOp.form == OpForm::Reduction) {
    // Nothing asks for the loops that are reduced.
    SmallVector<int64_t> resultExtents;
    for (int64_t loop : kernelOp.resultLoops)
      resultExtents.push_back(extents[loop]);
    SmallVector<Value> indices(extents.size(), createIndex(builder, 0));
    for (auto [loop, index] :
         llvm::zip_equal(kernelOp.resultLoops,
                         delinearize(builder, rowIndex, resultExtents)))
      indices[loop] = index;
    return indices;
  }
  if (!kernelOp.rowLoops)
    return delinearize(
        builder,
        multiplyAdd(builder, rowIndex, group.getSpace().columns, column),
        extents);
  SmallVector<Value> indices =
      delinearize(builder, rowIndex, extents.take_front(*kernelOp.rowLoops));
  if (column)
    llvm::append_range(
        indices,
        delinearize(builder, column, extents.drop_front(*kernelOp.rowLoops)));
  return indices;
}

Value ChunkEmitter::readRow(const Access &access, ArrayRef<Value> indices) {
  if (const Known *entry = find(access, Value()))
    return entry->values.front();
  Value value = memref::LoadOp::create(builder, access.buffer,
                                       applyMap(builder, access.map, indices));
  loadedRows.push_back(access);
  return value;
}

SmallVector<Value> ChunkEmitter::read(const KernelOp &kernelOp,
                                      OpOperand &operand, const Chunk &chunk,
                                      ArrayRef<Value> indices) {
  if (!isa<MemRefType>(operand.get().getType()))
    return SmallVector<Value>(chunk.length, operand.get());
  Access access = kernelOp.getAccess(operand);
  if (access.place == Place::Result)
    return SmallVector<Value>(chunk.length, readRow(access, indices));
  if (const Known *entry = find(access, chunk.column))
    return entry->values;
  SmallVector<Value> values = loadChunk(builder, access, chunk.length, indices);
  keep(access, chunk.column, values);
  return values;
}

void ChunkEmitter::write(const KernelOp &kernelOp, OpOperand &init,
                         const Chunk &chunk, ArrayRef<Value> indices,
                         ValueRange values) {
  Access access = kernelOp.getAccess(init);
  Store made = {access, chunk, SmallVector<Value>(indices),
                SmallVector<Value>(values)};
  if (access.place == Place::Element) {
    keep(access, chunk.column, values);
    if (group.isTemporary(access.buffer))
      return;
  }
  llvm::erase_if(elementStores, [&](const Store &earlier) {
    return earlier.chunk.column == chunk.column &&
           earlier.access.isSame(access);
  });
  elementStores.push_back(made);
}

void ChunkEmitter::writeRow(const Access &access, ArrayRef<Value> indices,
                            Value value) {
  keep(access, /*column=*/Value(), value);
  if (group.isTemporary(access.buffer))
    return;
  llvm::erase_if(rowStores, [&](const Store &earlier) {
    return earlier.access.isSame(access);
  });
  rowStores.push_back({access, Chunk{}, SmallVector<Value>(indices), {value}});
}

void ChunkEmitter::store(const Store &made) {
  OpBuilder::InsertionGuard guard(builder);
  if (made.chunk.isActive) {
    auto branch = scf::IfOp::create(builder, made.chunk.isActive);
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  storeChunk(builder, made.access, made.indices, made.values);
}

void ChunkEmitter::storeElements() {
  for (const Store &made : elementStores)
    store(made);
}

bool ChunkEmitter::storesOverLoads() const {
  auto isOver = [](const Store &made, ArrayRef<Access> loads) {
    return llvm::any_of(loads, [&](const Access &load) {
      return mayOverlap(made.access.memory, load.memory);
    });
  };
  // All threads of a row load its value; those without a chunk of their own
  // load another one's.
  return llvm::any_of(
             rowStores,
             [&](const Store &made) { return isOver(made, loadedRows); }) ||
         llvm::any_of(elementStores, [&](const Store &made) {
           return made.chunk.isActive && isOver(made, group.getReads());
         });
}

void ChunkEmitter::storeRows() {
  for (const Store &made : rowStores)
    storeChunk(builder, made.access, made.indices, made.values);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void ChunkEmitter::loadRows(const KernelOp &kernelOp) {
  if (!kernelOp.rowLoops)
    return;
  linalg::GenericOp op = kernelOp.op;
  SmallVector<Value> indices = getLoopIndices(kernelOp, /*column=*/Value());
  // Maps of values of rows do not ask for the loops over columns.
  indices.resize(kernelOp.extents.size(), createIndex(builder, 0));
  for (OpOperand *operand : op.getDpsInputOperands()) {
    if (!isa<MemRefType>(operand->get().getType()))
      continue;
    Access access = kernelOp.getAccess(*operand);
    if (access.place == Place::Result)
      keep(access, /*column=*/Value(), readRow(access, indices));
  }
}

void ChunkEmitter::emitElements(const KernelOp &kernelOp, const Chunk &chunk) {
  linalg::GenericOp op = kernelOp.op;
  SmallVector<Value> indices = getLoopIndices(kernelOp, chunk.column);
  VectorLoads vectorLoads(op, chunk.length);
  SmallVector<SmallVector<Value>> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isRead = op.isDpsInput(&operand) || kernelOp.readsInit(operand);
    operands.push_back(isRead ? read(kernelOp, operand, chunk, indices)
                              : SmallVector<Value>(chunk.length));
  }
  SmallVector<SmallVector<Value>> results(op.getNumDpsInits());
  for (int64_t lane = 0; lane < chunk.length; ++lane) {
    auto arguments = llvm::map_to_vector(
        operands, [&](ArrayRef<Value> values) { return values[lane]; });
    SmallVector<Value> yielded = cloneBody(
        builder, op, arguments, moveBy(builder, indices, lane),
        op.getBody()->getTerminator()->getOperands(), {}, &vectorLoads);
    for (auto [result, value] : llvm::zip_equal(results, yielded))
      result.push_back(value);
  }
  for (auto [init, values] : llvm::zip_equal(op.getDpsInitsMutable(), results))
    write(kernelOp, init, chunk, indices, values);
}

SmallVector<SmallVector<Value>>
ChunkEmitter::emitContributions(const KernelOp &kernelOp, const Chunk &chunk) {
  linalg::GenericOp op = kernelOp.op;
  SmallVector<Value> indices = getLoopIndices(kernelOp, chunk.column);
  SmallVector<SmallVector<Value>> operands;
  for (OpOperand *operand : op.getDpsInputOperands())
    operands.push_back(read(kernelOp, *operand, chunk, indices));
  auto wanted =
      llvm::map_to_vector(kernelOp.combiners, [](const Combiner &combiner) {
        return combiner.contribution;
      });
  SmallVector<SmallVector<Value>> results(wanted.size());
  for (int64_t lane = 0; lane < chunk.length; ++lane) {
    auto arguments = llvm::map_to_vector(
        operands, [&](ArrayRef<Value> values) { return values[lane]; });
    arguments.resize(op.getBody()->getNumArguments());
    SmallVector<Value> values =
        cloneBody(builder, op, arguments, moveBy(builder, indices, lane),
                  wanted, kernelOp.combiners);
    for (auto [result, value] : llvm::zip_equal(results, values))
      result.push_back(value);
  }
  return results;
}

void ChunkEmitter::emitTotals(const KernelOp &kernelOp, ValueRange totals) {
  linalg::GenericOp op = kernelOp.op;
  SmallVector<Value> indices = getLoopIndices(kernelOp, /*column=*/Value());
  for (auto [init, combiner, total] :
       llvm::zip_equal(op.getDpsInitsMutable(), kernelOp.combiners, totals)) {
    Access access = kernelOp.getAccess(init);
    Value before = readRow(access, indices);
    writeRow(access, indices, combine(builder, combiner, before, total));
  }
}

void ChunkEmitter::emitRow(const KernelOp &kernelOp) {
  linalg::GenericOp op = kernelOp.op;
  Chunk chunk{Value(), /*length=*/1, Value()};
  SmallVector<Value> indices = getLoopIndices(kernelOp, /*column=*/Value());
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isRead = op.isDpsInput(&operand) || kernelOp.readsInit(operand);
    arguments.push_back(isRead ? read(kernelOp, operand, chunk, indices).front()
                               : Value());
  }
  SmallVector<Value> results =
      cloneBody(builder, op, arguments, indices,
                op.getBody()->getTerminator()->getOperands());
  for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), results))
    writeRow(kernelOp.getAccess(init), indices, value);
}
