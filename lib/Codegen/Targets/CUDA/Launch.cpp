//===- Launch.cpp - Launches of kernels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"

#include "Memory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

/// \p name in the characters that a name in PTX may have.
static std::string getSymbol(StringRef name) {
  std::string symbol = name.str();
  for (char &letter : symbol)
    if (!llvm::isAlnum(letter))
      letter = '_';
  return symbol;
}

Launcher::Launcher(StringRef function)
    : moduleName(getSymbol(function) + "_kernels") {}

gpu::LaunchOp Launcher::create(ImplicitLocOpBuilder &builder, LaunchShape shape,
                               StringRef kind) {
  auto getSymbolRef = [&](const Twine &name) {
    return FlatSymbolRefAttr::get(builder.getContext(), name.str());
  };
  Value one = createIndex(builder, 1);
  auto launch =
      gpu::LaunchOp::create(builder, createIndex(builder, shape.blocks), one,
                            one, createIndex(builder, shape.threadsX),
                            createIndex(builder, shape.threadsY), one);
  launch.setModuleAttr(getSymbolRef(moduleName));
  launch.setFunctionAttr(getSymbolRef(kind + Twine(count++)));
  builder.setInsertionPointToEnd(&launch.getBody().front());
  auto terminator = gpu::TerminatorOp::create(builder);
  builder.setInsertionPoint(terminator);
  return launch;
}

/// Whether the device computes the value of \p op itself. Addresses of buffers
/// are arguments of the kernel, but not those of constants, which are part of
/// its code.
static bool isComputedInside(Operation *op) {
  if (isa<memref::GetGlobalOp, memref::LoadOp>(op))
    return true;
  if (isa<MemRefType>(op->getResult(0).getType())) {
    Operation *source =
        op->getNumOperands() == 0 ? nullptr : op->getOperand(0).getDefiningOp();
    return source && isComputedInside(source);
  }
  return isPure(op) && op->getNumRegions() == 0;
}

/// Whether \p op may write to \p memory.
static bool mayWrite(Operation *op, const Memory &memory) {
  auto overlaps = [&](Value buffer) {
    return isa<MemRefType>(buffer.getType()) &&
           mayOverlap(memory, getMemory(buffer));
  };
  WalkResult walk = op->walk([&](Operation *nested) {
    bool writes = false;
    if (auto store = dyn_cast<memref::StoreOp>(nested))
      writes = overlaps(store.getMemRef());
    else if (auto store = dyn_cast<vector::StoreOp>(nested))
      writes = overlaps(store.getBase());
    else if (isa<CallOpInterface>(nested))
      writes = llvm::any_of(nested->getOperands(), overlaps);
    return writes ? WalkResult::interrupt() : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

/// Checks that \p load reads the same where \p launch is.
static LogicalResult verifyUnchanged(memref::LoadOp load,
                                     gpu::LaunchOp launch) {
  Memory memory = getMemory(load.getMemRef());
  // The launch, or a loop of the host that it is in.
  Operation *last = load->getBlock()->findAncestorOpInBlock(*launch);
  for (Operation *op = load->getNextNode(); op && op != launch;
       op = op == last ? nullptr : op->getNextNode())
    if (mayWrite(op, memory))
      return load.emitOpError("has no kernel: what it reads may be overwritten "
                              "before a kernel needs it");
  return success();
}

/// The ops outside of \p launch that it needs to compute inside, in order.
static SmallVector<Operation *> findOperands(gpu::LaunchOp launch) {
  llvm::SetVector<Value> used;
  getUsedValuesDefinedAbove(launch.getBody(), used);
  SmallVector<Value> pending = used.takeVector();
  llvm::SetVector<Operation *> found;
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && isComputedInside(op) && found.insert(op))
      llvm::append_range(pending, op->getOperands());
  }
  SmallVector<Operation *> ops = found.takeVector();
  llvm::sort(ops, [](Operation *lhs, Operation *rhs) {
    // What is outside of a loop of the host comes before what is inside.
    return lhs->getBlock() == rhs->getBlock()
               ? lhs->isBeforeInBlock(rhs)
               : lhs->getParentOp()->isProperAncestor(rhs);
  });
  return ops;
}

LogicalResult cuda::sinkOperands(gpu::LaunchOp launch) {
  OpBuilder builder = OpBuilder::atBlockBegin(&launch.getBody().front());
  IRMapping copies;
  for (Operation *op : findOperands(launch)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && failed(verifyUnchanged(load, launch)))
      return failure();
    builder.clone(*op, copies);
    for (Value result : op->getResults())
      result.replaceUsesWithIf(copies.lookup(result), [&](OpOperand &use) {
        return launch->isProperAncestor(use.getOwner());
      });
  }
  return success();
}

Value cuda::createIndex(ImplicitLocOpBuilder &builder, int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value cuda::isBelow(ImplicitLocOpBuilder &builder, Value index, int64_t bound) {
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, index,
                               createIndex(builder, bound));
}

SmallVector<Value> cuda::delinearize(ImplicitLocOpBuilder &builder,
                                     Value number, ArrayRef<int64_t> extents) {
  // The outermost index needs no remainder, and loops of one iteration none.
  auto isLoop = [](int64_t extent) { return extent != 1; };
  const auto *outermost = llvm::find_if(extents, isLoop);
  SmallVector<Value> indices(extents.size());
  for (int64_t loop = extents.size(); loop-- > 0;) {
    if (!isLoop(extents[loop])) {
      indices[loop] = createIndex(builder, 0);
      continue;
    }
    if (loop == outermost - extents.begin()) {
      indices[loop] = number;
      continue;
    }
    Value extent = createIndex(builder, extents[loop]);
    indices[loop] = arith::RemUIOp::create(builder, number, extent);
    number = arith::DivUIOp::create(builder, number, extent);
  }
  return indices;
}

Value cuda::multiplyAdd(ImplicitLocOpBuilder &builder, Value index,
                        int64_t factor, Value summand) {
  Value product =
      factor == 1
          ? index
          : arith::MulIOp::create(builder, index, createIndex(builder, factor));
  return summand ? arith::AddIOp::create(builder, product, summand) : product;
}
