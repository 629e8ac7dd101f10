//===- FuzzDelay.cpp - Random delays, to find races -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzDelay.h"
#include "Random.h"

#include <chrono>
#include <thread>

using namespace pprt;

FuzzDelay::FuzzDelay(std::optional<uint64_t> seed, uint32_t rank)
    : isOn(seed.has_value()), state(mix(seed.value_or(0), rank)) {}

int64_t FuzzDelay::drawMicroseconds() {
  if (!isOn)
    return 0;
  state = mix(state, 0);
  // The fourth power of a number below 1: half of the delays are shorter than
  // a sixteenth of the longest, a fifth of the longest is the mean.
  double fraction = static_cast<double>(state >> 11) / (UINT64_C(1) << 53);
  double squared = fraction * fraction;
  return static_cast<int64_t>(squared * squared * longestMicroseconds);
}

void FuzzDelay::wait() {
  if (int64_t delay = drawMicroseconds())
    std::this_thread::sleep_for(std::chrono::microseconds(delay));
}
