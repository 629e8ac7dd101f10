//===- Polynomial.h - Ops as a polynomial of two values ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums and products can be written in many orders. Ops that compute the same
// polynomial compute the same, however they are written.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_POLYNOMIAL_H
#define PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_POLYNOMIAL_H

#include "pipewright/Dialect/NN/NN.h"

#include <array>
#include <optional>

namespace pipewright {

/// A polynomial in x and f, of degrees up to 3 and 1.
class Polynomial {
public:
  static constexpr int maxXDegree = 3;
  static constexpr int maxFDegree = 1;

  static Polynomial constant(double value);
  static Polynomial x();
  static Polynomial f();

  /// The factor of x^\p xDegree f^\p fDegree.
  double &at(int xDegree, int fDegree = 0) { return factors[fDegree][xDegree]; }
  double at(int xDegree, int fDegree = 0) const {
    return factors[fDegree][xDegree];
  }

  friend Polynomial operator+(const Polynomial &a, const Polynomial &b);
  friend Polynomial operator*(const Polynomial &a, double factor);

  /// The product, or nothing where its degree is too high.
  static std::optional<Polynomial> multiply(const Polynomial &a,
                                            const Polynomial &b);

  /// Whether all factors are those of \p expected, up to the rounding of
  /// constants of element type \p type.
  bool isClose(const Polynomial &expected, mlir::Type type) const;

private:
  std::array<std::array<double, maxXDegree + 1>, maxFDegree + 1> factors = {};
};

/// Writes \p value as a polynomial of \p x and \p f (which may be null), or
/// nothing if it is computed otherwise.
std::optional<Polynomial> expand(mlir::Value value, mlir::Value x,
                                 mlir::Value f);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_POLYNOMIAL_H
