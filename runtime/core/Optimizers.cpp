//===- Optimizers.cpp - How parameters follow their gradients -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The loops are written for the vectorizer. Each element's arithmetic is the
// same in a vector and alone: no product is contracted into a sum (see the
// compile options), so results do not depend on where a loop begins.
//
//===----------------------------------------------------------------------===//

#include "Optimizers.h"

#include <cmath>

using namespace pprt;

template <typename RealTy>
double pprt::sumSquares(const RealTy *values, int64_t count) {
  // Element i is added to lane i mod 8: vectorizable, and one fixed order.
  constexpr int64_t laneCount = 8;
  double lanes[laneCount] = {};
  int64_t whole = count / laneCount * laneCount;
  for (int64_t i = 0; i < whole; i += laneCount)
    for (int64_t lane = 0; lane < laneCount; ++lane)
      lanes[lane] += double(values[i + lane]) * values[i + lane];
  for (int64_t i = whole; i < count; ++i)
    lanes[i - whole] += double(values[i]) * values[i];
  double sum = 0;
  for (double lane : lanes)
    sum += lane;
  return sum;
}

template <typename RealTy>
void pprt::addTo(RealTy *__restrict target, const RealTy *__restrict addend,
                 int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    target[i] += addend[i];
}

template <typename RealTy>
void Sgd<RealTy>::update(RealTy *__restrict parameter,
                         const RealTy *__restrict gradient,
                         RealTy *__restrict velocity, int64_t count) const {
  for (int64_t i = 0; i < count; ++i) {
    RealTy slope = gradient[i] * gradientScale + weightDecay * parameter[i];
    // Without momentum the velocity is the gradient.
    velocity[i] = momentum * velocity[i] + slope;
    parameter[i] -= learningRate * velocity[i];
  }
}

template <typename RealTy>
AdamW<RealTy>::AdamW(double learningRate, double beta1, double beta2,
                     double epsilon, double weightDecay, double gradientScale,
                     int64_t step)
    : decay(1 - learningRate * weightDecay), beta1(beta1),
      oneMinusBeta1(1 - beta1), beta2(beta2), oneMinusBeta2(1 - beta2),
      stepSize(learningRate / (1 - std::pow(beta1, step))),
      inverseSquareBias(1 / std::sqrt(1 - std::pow(beta2, step))),
      epsilon(epsilon), gradientScale(gradientScale) {}

template <typename RealTy>
void AdamW<RealTy>::update(RealTy *__restrict parameter,
                           const RealTy *__restrict gradient,
                           RealTy *__restrict mean, RealTy *__restrict square,
                           int64_t count) const {
  for (int64_t i = 0; i < count; ++i) {
    RealTy slope = gradient[i] * gradientScale;
    mean[i] = beta1 * mean[i] + oneMinusBeta1 * slope;
    square[i] = beta2 * square[i] + oneMinusBeta2 * (slope * slope);
    RealTy root = std::sqrt(square[i]) * inverseSquareBias + epsilon;
    parameter[i] = parameter[i] * decay - stepSize * (mean[i] / root);
  }
}

template double pprt::sumSquares(const float *, int64_t);
template double pprt::sumSquares(const double *, int64_t);
template void pprt::addTo(float *, const float *, int64_t);
template void pprt::addTo(double *, const double *, int64_t);
template struct pprt::Sgd<float>;
template struct pprt::Sgd<double>;
template struct pprt::AdamW<float>;
template struct pprt::AdamW<double>;
