//===- Optimizers.h - How parameters follow their gradients -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_OPTIMIZERS_H
#define PPRT_CORE_OPTIMIZERS_H

#include <cstdint>

namespace pprt {

/// The sum of the squares of \p count numbers, always added in the same order.
double sumSquares(const float *values, int64_t count);

/// target += addend
void addTo(float *target, const float *addend, int64_t count);

/// Stochastic gradient descent as in PyTorch: weight decay added to the
/// gradient, momentum without dampening.
struct Sgd {
  float learningRate;
  float momentum;
  float weightDecay;
  float gradientScale; ///< multiplied with each gradient

  void update(float *parameter, const float *gradient, float *velocity,
              int64_t count) const;
};

/// Adam with decoupled weight decay and bias correction (Loshchilov and
/// Hutter, ICLR 2019), as in PyTorch.
struct AdamW {
  /// \p step is from 1.
  AdamW(double learningRate, double beta1, double beta2, double epsilon,
        double weightDecay, double gradientScale, int64_t step);

  void update(float *parameter, const float *gradient, float *mean,
              float *square, int64_t count) const;

private:
  float decay; ///< 1 - learning rate * weight decay
  float beta1, oneMinusBeta1;
  float beta2, oneMinusBeta2;
  float stepSize;          ///< learning rate / bias correction of the mean
  float inverseSquareBias; ///< 1 / root of the bias correction of the square
  float epsilon;
  float gradientScale;
};

} // namespace pprt

#endif // PPRT_CORE_OPTIMIZERS_H
