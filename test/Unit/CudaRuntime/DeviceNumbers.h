//===- DeviceNumbers.h - Numbers of all types for a device ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDARUNTIME_DEVICENUMBERS_H
#define CUDARUNTIME_DEVICENUMBERS_H

#include "core/Half.h"

#include <cstdint>
#include <vector>

namespace pprt::cuda {

/// `number(i)` for each i below \p count, rounded to \p T.
template <typename T, typename NumberT>
std::vector<T> encodeEach(int64_t count, NumberT number) {
  std::vector<T> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    fromFloat(number(i), numbers[i]);
  return numbers;
}

/// Small whole numbers and halves, whose products and sums every type has.
template <typename T>
std::vector<T> makeHalves(int64_t count, int64_t seed) {
  return encodeEach<T>(
      count, [=](int64_t i) { return float((seed + i * i) % 5) / 2 - 1; });
}

template <typename T>
double decode(T number) {
  return toFloat(number);
}

template <typename T>
std::vector<double> decodeAll(const std::vector<T> &numbers) {
  std::vector<double> decoded;
  for (T number : numbers)
    decoded.push_back(decode(number));
  return decoded;
}

/// What is in memory, as the functions have it.
template <typename T>
uint16_t *asWords(T *numbers) {
  return reinterpret_cast<uint16_t *>(numbers);
}
inline float *asWords(float *numbers) { return numbers; }

} // namespace pprt::cuda

#endif // CUDARUNTIME_DEVICENUMBERS_H
