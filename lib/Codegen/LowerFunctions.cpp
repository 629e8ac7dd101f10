//===- LowerFunctions.cpp - One buffer for each argument and result
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/TaskSignature.h"
#include "pipewright/Program/Arena.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERFUNCTIONS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

static bool isEmpty(Type type) {
  return cast<RankedTensorType>(type).getNumElements() == 0;
}

/// The strides of a tensor without elements are not those of a plain array, so
/// it is passed as a list of none.
static MemRefType getBufferType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (isEmpty(type))
    return MemRefType::get({0}, tensor.getElementType());
  return MemRefType::get(tensor.getShape(), tensor.getElementType());
}

/// A tensor without elements, which needs no computation.
static Value createEmpty(Type type, Location loc, OpBuilder &builder) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                 tensor.getElementType());
}

/// Moves the ops of \p body, those that have something to compute.
static void copyOps(Block &body, IRMapping &mapping, OpBuilder &builder) {
  for (Operation &op : body.without_terminator()) {
    if (op.getNumResults() == 1 && isEmpty(op.getResult(0).getType()))
      mapping.map(op.getResult(0),
                  createEmpty(op.getResult(0).getType(), op.getLoc(), builder));
    else
      builder.clone(op, mapping);
  }
}

/// The caller passes distinct buffers, all of them aligned as the arena is.
static void setArgumentAttributes(func::FuncOp function) {
  Builder builder(function.getContext());
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    function.setArgAttr(index, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    function.setArgAttr(index, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(arenaAlignment));
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
    if (isEmpty(argument.getType())) {
      mapping.map(argument, createEmpty(argument.getType(), loc, builder));
      continue;
    }
    bool writable = llvm::is_contained(signature.sharedArguments, index);
    mapping.map(argument,
                bufferization::ToTensorOp::create(
                    builder, loc, argument.getType(),
                    function.getArgument(index), /*restrict=*/true, writable)
                    .getResult());
  }
  copyOps(body, mapping, builder);

  unsigned next = body.getNumArguments();
  for (auto [result, shared] : llvm::zip_equal(
           body.getTerminator()->getOperands(), signature.sharedArguments)) {
    Value buffer = function.getArgument(shared ? *shared : next++);
    if (isEmpty(result.getType()))
      continue;
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
