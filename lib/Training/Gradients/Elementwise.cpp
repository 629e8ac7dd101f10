//===- Elementwise.cpp - Gradients of elementwise ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule uses the result rather than the operand where it can choose: results
// are often kept for another reason, as the operand of a later contraction.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace pipewright {

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// Adds `dx = dy * factor(op, b)`.
template <typename OpTy, typename FactorT>
static void addFactor(GradientRegistry &registry, FactorT factor) {
  registry.add<OpTy>(0, [factor](OpTy op, Value dy, GradientBuilder &b) {
    return b.multiply(dy, factor(op, b));
  });
}

static void registerRoots(GradientRegistry &registry) {
  // d sqrt(x) = 1 / (2 sqrt(x)).
  registry.add<nn::SqrtOp>(0, [](nn::SqrtOp op, Value dy, GradientBuilder &b) {
    return b.divide(b.scale(dy, 0.5), op.getResult());
  });
  // d x^(-1/2) = -1/2 x^(-3/2), the cube of the result.
  addFactor<nn::RsqrtOp>(registry, [](nn::RsqrtOp op, GradientBuilder &b) {
    Value y = op.getResult();
    return b.scale(b.multiply(y, b.multiply(y, y)), -0.5);
  });
  addFactor<nn::ReciprocalOp>(registry,
                              [](nn::ReciprocalOp op, GradientBuilder &b) {
                                Value y = op.getResult();
                                return b.negate(b.multiply(y, y));
                              });
}

static void registerExponentials(GradientRegistry &registry) {
  addFactor<nn::ExpOp>(registry, [](nn::ExpOp op, GradientBuilder &) -> Value {
    return op.getResult();
  });
  registry.add<nn::LogOp>(0, [](nn::LogOp op, Value dy, GradientBuilder &b) {
    return b.divide(dy, op.getOperand());
  });
  // d tanh(x) = 1 - tanh(x)^2.
  addFactor<nn::TanhOp>(registry, [](nn::TanhOp op, GradientBuilder &b) {
    Value y = op.getResult();
    return b.subtract(b.constant(1, y), b.multiply(y, y));
  });
  // d sigmoid(x) = y (1 - y).
  addFactor<nn::SigmoidOp>(registry, [](nn::SigmoidOp op, GradientBuilder &b) {
    Value y = op.getResult();
    return b.multiply(y, b.subtract(b.constant(1, y), y));
  });
  // d (x s(x)) = s (1 + x (1 - s)), with s the sigmoid of x.
  addFactor<nn::SiluOp>(registry, [](nn::SiluOp op, GradientBuilder &b) {
    Value x = op.getOperand();
    Value s = b.create<nn::SigmoidOp>(x), one = b.constant(1, x);
    return b.multiply(s, b.add(one, b.multiply(x, b.subtract(one, s))));
  });
  // d erf(x) = 2 / sqrt(pi) exp(-x^2).
  addFactor<nn::ErfOp>(registry, [](nn::ErfOp op, GradientBuilder &b) {
    Value x = op.getOperand();
    Value gauss = b.create<nn::ExpOp>(b.negate(b.multiply(x, x)));
    return b.scale(gauss, 2 * llvm::numbers::inv_sqrtpi);
  });
}

static void registerOtherUnary(GradientRegistry &registry) {
  registry.add<nn::NegOp>(
      0, [](nn::NegOp, Value dy, GradientBuilder &b) { return b.negate(dy); });
  addFactor<nn::AbsOp>(registry, [](nn::AbsOp op, GradientBuilder &b) -> Value {
    return b.create<nn::SignOp>(op.getOperand());
  });
  addFactor<nn::SinOp>(registry, [](nn::SinOp op, GradientBuilder &b) -> Value {
    return b.create<nn::CosOp>(op.getOperand());
  });
  addFactor<nn::CosOp>(registry, [](nn::CosOp op, GradientBuilder &b) {
    return b.negate(b.create<nn::SinOp>(op.getOperand()));
  });
  registry.add<nn::ReluOp>(0, [](nn::ReluOp op, Value dy, GradientBuilder &b) {
    Value zero = b.constant(0, dy);
    Value passed = b.compare(nn::Comparison::Greater, op.getResult(), zero);
    return b.select(passed, dy, zero);
  });
  registry.add<nn::CastOp>(0, [](nn::CastOp op, Value dy, GradientBuilder &b) {
    return b.castTo(dy, getElementTypeOrSelf(op.getOperand().getType()));
  });
  // Step functions.
  registry.addConstant<nn::SignOp>({0});
  registry.addConstant<nn::FloorOp>({0});
  registry.addConstant<nn::CeilOp>({0});
}

//===----------------------------------------------------------------------===//
// GELU
//===----------------------------------------------------------------------===//

/// d(x P(x)) = P(x) + x p(x), with P and p the normal distribution and its
/// density.
static Value geluErfFactor(Value x, GradientBuilder &b) {
  Value erf = b.create<nn::ErfOp>(b.scale(x, llvm::numbers::sqrt2 / 2));
  Value distribution = b.scale(b.add(erf, b.constant(1, x)), 0.5);
  Value gauss = b.create<nn::ExpOp>(b.scale(b.multiply(x, x), -0.5));
  Value density =
      b.scale(gauss, llvm::numbers::inv_sqrtpi / llvm::numbers::sqrt2);
  return b.add(distribution, b.multiply(x, density));
}

