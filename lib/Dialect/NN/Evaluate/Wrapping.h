//===- Wrapping.h - Sums and products that wrap around ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers wrap around as they do in the compiled code, where signed overflow
// would be undefined in C++.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_WRAPPING_H
#define PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_WRAPPING_H

#include <cstdint>

namespace pipewright::nn {

struct Sum {
  double operator()(double a, double b) const { return a + b; }
  int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
  }
};

struct Difference {
  double operator()(double a, double b) const { return a - b; }
  int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
  }
};

struct Product {
  double operator()(double a, double b) const { return a * b; }
  int64_t operator()(int64_t a, int64_t b) const {
    return static_cast<uint64_t>(a) * static_cast<uint64_t>(b);
  }
};

} // namespace pipewright::nn

#endif // PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_WRAPPING_H
