//===- LossScale.h - The factor of the loss's gradient ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients that pass through 16 bit on their way lose what is too small for
// them. All gradients are linear in that of the loss: it is multiplied by a
// scale before the backward pass, and the gradients are divided by it before
// anything is done with them. A power of two changes no bit of a result that
// neither over- nor underflows.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_CORE_LOSSSCALE_H
#define PPRT_CORE_LOSSSCALE_H

#include <cstdint>
#include <string_view>

namespace pprt {

/// The constants of a dynamic scale are those of PyTorch's
/// torch.amp.GradScaler: it starts at 2^16, and a change halves it or, after
/// 2000 steps, doubles it.
struct LossScaleOptions {
  float initial = 1;
  bool dynamic = false;
  int64_t growthInterval = 2000; ///< steps

  bool isUsed() const { return dynamic || initial != 1; }
};

/// Parses a positive number, for a scale that stays, or `dynamic`, then
/// `,init=N` (at least 1) and `,growth-interval=N` if wanted.
bool parseLossScale(std::string_view text, LossScaleOptions &result);

/// The scale of each step, which a dynamic one finds by itself: half of it
/// after a step whose gradients overflow, twice as much after so many steps in
/// a row whose gradients do not.
///
/// It depends on nothing but the steps' outcomes, so ranks that agree on these
/// agree on it.
class LossScale {
public:
  /// GradScaler has no such limit, and a run whose gradients are infinite for
  /// another reason ends with a scale of 0. Below 1 a scale only loses bits.
  static constexpr float smallest = 1;

  explicit LossScale(const LossScaleOptions &options)
      : options(options), scale(options.initial) {}

  /// Of the step that runs.
  float get() const { return scale; }
  bool canFall() const { return options.dynamic && scale > smallest; }
  /// Ends a step.
  void update(bool overflowed);

private:
  LossScaleOptions options;
  float scale;
  int64_t goodSteps = 0; ///< in a row, since the scale changed
};

} // namespace pprt

#endif // PPRT_CORE_LOSSSCALE_H
