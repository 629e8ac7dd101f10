//===- Snippet.h - A few instructions as a kernel ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_PTX_SNIPPET_H
#define PIPEWRIGHT_TEST_UNIT_PTX_SNIPPET_H

#include "Ptx/Machine.h"

#include <gtest/gtest.h>

namespace pipewright::ptx {

/// Instructions that each thread of one block executes. They find the
/// thread's four inputs in %d0 to %d3 (64 bits), the low parts of these in %r0
/// to %r3 (32 bits) and %h0 to %h3 (16 bits), and leave a result in one of
/// %d9, %r9, %h9 and %p9. More registers of these kinds have numbers up to 30;
/// a shared array `buffer` has 1024 bytes.
class Snippet {
public:
  /// \p result is 'd', 'r', 'h' or 'p'.
  Snippet(std::string body, char result)
      : body(std::move(body)), result(result) {}

  /// Runs it for one thread.
  uint64_t operator()(uint64_t a = 0, uint64_t b = 0, uint64_t c = 0,
                      uint64_t d = 0) const;
  /// The results of \p threads threads, whose inputs are their numbers.
  std::vector<uint64_t> forThreads(unsigned threads) const;
  /// Runs it for threads whose inputs are their numbers.
  LaunchResult launch(unsigned threads) const;

  std::string getText() const;

private:
  LaunchResult run(const std::vector<uint64_t> &inputs,
                   std::vector<uint64_t> &results) const;

  std::string body;
  char result;
};

inline uint64_t bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline uint64_t bits(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float toFloat(uint64_t bits) {
  uint32_t low = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &low, sizeof(value));
  return value;
}

inline double toDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_UNIT_PTX_SNIPPET_H
