//===- LowerFunctions.cpp - One buffer for each argument and result
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/TaskSignature.h"
#include "pipewright/Codegen/Workspace.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERFUNCTIONS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// The caller passes distinct buffers, all of them aligned as the arena is.
static void setArgumentAttributes(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(workspaceAlignment));
  }
}

static func::FuncOp createFunction(nn::FunctionOp layer,
                                   const LayerSignature &signature,
                                   OpBuilder &builder) {
  SmallVector<Type> types;
  for (Type argument : layer.getArgumentTypes())
    types.push_back(getBufferType(argument));
  for (auto [result, shared] :
       llvm::zip_equal(layer.getResultTypes(), signature.sharedArguments))
    if (!shared)
      types.push_back(getBufferType(result));
  auto function = func::FuncOp::create(builder, layer.getLoc(),
                                       getLayerSymbol(layer.getSymName()),
                                       builder.getFunctionType(types, {}));
  setArgumentAttributes(function);
  function.addEntryBlock();
  return function;
}

/// Moves the body of \p layer into a function of memrefs.
static void lowerFunction(nn::FunctionOp layer) {
  OpBuilder builder(layer);
  LayerSignature signature(layer);
  func::FuncOp function = createFunction(layer, signature, builder);
  Block &body = layer.getBody().front();
  Location loc = layer.getLoc();

  builder.setInsertionPointToStart(&function.getBody().front());
  IRMapping mapping;
  for (BlockArgument argument : body.getArguments()) {
    unsigned index = argument.getArgNumber();
    bool writable = llvm::is_contained(signature.sharedArguments, index);
    mapping.map(argument,
                bufferization::ToTensorOp::create(
                    builder, loc, argument.getType(),
                    function.getArgument(index), /*restrict=*/true, writable)
                    .getResult());
  }
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);

  unsigned next = body.getNumArguments();
  for (auto [result, shared] : llvm::zip_equal(
           body.getTerminator()->getOperands(), signature.sharedArguments)) {
    Value buffer = function.getArgument(shared ? *shared : next++);
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, /*result=*/Type(), mapping.lookupOrDefault(result),
        buffer, /*restrict=*/true, /*writable=*/true);
  }
  func::ReturnOp::create(builder, loc);
  layer.erase();
}

namespace {
struct LowerFunctions : pipewright::impl::LowerFunctionsBase<LowerFunctions> {
  void runOnOperation() override {
    for (auto layer :
         llvm::make_early_inc_range(getOperation().getOps<nn::FunctionOp>()))
      lowerFunction(layer);
  }
};
} // namespace
