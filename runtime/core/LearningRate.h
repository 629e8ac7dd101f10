//===- LearningRate.h - The learning rate of each step ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_LEARNINGRATE_H
#define PPRT_CORE_LEARNINGRATE_H

#include <cstdint>
#include <string_view>

namespace pprt {

struct LearningRateSchedule {
  enum class Shape { Constant, Cosine, Linear };
  Shape shape = Shape::Constant;
  int64_t warmup = 0; ///< steps
};

/// Parses `constant`, `cosine` or `linear`, then `,warmup=N` if wanted.
bool parseSchedule(std::string_view text, LearningRateSchedule &result);

/// The rate of step \p step, from 1, of \p steps.
///
/// It rises by equal amounts over the warm-up, whose last step has \p peak,
/// and then stays or falls: with T steps after the warm-up, step i of them,
/// from 0, has the factor 1, (1 + cos(pi i / T)) / 2 or 1 - i / T.
double getLearningRate(const LearningRateSchedule &schedule, double peak,
                       int64_t step, int64_t steps);

} // namespace pprt

#endif // PPRT_CORE_LEARNINGRATE_H
