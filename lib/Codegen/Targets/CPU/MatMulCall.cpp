//===- MatMulCall.cpp - Contractions as calls of the runtime's kernel
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace pipewright;

/// The kernel for operands and results of these types.
static std::string getKernelName(Type operand, Type result) {
  auto spell = [](Type type) {
    std::string text;
    llvm::raw_string_ostream(text) << type;
    return StringRef(text).upper();
  };
  std::string name = "pprtCpuMatmul" + spell(operand);
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

static void declareKernel(Operation *user, StringRef name,
                          ArrayRef<Type> types) {
  auto module = user->getParentOfType<ModuleOp>();
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto kernel = func::FuncOp::create(builder, module.getLoc(), name,
                                     builder.getFunctionType(types, {}));
  kernel.setPrivate();
}

void cpu::emitMatMul(const MatMulCall &call, Location loc, OpBuilder &builder) {
  auto long64 = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, /*width=*/64);
  };
  auto flag = [&](bool value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, /*width=*/32);
  };
  SmallVector<Value> operands = {castBuffer(call.lhs, loc, builder),
                                 castBuffer(call.rhs, loc, builder),
                                 castBuffer(call.result, loc, builder)};
  for (int64_t value : {call.batch, call.m, call.n, call.k, call.strideLhs,
                        call.strideRhs, call.strideResult})
    operands.push_back(long64(value));
  for (bool value : {call.transposeLhs, call.transposeRhs, call.accumulate})
    operands.push_back(flag(value));
  SmallVector<Type> types(ValueRange(operands).getTypes());
  std::string name = getKernelName(getElementTypeOrSelf(call.lhs.getType()),
                                   getElementTypeOrSelf(call.result.getType()));
  declareKernel(builder.getInsertionBlock()->getParentOp(), name, types);
  func::CallOp::create(builder, loc, name, TypeRange(), operands);
}
