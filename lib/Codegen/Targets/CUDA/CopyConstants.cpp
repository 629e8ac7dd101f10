//===- CopyConstants.cpp - Constants that the library reads
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace pipewright {
#define GEN_PASS_DEF_COPYCONSTANTS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// Has all users of \p constant read a copy of it.
static void copyConstant(memref::GetGlobalOp constant) {
  OpBuilder builder(constant->getContext());
  builder.setInsertionPointAfter(constant);
  Location loc = constant.getLoc();
  Value copy = memref::AllocOp::create(builder, loc, constant.getType());
  auto filled = memref::CopyOp::create(builder, loc, constant, copy);
  constant.getResult().replaceAllUsesExcept(copy, filled);
}

namespace {
struct CopyConstants : pipewright::impl::CopyConstantsBase<CopyConstants> {
  void runOnOperation() override {
    llvm::SetVector<memref::GetGlobalOp> constants;
    getOperation().walk([&](func::CallOp call) {
      for (Value operand : call.getOperands()) {
        if (!isa<MemRefType>(operand.getType()))
          continue;
        Value whole = cuda::getWholeBuffer(operand);
        if (auto constant = whole.getDefiningOp<memref::GetGlobalOp>())
          constants.insert(constant);
      }
    });
    llvm::for_each(constants, copyConstant);
  }
};
} // namespace
