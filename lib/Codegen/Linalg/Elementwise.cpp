//===- Elementwise.cpp - One result element per operand element
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generic.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// Unary ops: compute(op, arith, x) is the element of the result
//===----------------------------------------------------------------------===//

static Value compute(nn::NegOp, Arithmetic &arith, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith.make<arith::NegFOp>(x[0]);
  return arith.sub(arith.constant(x[0].getType(), 0), x[0]);
}
static Value compute(nn::AbsOp, Arithmetic &arith, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith.make<math::AbsFOp>(x[0]);
  return arith.make<math::AbsIOp>(x[0]);
}
static Value compute(nn::SignOp, Arithmetic &arith, ValueRange x) {
  Type type = x[0].getType();
  Value zero = arith.constant(type, 0);
  // What is neither positive nor negative stays as it is: a zero or a NaN.
  Value negative =
      arith.select(arith.less(x[0], zero), arith.constant(type, -1), x[0]);
  return arith.select(arith.less(zero, x[0]), arith.constant(type, 1),
                      negative);
}
static Value compute(nn::ExpOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::ExpOp>(x[0]);
}
static Value compute(nn::LogOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::LogOp>(x[0]);
}
static Value compute(nn::SqrtOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::SqrtOp>(x[0]);
}
static Value compute(nn::RsqrtOp, Arithmetic &arith, ValueRange x) {
  Value root = arith.make<math::SqrtOp>(x[0]);
  return arith.div(arith.constant(x[0].getType(), 1), root);
}
static Value compute(nn::ReciprocalOp, Arithmetic &arith, ValueRange x) {
  return arith.div(arith.constant(x[0].getType(), 1), x[0]);
}
static Value compute(nn::TanhOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::TanhOp>(x[0]);
}
static Value compute(nn::ErfOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::ErfOp>(x[0]);
}
static Value compute(nn::SinOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::SinOp>(x[0]);
}
static Value compute(nn::CosOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::CosOp>(x[0]);
}
static Value compute(nn::SigmoidOp, Arithmetic &arith, ValueRange x) {
  Value one = arith.constant(x[0].getType(), 1);
  Value negated = arith.make<arith::NegFOp>(x[0]);
  return arith.div(one, arith.add(one, arith.make<math::ExpOp>(negated)));
}
static Value compute(nn::SiluOp, Arithmetic &arith, ValueRange x) {
  Value one = arith.constant(x[0].getType(), 1);
  Value negated = arith.make<arith::NegFOp>(x[0]);
  return arith.div(x[0], arith.add(one, arith.make<math::ExpOp>(negated)));
}
static Value compute(nn::ReluOp, Arithmetic &arith, ValueRange x) {
  return arith.max(x[0], arith.constant(x[0].getType(), 0));
}
static Value compute(nn::FloorOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::FloorOp>(x[0]);
}
static Value compute(nn::CeilOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::CeilOp>(x[0]);
}
static Value compute(nn::NotOp, Arithmetic &arith, ValueRange x) {
  return arith.make<arith::XOrIOp>(x[0], arith.constantInt(x[0].getType(), 1));
}

static Value compute(nn::GeluOp op, Arithmetic &arith, ValueRange x) {
  Type type = x[0].getType();
  Value inner;
  if (op.getForm() == nn::GeluForm::Erf) {
    Value scaled = arith.mul(x[0], arith.constant(type, 0.70710678118654752));
    inner = arith.make<math::ErfOp>(scaled);
  } else {
    Value square = arith.mul(x[0], x[0]);
    Value factor = arith.add(
        arith.mul(square, arith.constant(type, 0.7978845608028654 * 0.044715)),
        arith.constant(type, 0.7978845608028654));
    inner = arith.make<math::TanhOp>(arith.mul(x[0], factor));
  }
  Value half = arith.mul(x[0], arith.constant(type, 0.5));
  return arith.add(arith.mul(half, inner), half);
}

//===----------------------------------------------------------------------===//
// Binary ops
//===----------------------------------------------------------------------===//

static Value compute(nn::AddOp, Arithmetic &arith, ValueRange x) {
  return arith.add(x[0], x[1]);
}
static Value compute(nn::SubOp, Arithmetic &arith, ValueRange x) {
  return arith.sub(x[0], x[1]);
}
static Value compute(nn::MulOp, Arithmetic &arith, ValueRange x) {
  return arith.mul(x[0], x[1]);
}
static Value compute(nn::DivOp, Arithmetic &arith, ValueRange x) {
  return arith.div(x[0], x[1]);
}
static Value compute(nn::ModOp, Arithmetic &arith, ValueRange x) {
  Type type = x[0].getType();
  Value zero = arith.constant(type, 0);
  Value remainder = isa<FloatType>(type)
                        ? arith.make<arith::RemFOp>(x[0], x[1])
                        : arith.make<arith::RemSIOp>(x[0], x[1]);
  // The machine's remainder has the sign of the dividend.
  Value signsDiffer = arith.make<arith::XOrIOp>(arith.less(remainder, zero),
                                                arith.less(x[1], zero));
  Value notZero =
      arith.compare(CmpFPredicate::UNE, CmpIPredicate::ne, remainder, zero);
  Value isOther = arith.make<arith::AndIOp>(signsDiffer, notZero);
  return arith.select(isOther, arith.add(remainder, x[1]), remainder);
}
static Value compute(nn::PowOp, Arithmetic &arith, ValueRange x) {
  return arith.make<math::PowFOp>(x[0], x[1]);
}
static Value compute(nn::MaxOp, Arithmetic &arith, ValueRange x) {
  return arith.max(x[0], x[1]);
}
static Value compute(nn::MinOp, Arithmetic &arith, ValueRange x) {
  return arith.min(x[0], x[1]);
}
static Value compute(nn::AndOp, Arithmetic &arith, ValueRange x) {
  return arith.make<arith::AndIOp>(x[0], x[1]);
}
static Value compute(nn::OrOp, Arithmetic &arith, ValueRange x) {
  return arith.make<arith::OrIOp>(x[0], x[1]);
}

