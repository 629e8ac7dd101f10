//===- Polynomial.cpp - Ops as a polynomial of two values
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Polynomial.h"

#include "Operands.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Polynomial
//===----------------------------------------------------------------------===//

Polynomial Polynomial::constant(double value) {
  Polynomial result;
  result.at(0) = value;
  return result;
}

Polynomial Polynomial::x() {
  Polynomial result;
  result.at(1) = 1;
  return result;
}

Polynomial Polynomial::f() {
  Polynomial result;
  result.at(0, 1) = 1;
  return result;
}

/// Calls `visit(xDegree, fDegree)` for each term.
template <typename Visitor>
static void forEachTerm(Visitor visit) {
  for (int f = 0; f <= Polynomial::maxFDegree; ++f)
    for (int x = 0; x <= Polynomial::maxXDegree; ++x)
      visit(x, f);
}

namespace pipewright {
Polynomial operator+(const Polynomial &a, const Polynomial &b) {
  Polynomial sum;
  forEachTerm([&](int x, int f) { sum.at(x, f) = a.at(x, f) + b.at(x, f); });
  return sum;
}

Polynomial operator*(const Polynomial &a, double factor) {
  Polynomial product;
  forEachTerm([&](int x, int f) { product.at(x, f) = a.at(x, f) * factor; });
  return product;
}
} // namespace pipewright

std::optional<Polynomial> Polynomial::multiply(const Polynomial &a,
                                               const Polynomial &b) {
  Polynomial product;
  bool fits = true;
  forEachTerm([&](int ax, int af) {
    forEachTerm([&](int bx, int bf) {
      double factor = a.at(ax, af) * b.at(bx, bf);
      if (factor == 0)
        return;
      if (ax + bx <= maxXDegree && af + bf <= maxFDegree)
        product.at(ax + bx, af + bf) += factor;
      else
        fits = false;
    });
  });
  if (!fits)
    return std::nullopt;
  return product;
}

bool Polynomial::isClose(const Polynomial &expected, Type type) const {
  bool close = true;
  forEachTerm([&](int x, int f) {
    close &= pipewright::isClose(at(x, f), expected.at(x, f), type);
  });
  return close;
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {
class Expansion {
public:
  Expansion(Value x, Value f) : x(x), f(f) {}

  std::optional<Polynomial> expand(Value value);

private:
  using Result = std::optional<Polynomial>;

  Result expandSum(Value lhs, Value rhs, double sign);
  Result expandProduct(Value lhs, Value rhs);
  Result expandQuotient(Value lhs, Value rhs);
  Result expandPower(Value base, Value exponent);

  Value x, f;
  /// Ops that may still be looked at: values used twice are expanded twice, so
  /// large graphs would take exponential time.
  int budget = 64;
};
} // namespace

std::optional<Polynomial> Expansion::expand(Value value) {
  if (value == x)
    return Polynomial::x();
  if (value == f)
    return Polynomial::f();
  if (std::optional<double> splat = getSplat(value))
    return Polynomial::constant(*splat);
  Operation *op = value.getDefiningOp();
  if (!op || --budget < 0)
    return std::nullopt;
  return TypeSwitch<Operation *, Result>(op)
      .Case(
          [&](nn::AddOp op) { return expandSum(op.getLhs(), op.getRhs(), 1); })
      .Case(
          [&](nn::SubOp op) { return expandSum(op.getLhs(), op.getRhs(), -1); })
      .Case([&](nn::NegOp op) -> Result {
        Result operand = expand(op.getOperand());
        if (!operand)
          return std::nullopt;
        return *operand * -1;
      })
      .Case(
          [&](nn::MulOp op) { return expandProduct(op.getLhs(), op.getRhs()); })
      .Case([&](nn::DivOp op) {
        return expandQuotient(op.getLhs(), op.getRhs());
      })
      .Case([&](nn::PowOp op) { return expandPower(op.getLhs(), op.getRhs()); })
      .Default(Result());
}

std::optional<Polynomial> Expansion::expandSum(Value lhs, Value rhs,
                                               double sign) {
  Result a = expand(lhs), b = expand(rhs);
  if (!a || !b)
    return std::nullopt;
  return *a + *b * sign;
}

std::optional<Polynomial> Expansion::expandProduct(Value lhs, Value rhs) {
  Result a = expand(lhs), b = expand(rhs);
  if (!a || !b)
    return std::nullopt;
  return Polynomial::multiply(*a, *b);
}

std::optional<Polynomial> Expansion::expandQuotient(Value lhs, Value rhs) {
  std::optional<double> divisor = getSplat(rhs);
  Result dividend = expand(lhs);
  if (!dividend || !divisor || *divisor == 0)
    return std::nullopt;
  return *dividend * (1 / *divisor);
}

std::optional<Polynomial> Expansion::expandPower(Value base, Value exponent) {
  std::optional<double> power = getSplat(exponent);
  if (!power || (*power != 2 && *power != 3))
    return std::nullopt;
  Result factor = expand(base);
  if (!factor)
    return std::nullopt;
  Result product = Polynomial::multiply(*factor, *factor);
  if (!product || *power == 2)
    return product;
  return Polynomial::multiply(*product, *factor);
}

std::optional<Polynomial> pipewright::expand(Value value, Value x, Value f) {
  return Expansion(x, f).expand(value);
}
