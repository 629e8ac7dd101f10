//===- Epilogue.cpp - What follows products, by cuBLASLt or kernels
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Host/KernelCall.h"
#include "CUDA.h"

#include "pprt/Cuda.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace pipewright;

bool cuda::hasEpilogue(const EpilogueCall &call) {
  const MatMulCall &product = call.product;
  Type element = getElementTypeOrSelf(product.lhs);
  Type result = getElementTypeOrSelf(product.result);
  // Sums are of the type of the result, and wanted in f32.
  bool isTyped = call.sums ? result.isF32() : result == element;
  bool isAuxiliaryTyped =
      !call.auxiliary || getElementTypeOrSelf(call.auxiliary) == result;
  // Its rows begin at multiples of so many elements.
  constexpr int64_t unit = 8;
  return isTyped && isAuxiliaryTyped &&
         (element.isF32() || element.isBF16() || element.isF16()) &&
         product.batch == 1 && product.m > 0 && product.n > 0 &&
         product.k > 0 && (!call.auxiliary || product.n % unit == 0);
}

/// What the runtime calls it.
static int64_t getParts(const EpilogueCall &call) {
  if (call.sums)
    return call.sumsLhs ? PPRT_EPILOGUE_SUMS_A : PPRT_EPILOGUE_SUMS_B;
  int64_t parts = call.bias ? PPRT_EPILOGUE_BIAS : 0;
  switch (call.activation) {
  case Activation::None:
    return parts;
  case Activation::Relu:
    return parts | PPRT_EPILOGUE_RELU;
  case Activation::Gelu:
    return parts | PPRT_EPILOGUE_GELU |
           (call.auxiliary ? PPRT_EPILOGUE_KEEP : 0);
  case Activation::GeluGradient:
    return parts | PPRT_EPILOGUE_GELU_GRADIENT;
  }
  llvm_unreachable("unknown activation");
}

/// Emits a call of the function of that name, which gets \p buffers.
static ResultRange emitCall(const EpilogueCall &call, const Twine &stem,
                            ArrayRef<Value> buffers, ArrayRef<bool> flags,
                            TypeRange types, Location loc, OpBuilder &builder) {
  const MatMulCall &product = call.product;
  return host::emitKernelCall(
      {stem.str(),
       product.lhs,
       product.result,
       buffers,
       {product.m, product.n, product.k, getParts(call)},
       flags,
       types},
      loc, builder);
}

void cuda::emitEpilogue(const EpilogueCall &call, StringRef prefix,
                        Location loc, OpBuilder &builder) {
  const MatMulCall &product = call.product;
  auto orAny = [&](Value buffer) { return buffer ? buffer : product.result; };
  emitCall(call, prefix + "Epilogue",
           {product.lhs, product.rhs, product.result,
            orAny(call.sums ? call.sums : call.bias), orAny(call.auxiliary)},
           {product.transposeLhs, product.transposeRhs, product.accumulate},
           TypeRange(), loc, builder);
}

static Value compareWay(arith::CmpIPredicate predicate, Value way,
                        int64_t other, Location loc, OpBuilder &builder) {
  Value number =
      arith::ConstantIntOp::create(builder, loc, other, /*width=*/32);
  return arith::CmpIOp::create(builder, loc, predicate, way, number);
}

void cuda::emitEpilogueChoice(const EpilogueCall &call,
                              llvm::function_ref<void(OpBuilder &)> emitLibrary,
                              llvm::function_ref<void(OpBuilder &)> emitOthers,
                              StringRef prefix, Location loc,
                              OpBuilder &builder) {
  OpBuilder::InsertionGuard guard(builder);
  const MatMulCall &product = call.product;
  Type word = builder.getI32Type();
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(word), ValueRange());

  builder.createBlock(&loop.getBefore());
  Value way = emitCall(call, prefix + "ChooseEpilogue",
                       {product.lhs, product.rhs, product.result},
                       {product.transposeLhs, product.transposeRhs}, word, loc,
                       builder)[0];
  Value isAny =
      compareWay(arith::CmpIPredicate::ne, way, PPRT_WAY_NONE, loc, builder);
  scf::ConditionOp::create(builder, loc, isAny, way);

  Block *body = builder.createBlock(&loop.getAfter(), {}, word, loc);
  Value isLibrary = compareWay(arith::CmpIPredicate::eq, body->getArgument(0),
                               PPRT_WAY_LIBRARY, loc, builder);
  auto either = scf::IfOp::create(builder, loc, isLibrary,
                                  /*withElseRegion=*/true);
  scf::YieldOp::create(builder, loc);
  builder.setInsertionPointToStart(either.thenBlock());
  emitLibrary(builder);
  builder.setInsertionPointToStart(either.elseBlock());
  emitOthers(builder);
}
