//===- Optimizers.h - How parameters follow their gradients -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_OPTIMIZERS_H
#define PPRT_CORE_OPTIMIZERS_H

#include <cstdint>

namespace pprt {

// Parameters are of f32 or, in a model of f64, of f64; so is all that belongs
// to them.

/// The sum of the squares of \p count numbers, always added in the same order.
template <typename RealTy>
double sumSquares(const RealTy *values, int64_t count);

/// target += addend
template <typename RealTy>
void addTo(RealTy *target, const RealTy *addend, int64_t count);

/// Stochastic gradient descent as in PyTorch: weight decay added to the
/// gradient, momentum without dampening.
template <typename RealTy>
struct Sgd {
  RealTy learningRate;
  RealTy momentum;
  RealTy weightDecay;
  RealTy gradientScale; ///< multiplied with each gradient

  void update(RealTy *parameter, const RealTy *gradient, RealTy *velocity,
              int64_t count) const;
};

/// Adam with decoupled weight decay and bias correction (Loshchilov and
/// Hutter, ICLR 2019), as in PyTorch.
template <typename RealTy>
struct AdamW {
  /// \p step is from 1.
  AdamW(double learningRate, double beta1, double beta2, double epsilon,
        double weightDecay, double gradientScale, int64_t step);

  void update(RealTy *parameter, const RealTy *gradient, RealTy *mean,
              RealTy *square, int64_t count) const;

private:
  RealTy decay; ///< 1 - learning rate * weight decay
  RealTy beta1, oneMinusBeta1;
  RealTy beta2, oneMinusBeta2;
  RealTy stepSize;          ///< learning rate / bias correction of the mean
  RealTy inverseSquareBias; ///< 1 / root of the bias correction of the square
  RealTy epsilon;
  RealTy gradientScale;
};

extern template struct Sgd<float>;
extern template struct Sgd<double>;
extern template struct AdamW<float>;
extern template struct AdamW<double>;

} // namespace pprt

#endif // PPRT_CORE_OPTIMIZERS_H
