//===- WhatIf.h - How a plan fares on another machine -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_WHATIF_H
#define PIPEWRIGHT_DRIVER_WHATIF_H

#include "pipewright/Driver/StepModel.h"

namespace pipewright {

/// Where the time of a step goes.
struct JudgedStep {
  double seconds = 0;
  double samplesPerSecond = 0;
  /// The rank that computes longest, and for how long.
  int64_t busiestRank = 0;
  double computingSeconds = 0;
  /// What the step would be faster if messages took no time.
  double messageSeconds = 0;
  /// What else the busiest rank waits: the pipeline fills and drains.
  double waitingSeconds = 0;
  double updateSeconds = 0;

  /// "rank 3 computes", "messages", "filling and draining": the largest part.
  std::string describeLimit() const;
};

JudgedStep judgeStep(const StepModel &model);

/// \p model with changes such as `link.bandwidth=x0.5`. A value of `x` and a
/// number multiplies what there is; others replace it:
///
///   link.latency, link.bandwidth            seconds, bytes per second: all
///   link.NAME.latency, link.NAME.bandwidth  links, or a topology's by name
///   rank.N.speed                            part of its speed that is left
///   microbatches                            of a step, of the same size
///   overhead                                seconds to launch an action
///
/// The error names the change and what is wrong with it.
llvm::Expected<StepModel> applyChanges(StepModel model,
                                       llvm::ArrayRef<std::string> changes);

/// What one may ask of \p model first: half the bandwidth, twice the latency,
/// 80 % of the speed of the rank whose speed matters most, half as many
/// micro-batches; those that mean something to it.
std::vector<std::string> listUsualChanges(const StepModel &model);

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_WHATIF_H
