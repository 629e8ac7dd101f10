//===- LossScale.cpp - The factor of the loss's gradient ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LossScale.h"
#include "Numbers.h"

#include <algorithm>
#include <limits>

using namespace pprt;
using std::string_view;

/// Parses a number of at least \p least that f32 can hold.
static bool parseScale(string_view text, float least, float &result) {
  double number;
  if (!parseReal(text, least, number) ||
      number > std::numeric_limits<float>::max())
    return false;
  result = static_cast<float>(number);
  return true;
}

/// Parses `init=N` or `growth-interval=N`.
static bool parseSetting(string_view text, LossScaleOptions &result) {
  string_view name = text.substr(0, text.find('='));
  if (name.size() == text.size())
    return false;
  string_view value = text.substr(name.size() + 1);
  if (name == "init")
    return parseScale(value, LossScale::smallest, result.initial);
  return name == "growth-interval" &&
         parseInteger<int64_t>(value, 1, result.growthInterval);
}

bool pprt::parseLossScale(string_view text, LossScaleOptions &result) {
  result = LossScaleOptions();
  string_view kind = text.substr(0, text.find(','));
  if (kind != "dynamic")
    return parseScale(text, std::numeric_limits<float>::min(), result.initial);

  result.dynamic = true;
  result.initial = 65536;
  for (text.remove_prefix(kind.size()); !text.empty();) {
    text.remove_prefix(1); // The comma.
    string_view setting = text.substr(0, text.find(','));
    if (!parseSetting(setting, result))
      return false;
    text.remove_prefix(setting.size());
  }
  return true;
}

void LossScale::update(bool overflowed) {
  if (!options.dynamic)
    return;
  if (overflowed) {
    scale = std::max(smallest, scale / 2);
    goodSteps = 0;
    return;
  }
  if (++goodSteps < options.growthInterval)
    return;
  goodSteps = 0;
  if (scale <= std::numeric_limits<float>::max() / 2)
    scale *= 2;
}
