//===- Numbers.cpp - Elements of any type ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbers.h"

#include <cmath>
#include <cstdint>
#include <cstring>

using namespace cudadouble;

size_t cudadouble::getBytes(NumberType type) {
  switch (type) {
  case NumberType::F16:
  case NumberType::BF16:
    return 2;
  case NumberType::F32:
  case NumberType::I32:
    return 4;
  case NumberType::F64:
  case NumberType::I64:
    return 8;
  }
  return 0;
}

template <typename T>
static double readAs(const void *data, size_t index) {
  T value;
  memcpy(&value, static_cast<const char *>(data) + index * sizeof value,
         sizeof value);
  return static_cast<double>(value);
}

template <typename T>
static void writeAs(void *data, size_t index, double number) {
  T value = static_cast<T>(number);
  memcpy(static_cast<char *>(data) + index * sizeof value, &value,
         sizeof value);
}

namespace {
/// The upper half of a float.
struct BFloat16 {
  BFloat16() = default;
  explicit BFloat16(double number) {
    // By way of a float that rounds to odd, which is rounded once more.
    auto narrow = static_cast<float>(number);
    uint32_t word;
    memcpy(&word, &narrow, sizeof word);
    bool isAbove = (number > 0) == (double(narrow) > number);
    if (double(narrow) != number && !(word & 1))
      word += isAbove ? -1 : 1;
    word += 0x7FFF + ((word >> 16) & 1);
    bits = static_cast<uint16_t>(word >> 16);
  }
  explicit operator double() const {
    uint32_t word = uint32_t(bits) << 16;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
  }

  uint16_t bits;
};
} // namespace

double cudadouble::readNumber(const void *data, size_t index, NumberType type) {
  switch (type) {
  case NumberType::F16:
    return readAs<_Float16>(data, index);
  case NumberType::BF16:
    return readAs<BFloat16>(data, index);
  case NumberType::F32:
    return readAs<float>(data, index);
  case NumberType::F64:
    return readAs<double>(data, index);
  case NumberType::I32:
    return readAs<int32_t>(data, index);
  case NumberType::I64:
    return readAs<int64_t>(data, index);
  }
  return 0;
}

void cudadouble::writeNumber(void *data, size_t index, NumberType type,
                             double value) {
  switch (type) {
  case NumberType::F16:
    return writeAs<_Float16>(data, index, value);
  case NumberType::BF16:
    return writeAs<BFloat16>(data, index, value);
  case NumberType::F32:
    return writeAs<float>(data, index, value);
  case NumberType::F64:
    return writeAs<double>(data, index, value);
  case NumberType::I32:
    return writeAs<int32_t>(data, index, value);
  case NumberType::I64:
    return writeAs<int64_t>(data, index, value);
  }
}

double cudadouble::roundToTf32(double value) {
  int exponent;
  double fraction = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11);
}
