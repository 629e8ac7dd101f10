//===- Trigonometry.cpp - Circular and hyperbolic functions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Composed of functions that `nn` has, so that nothing is lost where results
// are small. A sign is split off by a selection and not by `nn.abs`, whose
// gradient at 0 is 0 where that of an odd function is not. Sides of a selection
// that are not taken are given operands for which they are finite, as in
// Activation.cpp.
//
//===----------------------------------------------------------------------===//

#include "../Activations.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

static constexpr double pi = 3.14159265358979323846;

/// A result that is one formula on one operand.
using Formula = Value (*)(NNBuilder &b, Value x);

template <Formula formula>
static FailureOr<Value> importFormula(OnnxNode &node) {
  return formula(node.getBuilder(), node.operand(0));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value add(NNBuilder &b, Value x, double y) {
  return b.create<nn::AddOp>(x, b.splatLike(x, y));
}
static Value negate(NNBuilder &b, Value x) { return b.create<nn::NegOp>(x); }
static Value multiply(NNBuilder &b, Value x, Value y) {
  return b.create<nn::MulOp>(x, y);
}
static Value divide(NNBuilder &b, Value x, Value y) {
  return b.create<nn::DivOp>(x, y);
}
static Value select(NNBuilder &b, Value condition, Value onTrue,
                    Value onFalse) {
  return b.create<nn::SelectOp>(onTrue.getType(), condition, onTrue, onFalse);
}
static Value isAbove(NNBuilder &b, Value x, double bound) {
  return b.compare(nn::Comparison::Greater, x, b.splatLike(x, bound));
}

/// sign(x) of the \p formula at |x|.
static Value applyOdd(NNBuilder &b, Value x,
                      llvm::function_ref<Value(Value)> formula) {
  Value isNegative = b.compare(nn::Comparison::Less, x, b.splatLike(x, 0.0));
  Value y = formula(select(b, isNegative, negate(b, x), x));
  return select(b, isNegative, negate(b, y), y);
}

/// ln(1 + x). What 1 + x has lost of x is made up for by the quotient of the
/// two (Goldberg, What Every Computer Scientist Should Know About
/// Floating-Point Arithmetic, theorem 4).
static Value log1p(NNBuilder &b, Value x) {
  Value sum = add(b, x, 1.0);
  Value kept = add(b, sum, -1.0);
  Value isLost = b.compare(nn::Comparison::Equal, kept, b.splatLike(kept, 0.0));
  Value divisor = select(b, isLost, b.splatLike(kept, 1.0), kept);
  Value log = multiply(b, b.create<nn::LogOp>(sum), divide(b, x, divisor));
  return select(b, isLost, x, log);
}

/// The \p formula at x while its square counts beside 1; from there on ln 2x,
/// which is the same to the last bit and whose operand is no square that may
/// overflow.
static Value replaceByLogarithm(NNBuilder &b, Value x,
                                llvm::function_ref<Value(Value)> formula) {
  auto element = cast<FloatType>(getElementType(x));
  double bound = std::ldexp(
      1.0, APFloat::semanticsPrecision(element.getFloatSemantics()) / 2 + 1);
  Value least = b.create<nn::MaxOp>(x, b.splatLike(x, 1.0));
  Value far = add(b, b.create<nn::LogOp>(least), std::log(2.0));
  return select(b, isAbove(b, x, bound), far, formula(clampAbove(b, x, bound)));
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

/// (e^x + e^-x) / 2.
static Value cosh(NNBuilder &b, Value x) {
  Value grows = b.create<nn::ExpOp>(x),
        falls = b.create<nn::ExpOp>(negate(b, x));
  return b.scale(b.create<nn::AddOp>(grows, falls), 0.5);
}

/// 2 sinh(x/2) cosh(x/2), the first as tanh(x/2) cosh(x/2): the difference of
/// two exponentials would lose what is small.
static Value sinh(NNBuilder &b, Value x) {
  Value half = b.scale(x, 0.5), cosine = cosh(b, half);
  Value tangent = b.create<nn::TanhOp>(half);
  return multiply(b, multiply(b, b.scale(tangent, 2.0), cosine), cosine);
}

static Value asinh(NNBuilder &b, Value x) {
  // ln(x + r) with r = sqrt(1 + x^2), where r - 1 = x^2 / (1 + r).
  return applyOdd(b, x, [&](Value x) {
    return replaceByLogarithm(b, x, [&](Value x) {
      Value square = multiply(b, x, x);
      Value root = b.create<nn::SqrtOp>(add(b, square, 1.0));
      Value beyond = divide(b, square, add(b, root, 1.0));
      return log1p(b, b.create<nn::AddOp>(x, beyond));
    });
  });
}

static Value acosh(NNBuilder &b, Value x) {
  // ln(x + sqrt(x^2 - 1)), of the distance from 1.
  return replaceByLogarithm(b, x, [&](Value x) {
    Value beyond = add(b, x, -1.0);
    Value square = multiply(b, beyond, add(b, x, 1.0));
    return log1p(b, b.create<nn::AddOp>(beyond, b.create<nn::SqrtOp>(square)));
  });
}

static Value atanh(NNBuilder &b, Value x) {
  return b.scale(b.create<nn::SubOp>(log1p(b, x), log1p(b, negate(b, x))), 0.5);
}

//===----------------------------------------------------------------------===//
// Circular functions
//===----------------------------------------------------------------------===//

static Value tan(NNBuilder &b, Value x) {
  return divide(b, b.create<nn::SinOp>(x), b.create<nn::CosOp>(x));
}

/// atan(z) for |z| <= tan(pi / 8), as z times a polynomial in z^2: the least
/// squares at Chebyshev points, within 3e-14 of the value.
static Value atanNearZero(NNBuilder &b, Value z) {
  static constexpr double coefficients[] = {
      0.9999999999999744,   -0.3333333333087223,  0.1999999961331687,
      -0.14285690816305052, 0.11110394022548743,  -0.09078503586365762,
      0.07564471247616905,  -0.05877258532559011, 0.03070255656264723};
  Value square = multiply(b, z, z);
  Value sum = b.splatLike(z, std::end(coefficients)[-1]);
  for (double coefficient :
       llvm::reverse(ArrayRef<double>(coefficients).drop_back()))
    sum = add(b, multiply(b, sum, square), coefficient);
  return multiply(b, z, sum);
}

/// By atan(x) = pi/4 + atan((x - 1) / (x + 1)) = pi/2 + atan(-1 / x).
static Value atan(NNBuilder &b, Value x) {
  return applyOdd(b, x, [&](Value x) {
    Value isMiddle = isAbove(b, x, std::tan(pi / 8));
    Value isFar = isAbove(b, x, std::tan(3 * pi / 8));
    auto choose = [&](Value far, Value middle, Value near) {
      return select(b, isFar, far, select(b, isMiddle, middle, near));
    };
    Value one = b.splatLike(x, 1.0);
    Value numerator = choose(b.splatLike(x, -1.0), add(b, x, -1.0), x);
    Value denominator = choose(x, add(b, x, 1.0), one);
    Value start = choose(b.splatLike(x, pi / 2), b.splatLike(x, pi / 4),
                         b.splatLike(x, 0.0));
    Value rest = atanNearZero(b, divide(b, numerator, denominator));
    return b.create<nn::AddOp>(start, rest);
  });
}

/// 2 atan(x / (1 + sqrt(1 - x^2))).
static Value asin(NNBuilder &b, Value x) {
  Value square = multiply(b, add(b, negate(b, x), 1.0), add(b, x, 1.0));
  Value root = b.create<nn::SqrtOp>(square);
  return b.scale(atan(b, divide(b, x, add(b, root, 1.0))), 2.0);
}

/// 2 atan(sqrt((1 - x) / (1 + x))).
static Value acos(NNBuilder &b, Value x) {
  Value quotient = divide(b, add(b, negate(b, x), 1.0), add(b, x, 1.0));
  return b.scale(atan(b, b.create<nn::SqrtOp>(quotient)), 2.0);
}

namespace pipewright {
void registerTrigonometry(OnnxOpRegistry &registry) {
  registry.add("Acos", /*since=*/7, 1, importFormula<acos>);
  registry.add("Acosh", /*since=*/9, 1, importFormula<acosh>);
  registry.add("Asin", /*since=*/7, 1, importFormula<asin>);
  registry.add("Asinh", /*since=*/9, 1, importFormula<asinh>);
  registry.add("Atan", /*since=*/7, 1, importFormula<atan>);
  registry.add("Atanh", /*since=*/9, 1, importFormula<atanh>);
  registry.add("Cosh", /*since=*/9, 1, importFormula<cosh>);
  registry.add("Sinh", /*since=*/9, 1, importFormula<sinh>);
  registry.add("Tan", /*since=*/7, 1, importFormula<tan>);
}
} // namespace pipewright
