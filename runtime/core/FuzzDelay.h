//===- FuzzDelay.h - Random delays, to find races ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_FUZZDELAY_H
#define PPRT_CORE_FUZZDELAY_H

#include <cstdint>
#include <optional>

namespace pprt {

/// Makes a rank late at random before its actions, so that a run meets orders
/// of events that it would hardly ever meet otherwise. Most delays are short,
/// a few are longer than any task of a small model.
class FuzzDelay {
public:
  static constexpr int64_t longestMicroseconds = 4000;

  /// Without a seed there are no delays. With one they are a function of seed,
  /// rank and the number of calls.
  FuzzDelay(std::optional<uint64_t> seed, uint32_t rank);

  /// How long the next action is put off.
  int64_t drawMicroseconds();
  /// Waits that long.
  void wait();

private:
  bool isOn;
  uint64_t state;
};

} // namespace pprt

#endif // PPRT_CORE_FUZZDELAY_H
