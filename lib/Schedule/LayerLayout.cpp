//===- LayerLayout.cpp - Megatron's pipeline layouts
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/LayerLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipewright;

static constexpr char stageEnd = '|';
static constexpr StringLiteral layerLetters = "EtmL";

/// Letters and stage ends of the longest layout; models have far fewer.
static constexpr uint64_t maxLayoutLength = 1 << 20;

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

namespace {
/// Writes repetitions out, so that only letters and stage ends are left.
class LayoutExpander {
public:
  explicit LayoutExpander(StringRef text) : text(text) {}

  Expected<std::string> run();

private:
  bool isAtEnd() const { return position == text.size(); }
  Error parseItem();
  Error parseUnit();
  Error parseGroup();
  /// Repeats what was written from \p begin on as often as a '*' says.
  Error parseRepetition(size_t begin);
  Error makeError(const Twine &message) const {
    return createStringError("layout, character " + Twine(position + 1) + ": " +
                             message);
  }

  StringRef text;
  size_t position = 0;
  bool isInGroup = false;
  std::string result;
};
} // namespace

Expected<std::string> LayoutExpander::run() {
  while (!isAtEnd())
    if (Error error = parseItem())
      return error;
  return std::move(result);
}

Error LayoutExpander::parseItem() {
  if (text[position] == ',') {
    ++position;
    return Error::success();
  }
  size_t begin = result.size();
  bool isGroup = text[position] == '(';
  if (Error error = isGroup ? parseGroup() : parseUnit())
    return error;
  if (!isAtEnd() && text[position] == '*')
    return parseRepetition(begin);
  return isGroup ? makeError("expected '*' and a number after a group")
                 : Error::success();
}

Error LayoutExpander::parseUnit() {
  char unit = text[position];
  if (unit != stageEnd && !layerLetters.contains(unit)) {
    std::string shown;
    raw_string_ostream(shown).write_escaped(StringRef(&unit, 1));
    return makeError("'" + shown +
                     "' is no layer; expected E, t, m or L, '|' between "
                     "stages, or a group such as (tt|)*4");
  }
  ++position;
  result += unit;
  return Error::success();
}

Error LayoutExpander::parseGroup() {
  if (isInGroup)
    return makeError("groups do not nest");
  isInGroup = true;
  ++position;
  while (!isAtEnd() && text[position] != ')')
    if (Error error = parseItem())
      return error;
  if (isAtEnd())
    return makeError("expected ')'");
  isInGroup = false;
  ++position;
  return Error::success();
}

Error LayoutExpander::parseRepetition(size_t begin) {
  StringRef digits = text.drop_front(position + 1).take_while(isDigit);
  uint64_t count;
  if (digits.getAsInteger(10, count))
    return makeError("expected a number after '*'");
  std::string unit = result.substr(begin);
  if (count > maxLayoutLength / (unit.size() + 1))
    return makeError("the layout is too long; " + Twine(maxLayoutLength) +
                     " layers and stages are the most");
  position += 1 + digits.size();
  result.resize(begin);
  for (uint64_t i = 0; i < count; ++i)
    result += unit;
  return Error::success();
}

/// Megatron's conditions on the order of layers.
static Error checkLayers(StringRef layers) {
  if (layers.count('E') != 1 || layers.front() != 'E')
    return createStringError("layout: expected one embedding, E, as the first "
                             "layer");
  if (layers.count('L') != 1 || layers.back() != 'L')
    return createStringError("layout: expected one loss, L, as the last layer");
  if (layers.rfind('t') > layers.find('m') && layers.contains('t'))
    return createStringError("layout: expected decoder layers, t, before "
                             "multi-token prediction, m");
  return Error::success();
}

Expected<LayerLayout> pipewright::parseLayerLayout(StringRef text) {
  Expected<std::string> expanded = LayoutExpander(text).run();
  if (!expanded)
    return expanded.takeError();
  std::string layers = *expanded;
  erase(layers, stageEnd);
  if (Error error = checkLayers(layers))
    return error;
  LayerLayout layout;
  for (StringRef stage : split(*expanded, stageEnd))
    layout.stages.push_back(stage.str());
  return layout;
}

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

/// Shorter runs of one layer or stage are written out.
static constexpr size_t minRun = 3;

/// How many elements from \p begin on are equal.
template <typename RangeT>
static size_t getRun(const RangeT &range, size_t begin) {
  size_t end = begin + 1;
  while (end < range.size() && range[end] == range[begin])
    ++end;
  return end - begin;
}

static std::string writeLayers(StringRef layers) {
  std::string text;
  for (size_t i = 0; i < layers.size();) {
    size_t run = getRun(layers, i);
    if (run >= minRun)
      text += layers[i] + ("*" + std::to_string(run));
    else
      text.append(run, layers[i]);
    i += run;
  }
  return text;
}

std::string pipewright::toString(const LayerLayout &layout) {
  // The last stage has no end that could be repeated.
  ArrayRef<std::string> ended = ArrayRef(layout.stages).drop_back();
  std::string text;
  for (size_t i = 0; i < ended.size();) {
    size_t run = getRun(ended, i);
    std::string stage = writeLayers(ended[i]) + stageEnd;
    if (run >= minRun) {
      text += "(" + stage + ")*" + std::to_string(run) + ",";
    } else {
      for (size_t copy = 0; copy < run; ++copy)
        text += stage;
    }
    i += run;
  }
  return text + writeLayers(layout.stages.back());
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

Error pipewright::setChunks(const LayerLayout &layout, int64_t ranks,
                            int64_t &chunks) {
  int64_t stages = layout.getStages();
  if (ranks < 1 || stages % ranks != 0)
    return createStringError("layout: " + Twine(stages) +
                             " stages cannot be shared out evenly among " +
                             Twine(ranks) +
                             " ranks; the ranks must divide the stages");
  if (chunks != 0 && chunks != stages / ranks)
    return createStringError("layout: " + Twine(stages) + " stages on " +
                             Twine(ranks) + " ranks are " +
                             Twine(stages / ranks) + " chunks, not " +
                             Twine(chunks) + "; leave --chunks out");
  chunks = stages / ranks;
  return Error::success();
}

static double getWeight(StringRef layers, const LayerWeights &weights) {
  return layers.count('E') * weights.embedding + layers.count('t') +
         layers.count('m') * weights.mtp + layers.count('L') * weights.loss;
}

std::vector<StageCost> pipewright::getStageCosts(const LayerLayout &layout,
                                                 int64_t ranks,
                                                 const StageCost &share,
                                                 const LayerWeights &weights) {
  double total = 0;
  for (StringRef layers : layout.stages)
    total += getWeight(layers, weights);
  std::vector<StageCost> costs;
  for (StringRef layers : layout.stages) {
    double part = total > 0 ? ranks * getWeight(layers, weights) / total : 0;
    costs.push_back({part * share.f, part * share.b, part * share.w});
  }
  return costs;
}
