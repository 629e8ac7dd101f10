//===- Arithmetic.cpp - Scalar arithmetic in the bodies of ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arithmetic.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;
using namespace pipewright;

Type pipewright::getComputeType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}

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

Value Arithmetic::widen(Value value) {
  return isFloat(value) ? convertFloat(getComputeType(value.getType()), value)
                        : value;
}

Value Arithmetic::convertFloat(Type type, Value value) {
  unsigned from = value.getType().getIntOrFloatBitWidth();
  unsigned to = type.getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (from < to)
    return make<arith::ExtFOp>(type, value);
  // Of the two types of 16 bits neither holds the other.
  if (from == to)
    return convertFloat(type, widen(value));
  if (from == 64 && to == 16)
    value = roundToOdd(value);
  return make<arith::TruncFOp>(type, value);
}

// Boldo and Melquiond, When double rounding is odd, IMACS 2005: the last bit
// of an inexact result is set, so that it never looks like a tie, and the
// result lies between zero and the number.
Value Arithmetic::roundToOdd(Value value) {
  Value rounded = make<arith::TruncFOp>(getF32Type(), value);
  Value back = make<arith::ExtFOp>(value.getType(), rounded);
  Value inexact = make<arith::CmpFOp>(arith::CmpFPredicate::ONE, back, value);
  Value isAbove =
      make<arith::CmpFOp>(arith::CmpFPredicate::OGT, make<math::AbsFOp>(back),
                          make<math::AbsFOp>(value));
  Value bits = make<arith::BitcastOp>(getI32Type(), rounded);
  Value one = constantInt(getI32Type(), 1);
  Value below = select(isAbove, sub(bits, one), bits);
  Value odd = select(inexact, make<arith::OrIOp>(below, one), bits);
  return make<arith::BitcastOp>(getF32Type(), odd);
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
