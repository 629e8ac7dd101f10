//===- ScheduleCosts.cpp - The times that users give
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleCosts.h"

#include "ScheduleInput.h"

#include "pipewright/Schedule/LayerLayout.h"
#include "pipewright/Support/Json.h"

#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace pipewright;

static bool parseTime(StringRef text, double &time) {
  return !text.getAsDouble(time) && time >= 0 && time < 1e18;
}

/// A time that may be left out.
static bool parseTime(StringRef text, std::optional<double> &time) {
  time.reset();
  return text.empty() || parseTime(text, time.emplace());
}

static bool parseEntry(StringRef text, ShareCosts &costs) {
  auto [key, value] = text.split('=');
  if (key == "fb")
    return parseTime(value, costs.pair);
  if (key == "r")
    return parseTime(value, costs.share.r);
  double *target = StringSwitch<double *>(key)
                       .Case("f", &costs.share.f)
                       .Case("b", &costs.share.b)
                       .Case("w", &costs.share.w)
                       .Case("comm", &costs.latency)
                       .Case("overhead", &costs.machine.overhead)
                       .Case("bandwidth", &costs.machine.bandwidth)
                       .Case("message", &costs.share.messageBytes)
                       .Case("activation", &costs.share.activationBytes)
                       .Default(nullptr);
  return target && parseTime(value, *target);
}

Error pipewright::parseCosts(ArrayRef<std::string> entries, ShareCosts &costs) {
  for (StringRef entry : entries)
    if (!parseEntry(entry, costs))
      return createStringError("--cost does not know '" + entry +
                               "'; expected f, b, w, r, fb, comm, overhead, "
                               "bandwidth, message or activation, '=', and a "
                               "number of at least 0");
  return Error::success();
}

namespace pipewright {
static bool fromJSON(const json::Value &value, StageCost &cost,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("f", cost.f) || !map.map("b", cost.b) ||
      !map.map("w", cost.w) || !map.mapOptional("r", cost.r) ||
      !map.mapOptional("activation_bytes", cost.activationBytes) ||
      !map.mapOptional("message_bytes", cost.messageBytes))
    return false;
  if (cost.f >= 0 && cost.b >= 0 && cost.w >= 0 && cost.r.value_or(0) >= 0 &&
      cost.activationBytes >= 0 && cost.messageBytes >= 0)
    return true;
  path.report("expected times of at least 0");
  return false;
}
} // namespace pipewright

static Error readStageCostFile(StringRef path, ShareCosts &costs) {
  return readFile(path, [&](StringRef text) -> Error {
    Expected<json::Value> value = parseJson(text);
    if (!value)
      return value.takeError();
    json::Path::Root root("stage costs");
    if (!fromJSON(*value, costs.stages, root))
      return root.getError();
    if (costs.stages.empty())
      return createStringError("has no stage costs");
    return Error::success();
  });
}

/// Reads the entries of --layer-cost: `E=0.5`, `L=2`.
static Error parseLayerWeights(ArrayRef<std::string> entries,
                               LayerWeights &weights) {
  for (StringRef entry : entries) {
    auto [key, value] = entry.split('=');
    double *target = StringSwitch<double *>(key)
                         .Case("E", &weights.embedding)
                         .Case("m", &weights.mtp)
                         .Case("L", &weights.loss)
                         .Default(nullptr);
    if (!target || !parseTime(value, *target))
      return createStringError("--layer-cost does not know '" + entry +
                               "'; expected E, m or L, '=', and a time of at "
                               "least 0");
  }
  return Error::success();
}

static Error applyLayout(const ScheduleOptions &options,
                         ScheduleRequest &request) {
  LayerWeights weights;
  if (Error error = parseLayerWeights(options.layerCost, weights))
    return error;
  Expected<LayerLayout> layout = parseLayerLayout(options.layout);
  if (!layout)
    return layout.takeError();
  ScheduleShape &shape = request.shape;
  if (Error error = setChunks(*layout, shape.ranks, shape.chunks))
    return error;
  request.costs.stages =
      getStageCosts(*layout, shape.ranks, request.costs.share, weights);
  return Error::success();
}

Error pipewright::readStageCosts(const ScheduleOptions &options,
                                 ScheduleRequest &request) {
  if (!options.layout.empty()) {
    if (!options.stageCost.empty())
      return createStringError(
          "--layout and --stage-cost both give the costs of stages; give one");
    return applyLayout(options, request);
  }
  if (options.layerCost.getNumOccurrences())
    return createStringError("--layer-cost needs the layers of --layout");
  if (options.stageCost.empty())
    return Error::success();
  return readStageCostFile(options.stageCost, request.costs);
}
