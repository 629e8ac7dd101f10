//===- Numbers.h - Numbers as text, both ways -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_NUMBERS_H
#define PPRT_CORE_NUMBERS_H

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace pprt {

/// Parses all of \p text as a number of at least \p least.
template <typename IntegerTy>
bool parseInteger(std::string_view text, IntegerTy least, IntegerTy &result) {
  const char *end = text.data() + text.size();
  auto [last, error] = std::from_chars(text.data(), end, result);
  return error == std::errc() && last == end && result >= least;
}

/// Parses all of \p text as a finite number of at least \p least.
inline bool parseReal(std::string_view text, double least, double &result) {
  const char *end = text.data() + text.size();
  auto [last, error] = std::from_chars(text.data(), end, result);
  return error == std::errc() && last == end && std::isfinite(result) &&
         result >= least;
}

/// The shortest text that reads back to the same value. Values that JSON has
/// no name for are spelled as Python's json module does.
template <typename RealTy>
std::string formatReal(RealTy value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return value > 0 ? "Infinity" : "-Infinity";
  char text[64];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

} // namespace pprt

#endif // PPRT_CORE_NUMBERS_H
