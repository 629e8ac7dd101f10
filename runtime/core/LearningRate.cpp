//===- LearningRate.cpp - The learning rate of each step ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LearningRate.h"
#include "Numbers.h"

#include <cmath>

using namespace pprt;

bool pprt::parseSchedule(std::string_view text, LearningRateSchedule &result) {
  std::string_view shape = text.substr(0, text.find(','));
  if (shape == "constant")
    result.shape = LearningRateSchedule::Shape::Constant;
  else if (shape == "cosine")
    result.shape = LearningRateSchedule::Shape::Cosine;
  else if (shape == "linear")
    result.shape = LearningRateSchedule::Shape::Linear;
  else
    return false;

  text.remove_prefix(shape.size());
  if (text.empty())
    return true;
  constexpr std::string_view warmup = ",warmup=";
  if (text.substr(0, warmup.size()) != warmup)
    return false;
  return parseInteger<int64_t>(text.substr(warmup.size()), 0, result.warmup);
}

double pprt::getLearningRate(const LearningRateSchedule &schedule, double peak,
                             int64_t step, int64_t steps) {
  if (step <= schedule.warmup)
    return peak * step / schedule.warmup;
  double done = double(step - 1 - schedule.warmup) / (steps - schedule.warmup);
  switch (schedule.shape) {
  case LearningRateSchedule::Shape::Constant:
    return peak;
  case LearningRateSchedule::Shape::Cosine:
    return peak * 0.5 * (1 + std::cos(3.14159265358979323846 * done));
  case LearningRateSchedule::Shape::Linear:
    return peak * (1 - done);
  }
  return peak;
}
