//===- KernelCall.cpp - Calls of the runtime's kernels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelCall.h"

#include "Host.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pipewright;

/// The kernel for operands and results of these types.
static std::string getKernelName(StringRef stem, Type operand, Type result) {
  auto spell = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return StringRef(text).upper();
  };
  std::string name = stem.str() + spell(operand);
  return operand == result ? name : name + spell(result);
}

/// \p buffer, which is contiguous, under the one type that the kernel takes.
/// Neither the shape nor the strides matter: the kernel gets a pointer.
static Value castBuffer(Value buffer, Location loc, OpBuilder &builder) {
  auto type = cast<MemRefType>(buffer.getType());
  auto address = MemRefType::get({1}, type.getElementType());
  int64_t zero = 0, one = 1;
  return memref::ReinterpretCastOp::create(builder, loc, address, buffer,
                                           /*offset=*/zero,
                                           /*sizes=*/ArrayRef<int64_t>(one),
                                           /*strides=*/ArrayRef<int64_t>(one));
}

static void declareKernel(Operation *user, StringRef name, FunctionType type) {
  auto module = user->getParentOfType<ModuleOp>();
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto kernel = func::FuncOp::create(builder, module.getLoc(), name, type);
  kernel.setPrivate();
}

ResultRange host::emitKernelCall(const KernelCall &call, Location loc,
                                 OpBuilder &builder) {
  SmallVector<Value> operands;
  for (Value buffer : call.buffers)
    operands.push_back(castBuffer(buffer, loc, builder));
  for (int64_t size : call.sizes)
    operands.push_back(
        arith::ConstantIntOp::create(builder, loc, size, /*width=*/64));
  for (double number : call.numbers)
    operands.push_back(arith::ConstantFloatOp::create(
        builder, loc, builder.getF64Type(), APFloat(number)));
  for (bool flag : call.flags)
    operands.push_back(
        arith::ConstantIntOp::create(builder, loc, flag, /*width=*/32));
  auto type =
      builder.getFunctionType(ValueRange(operands).getTypes(), call.types);
  std::string name =
      getKernelName(call.stem, getElementTypeOrSelf(call.operand.getType()),
                    getElementTypeOrSelf(call.result.getType()));
  declareKernel(builder.getInsertionBlock()->getParentOp(), name, type);
  return func::CallOp::create(builder, loc, name, call.types, operands)
      .getResults();
}

void host::emitMatMul(const MatMulCall &call, StringRef prefix, Location loc,
                      OpBuilder &builder) {
  emitKernelCall({(prefix + "Matmul").str(),
                  call.lhs,
                  call.result,
                  {call.lhs, call.rhs, call.result},
                  {call.batch, call.m, call.n, call.k, call.strideLhs,
                   call.strideRhs, call.strideResult},
                  {call.transposeLhs, call.transposeRhs, call.accumulate}},
                 loc, builder);
}

void host::emitExpertCall(const ExpertCall &call, StringRef prefix,
                          Location loc, OpBuilder &builder) {
  bool isProduct = call.form == ExpertForm::Product;
  emitKernelCall({(prefix + (isProduct ? "ExpertMatmul" : "ExpertOuter")).str(),
                  call.lhs,
                  call.result,
                  {call.lhs, call.rhs, call.experts, call.result,
                   call.packedLhs, call.packedOther},
                  {call.rows, call.expertCount, call.m, call.n},
                  {isProduct ? call.transposeRhs : call.accumulate}},
                 loc, builder);
}