static Value compute(nn::CompareOp op, Arithmetic &arith, ValueRange x) {
  bool boolean = x[0].getType().isInteger(1);
  auto compare = [&](CmpFPredicate floats, CmpIPredicate integers,
                     CmpIPredicate booleans) {
    return arith.compare(floats, boolean ? booleans : integers, x[0], x[1]);
  };
  switch (op.getPredicate()) {
  case nn::Comparison::Equal:
    return compare(CmpFPredicate::OEQ, CmpIPredicate::eq, CmpIPredicate::eq);
  case nn::Comparison::NotEqual:
    return compare(CmpFPredicate::UNE, CmpIPredicate::ne, CmpIPredicate::ne);
  case nn::Comparison::Less:
    return compare(CmpFPredicate::OLT, CmpIPredicate::slt, CmpIPredicate::ult);
  case nn::Comparison::LessOrEqual:
    return compare(CmpFPredicate::OLE, CmpIPredicate::sle, CmpIPredicate::ule);
  case nn::Comparison::Greater:
    return compare(CmpFPredicate::OGT, CmpIPredicate::sgt, CmpIPredicate::ugt);
  case nn::Comparison::GreaterOrEqual:
    return compare(CmpFPredicate::OGE, CmpIPredicate::sge, CmpIPredicate::uge);
  }
  llvm_unreachable("all comparisons are handled");
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static Value compute(nn::SelectOp, Arithmetic &arith, ValueRange x) {
  return arith.select(x[0], x[1], x[2]);
}

static Value castToInteger(Type type, Arithmetic &arith, Value x) {
  bool fromFloat = isa<FloatType>(x.getType());
  if (type.isInteger(1))
    return arith.compare(CmpFPredicate::UNE, CmpIPredicate::ne, x,
                         arith.constant(x.getType(), 0));
  if (fromFloat)
    return arith.make<arith::FPToSIOp>(type, x);
  if (x.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
    return arith.make<arith::TruncIOp>(type, x);
  if (x.getType().isInteger(1))
    return arith.make<arith::ExtUIOp>(type, x);
  return arith.make<arith::ExtSIOp>(type, x);
}

static Value castToFloat(Type type, Arithmetic &arith, Value x) {
  Type source = x.getType();
  if (isa<FloatType>(source))
    return arith.convertFloat(type, x);
  // An integer has more digits than a narrow float's compute type.
  Type wide = getComputeType(type) == type ? type : arith.getF64Type();
  Value number = source.isInteger(1) ? arith.make<arith::UIToFPOp>(wide, x)
                                     : arith.make<arith::SIToFPOp>(wide, x);
  return arith.convertFloat(type, number);
}

static Value compute(nn::CastOp op, Arithmetic &arith, ValueRange x) {
  Type type = op.getResult().getType().getElementType();
  if (type == x[0].getType())
    return x[0];
  if (isa<FloatType>(type))
    return castToFloat(type, arith, x[0]);
  return castToInteger(type, arith, x[0]);
}

static Value compute(nn::AccumulateOp, Arithmetic &arith, ValueRange x) {
  return arith.add(x[0], x[1]);
}

namespace {
template <typename OpTy>
struct ElementwiseToLinalg : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    SmallVector<MappedInput> inputs;
    for (Value operand : op->getOperands())
      inputs.push_back({operand, AffineMap()});
    rewriter.replaceOp(
        op, createMap(rewriter, op.getLoc(), op.getResult().getType(), inputs,
                      [&](Arithmetic &arith, ValueRange elements) {
                        return compute(op, arith, elements);
                      }));
    return success();
  }
};
} // namespace

template <typename... OpTys>
static void addElementwise(RewritePatternSet &patterns) {
  patterns.add<ElementwiseToLinalg<OpTys>...>(patterns.getContext());
}

void pipewright::populateElementwiseToLinalg(RewritePatternSet &patterns) {
  addElementwise<nn::NegOp, nn::AbsOp, nn::SignOp, nn::ExpOp, nn::LogOp,
                 nn::SqrtOp, nn::RsqrtOp, nn::ReciprocalOp, nn::TanhOp,
                 nn::ErfOp, nn::SinOp, nn::CosOp, nn::SigmoidOp, nn::ReluOp,
                 nn::SiluOp, nn::FloorOp, nn::CeilOp, nn::NotOp, nn::GeluOp>(
      patterns);
  addElementwise<nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp, nn::ModOp,
                 nn::PowOp, nn::MaxOp, nn::MinOp, nn::AndOp, nn::OrOp,
                 nn::CompareOp>(patterns);
  addElementwise<nn::SelectOp, nn::CastOp, nn::AccumulateOp>(patterns);
}