/// With u = k (x + c x^3) and t = tanh(u):
/// d(x/2 (1 + t)) = (1 + t) / 2 + x/2 (1 - t^2) k (1 + 3 c x^2).
static Value geluTanhFactor(Value x, GradientBuilder &b) {
  const double k = std::sqrt(2 * llvm::numbers::inv_pi), c = 0.044715;
  Value one = b.constant(1, x);
  Value square = b.multiply(x, x);
  Value u = b.multiply(b.scale(x, k), b.add(one, b.scale(square, c)));
  Value t = b.create<nn::TanhOp>(u);
  Value du = b.scale(b.add(one, b.scale(square, 3 * c)), k);
  Value dt = b.multiply(b.subtract(one, b.multiply(t, t)), du);
  return b.scale(b.add(b.add(one, t), b.multiply(x, dt)), 0.5);
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

static void registerArithmetic(GradientRegistry &registry) {
  auto pass = [](Operation *, Value dy, GradientBuilder &) { return dy; };
  registry.add<nn::AddOp>(0, pass);
  registry.add<nn::AddOp>(1, pass);
  registry.add<nn::SubOp>(0, pass);
  registry.add<nn::SubOp>(
      1, [](nn::SubOp, Value dy, GradientBuilder &b) { return b.negate(dy); });
  registry.add<nn::MulOp>(0, [](nn::MulOp op, Value dy, GradientBuilder &b) {
    return b.multiply(dy, op.getRhs());
  });
  registry.add<nn::MulOp>(1, [](nn::MulOp op, Value dy, GradientBuilder &b) {
    return b.multiply(dy, op.getLhs());
  });
  registry.add<nn::DivOp>(0, [](nn::DivOp op, Value dy, GradientBuilder &b) {
    return b.divide(dy, op.getRhs());
  });
  // d(a / b) by b = -(a / b) / b, from the result.
  registry.add<nn::DivOp>(1, [](nn::DivOp op, Value dy, GradientBuilder &b) {
    return b.negate(b.divide(b.multiply(dy, op.getResult()), op.getRhs()));
  });
  // mod(a, b) = a - floor(a / b) b.
  registry.add<nn::ModOp>(0, pass);
  registry.add<nn::ModOp>(1, [](nn::ModOp op, Value dy, GradientBuilder &b) {
    Value times = b.create<nn::FloorOp>(b.divide(op.getLhs(), op.getRhs()));
    return b.negate(b.multiply(dy, times));
  });
}

/// d a^b by a = b a^(b-1); 0 if b is 0, also at a = 0, where the power is
/// infinite.
static Value powBaseGradient(nn::PowOp op, Value dy, GradientBuilder &b) {
  Value base = op.getLhs(), exponent = op.getRhs();
  Value zero = b.constant(0, exponent);
  Value power = b.power(base, b.subtract(exponent, b.constant(1, exponent)));
  Value isFlat = b.compare(nn::Comparison::Equal, exponent, zero);
  return b.multiply(dy, b.select(isFlat, zero, b.multiply(exponent, power)));
}

/// d a^b by b = a^b log(a); 0 where a is not positive, as a^b is only defined
/// for whole b there.
static Value powExponentGradient(nn::PowOp op, Value dy, GradientBuilder &b) {
  Value base = op.getLhs();
  Value isPositive =
      b.compare(nn::Comparison::Greater, base, b.constant(0, base));
  Value log =
      b.create<nn::LogOp>(b.select(isPositive, base, b.constant(1, base)));
  return b.multiply(dy, b.multiply(op.getResult(), log));
}

/// The gradient goes to \p operand where it is the extreme, and in halves to
/// both operands where they are equal.
template <typename OpTy>
static Value extremeGradient(OpTy op, unsigned operand, Value dy,
                             GradientBuilder &b) {
  Value mine = op->getOperand(operand), other = op->getOperand(1 - operand);
  auto predicate = std::is_same_v<OpTy, nn::MaxOp> ? nn::Comparison::Greater
                                                   : nn::Comparison::Less;
  Value isEqual = b.compare(nn::Comparison::Equal, mine, other);
  Value shared = b.select(isEqual, b.scale(dy, 0.5), b.constant(0, dy));
  return b.select(b.compare(predicate, mine, other), dy, shared);
}

static void registerOtherBinary(GradientRegistry &registry) {
  registry.add<nn::PowOp>(0, powBaseGradient);
  registry.add<nn::PowOp>(1, powExponentGradient);
  registry.addForEach<nn::MaxOp>(extremeGradient<nn::MaxOp>);
  registry.addForEach<nn::MinOp>(extremeGradient<nn::MinOp>);
}

//===----------------------------------------------------------------------===//
// The family
//===----------------------------------------------------------------------===//

static void registerLogic(GradientRegistry &registry) {
  registry.addConstant<nn::NotOp>({0});
  registry.addConstant<nn::AndOp>({0, 1});
  registry.addConstant<nn::OrOp>({0, 1});
  registry.addConstant<nn::CompareOp>({0, 1});
  registry.addConstant<nn::SelectOp>({0});
  registry.add<nn::SelectOp>(
      1, [](nn::SelectOp op, Value dy, GradientBuilder &b) {
        return b.select(op.getCondition(), dy, b.constant(0, dy));
      });
  registry.add<nn::SelectOp>(
      2, [](nn::SelectOp op, Value dy, GradientBuilder &b) {
        return b.select(op.getCondition(), b.constant(0, dy), dy);
      });
}

void registerElementwise(GradientRegistry &registry) {
  registerRoots(registry);
  registerExponentials(registry);
  registerOtherUnary(registry);
  addFactor<nn::GeluOp>(registry, [](nn::GeluOp op, GradientBuilder &b) {
    return op.getForm() == nn::GeluForm::Erf
               ? geluErfFactor(op.getOperand(), b)
               : geluTanhFactor(op.getOperand(), b);
  });
  registerArithmetic(registry);
  registerOtherBinary(registry);
  registerLogic(registry);
  // Made by differentiation, which is done once.
  registry.addConstant<nn::AccumulateOp>({0, 1});
}

} // namespace pipewright
