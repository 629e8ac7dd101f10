//===- Arithmetic.cpp - Scalar arithmetic in the bodies of ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace pipewright;

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

arith::FastMathFlagsAttr Arithmetic::getContract() {
  return arith::FastMathFlagsAttr::get(getContext(),
                                       arith::FastMathFlags::contract);
}

arith::FastMathFlagsAttr Arithmetic::getReassociate() {
  return arith::FastMathFlagsAttr::get(getContext(),
                                       arith::FastMathFlags::contract |
                                           arith::FastMathFlags::reassoc);
}

Value Arithmetic::constant(Type type, double value) {
  if (isa<FloatType>(type))
    return make<arith::ConstantOp>(getFloatAttr(type, value));
  llvm::APSInt integer(type.getIntOrFloatBitWidth(),
                       /*isUnsigned=*/type.isInteger(1));
  bool exact;
  llvm::APFloat(value).convertToInteger(integer, llvm::APFloat::rmTowardZero,
                                        &exact);
  return make<arith::ConstantOp>(getIntegerAttr(type, integer));
}

Value Arithmetic::constantInt(Type type, int64_t value) {
  return make<arith::ConstantOp>(getIntegerAttr(type, value));
}

Value Arithmetic::add(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::AddFOp>(lhs, rhs, getContract());
  return make<arith::AddIOp>(lhs, rhs);
}

Value Arithmetic::sub(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::SubFOp>(lhs, rhs, getContract());
  return make<arith::SubIOp>(lhs, rhs);
}

Value Arithmetic::mul(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::MulFOp>(lhs, rhs, getContract());
  return make<arith::MulIOp>(lhs, rhs);
}

Value Arithmetic::div(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::DivFOp>(lhs, rhs);
  return make<arith::DivSIOp>(lhs, rhs);
}

Value Arithmetic::max(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::MaximumFOp>(lhs, rhs);
  return make<arith::MaxSIOp>(lhs, rhs);
}

Value Arithmetic::min(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::MinimumFOp>(lhs, rhs);
  return make<arith::MinSIOp>(lhs, rhs);
}

Value Arithmetic::compare(arith::CmpFPredicate floats,
                          arith::CmpIPredicate integers, Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::CmpFOp>(floats, lhs, rhs);
  return make<arith::CmpIOp>(integers, lhs, rhs);
}

Value Arithmetic::less(Value lhs, Value rhs) {
  return compare(arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt, lhs,
                 rhs);
}

Value Arithmetic::select(Value condition, Value onTrue, Value onFalse) {
  return make<arith::SelectOp>(condition, onTrue, onFalse);
}

Value Arithmetic::addInAnyOrder(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::AddFOp>(lhs, rhs, getReassociate());
  return make<arith::AddIOp>(lhs, rhs);
}

Value Arithmetic::mulInAnyOrder(Value lhs, Value rhs) {
  if (isFloat(lhs))
    return make<arith::MulFOp>(lhs, rhs, getReassociate());
  return make<arith::MulIOp>(lhs, rhs);
}
