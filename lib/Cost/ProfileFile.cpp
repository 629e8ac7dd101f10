//===- ProfileFile.cpp - Writes and reads profiles
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Profile.h"

#include "pipewright/Support/Json.h"
#include "pipewright/Support/TableFile.h"

using namespace llvm;
using namespace pipewright;

static constexpr int64_t formatVersion = 2;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static json::Value write(const Measurement &time) {
  return json::Object{{"seconds", time.seconds},
                      {"spread", time.spread},
                      {"samples", time.samples}};
}

static json::Value write(const MeasuredLayer &layer) {
  json::Object object{{"function", layer.function},
                      {"key", layer.key},
                      {"layers", layer.layers},
                      {"forward", write(layer.forward)}};
  if (layer.backwardInput)
    object["backward_input"] = write(*layer.backwardInput);
  if (layer.backwardWeight)
    object["backward_weight"] = write(*layer.backwardWeight);
  if (layer.recompute)
    object["recompute"] = write(*layer.recompute);
  return object;
}

static json::Value write(const MeasuredUpdate &update) {
  return json::Object{{"optimizer", update.optimizer},
                      {"parameters", update.parameters},
                      {"time", write(update.time)}};
}

static json::Value write(const MeasuredLink &link) {
  json::Array points;
  for (const MeasuredLink::Point &point : link.points)
    points.push_back(
        json::Object{{"bytes", point.bytes}, {"time", write(point.time)}});
  return json::Object{{"ranks", link.ranks},
                      {"latency_seconds", link.latencySeconds},
                      {"bytes_per_second", link.bytesPerSecond},
                      {"points", std::move(points)}};
}

template <typename T>
static json::Array writeList(const std::vector<T> &list) {
  json::Array array;
  for (const T &element : list)
    array.push_back(write(element));
  return array;
}

template <typename T>
static json::Object writeMap(const std::map<std::string, T> &map) {
  json::Object object;
  for (const auto &[key, value] : map)
    object[key] = value;
  return object;
}

json::Value pipewright::toJSON(const Profile &profile) {
  return json::Object{{"format_version", formatVersion},
                      {"tool_version", profile.toolVersion},
                      {"date", profile.date},
                      {"model", profile.model},
                      {"model_sha256", profile.modelSha256},
                      {"bindings", writeMap(profile.bindings)},
                      {"inputs", writeMap(profile.inputs)},
                      {"microbatch_size", profile.microbatchSize},
                      {"precision", profile.precision},
                      {"loss", profile.loss},
                      {"forward_only", profile.forwardOnly},
                      {"ranks", profile.ranks},
                      {"device", profile.device},
                      {"target", profile.target},
                      {"target_cpu", profile.targetCpu},
                      {"layers", writeList(profile.layers)},
                      {"updates", writeList(profile.updates)},
                      {"hosts", profile.hosts},
                      {"links", writeList(profile.links)}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

// In the namespace of the types, where llvm::json looks for them.
namespace pipewright {

static bool mapPositive(json::ObjectMapper &mapper, StringLiteral key,
                        double &value, json::Path path) {
  if (!mapper.map(key, value))
    return false;
  if (value > 0)
    return true;
  path.field(key).report("must be above 0");
  return false;
}

static bool fromJSON(const json::Value &value, Measurement &time,
                     json::Path path) {
  if (!checkKeys(value, {"seconds", "spread", "samples"}, {}, path))
    return false;
  json::ObjectMapper mapper(value, path);
  if (!mapPositive(mapper, "seconds", time.seconds, path) ||
      !mapper.map("spread", time.spread) ||
      !mapper.map("samples", time.samples))
    return false;
  if (time.spread >= 0 && time.samples >= 1)
    return true;
  path.report("must have a spread of at least 0 and at least 1 sample");
  return false;
}

static bool fromJSON(const json::Value &value, MeasuredLayer &layer,
                     json::Path path) {
  if (!checkKeys(value, {"function", "key", "layers", "forward"},
                 {"backward_input", "backward_weight", "recompute"}, path))
    return false;
  json::ObjectMapper mapper(value, path);
  return mapper.map("function", layer.function) &&
         mapper.map("key", layer.key) && mapper.map("layers", layer.layers) &&
         mapper.map("forward", layer.forward) &&
         mapper.map("backward_input", layer.backwardInput) &&
         mapper.map("backward_weight", layer.backwardWeight) &&
         mapper.map("recompute", layer.recompute);
}

static bool fromJSON(const json::Value &value, MeasuredUpdate &update,
                     json::Path path) {
  if (!checkKeys(value, {"optimizer", "parameters", "time"}, {}, path))
    return false;
  json::ObjectMapper mapper(value, path);
  if (!mapper.map("optimizer", update.optimizer) ||
      !mapper.map("parameters", update.parameters) ||
      !mapper.map("time", update.time))
    return false;
  if (update.parameters >= 1)
    return true;
  path.field("parameters").report("must be at least 1");
  return false;
}

static bool fromJSON(const json::Value &value, MeasuredLink::Point &point,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  return checkKeys(value, {"bytes", "time"}, {}, path) &&
         mapper.map("bytes", point.bytes) && mapper.map("time", point.time);
}

static bool fromJSON(const json::Value &value, MeasuredLink &link,
                     json::Path path) {
  if (!checkKeys(value,
                 {"ranks", "latency_seconds", "bytes_per_second", "points"}, {},
                 path))
    return false;
  json::ObjectMapper mapper(value, path);
  if (!mapper.map("ranks", link.ranks) ||
      !mapper.map("latency_seconds", link.latencySeconds) ||
      !mapPositive(mapper, "bytes_per_second", link.bytesPerSecond, path) ||
      !mapper.map("points", link.points))
    return false;
  if (link.latencySeconds < 0) {
    path.field("latency_seconds").report("must be at least 0");
    return false;
  }
  if (link.ranks.size() == 2 && 0 <= link.ranks[0] &&
      link.ranks[0] < link.ranks[1])
    return true;
  path.field("ranks").report("must be two ranks, the smaller one first");
  return false;
}

/// Links join ranks whose hosts are known.
static bool checkHosts(const Profile &profile, json::Path path) {
  int64_t count = profile.hosts.size();
  for (auto [index, link] : enumerate(profile.links)) {
    if (link.ranks[1] < count)
      continue;
    path.field("links").index(index).report("joins a rank without a host");
    return false;
  }
  return true;
}

static bool fromJSON(const json::Value &value, Profile &profile,
                     json::Path path) {
  if (!checkKeys(value,
                 {"format_version", "tool_version", "date", "model",
                  "model_sha256", "bindings", "inputs", "microbatch_size",
                  "precision", "loss", "forward_only", "ranks", "device",
                  "target", "target_cpu", "layers", "updates", "hosts",
                  "links"},
                 {}, path))
    return false;
  json::ObjectMapper mapper(value, path);
  int64_t version;
  if (!mapper.map("format_version", version))
    return false;
  if (version != formatVersion) {
    path.field("format_version").report("is not a version that is known");
    return false;
  }
  return mapper.map("tool_version", profile.toolVersion) &&
         mapper.map("date", profile.date) &&
         mapper.map("model", profile.model) &&
         mapper.map("model_sha256", profile.modelSha256) &&
         mapper.map("bindings", profile.bindings) &&
         mapper.map("inputs", profile.inputs) &&
         mapper.map("microbatch_size", profile.microbatchSize) &&
         mapper.map("precision", profile.precision) &&
         mapper.map("loss", profile.loss) &&
         mapper.map("forward_only", profile.forwardOnly) &&
         mapper.map("ranks", profile.ranks) &&
         mapper.map("device", profile.device) &&
         mapper.map("target", profile.target) &&
         mapper.map("target_cpu", profile.targetCpu) &&
         mapper.map("layers", profile.layers) &&
         mapper.map("updates", profile.updates) &&
         mapper.map("hosts", profile.hosts) &&
         mapper.map("links", profile.links) && checkHosts(profile, path);
}
} // namespace pipewright

Expected<Profile> pipewright::readProfile(StringRef path) {
  Expected<json::Value> table = readTableFile(path);
  if (!table)
    return table.takeError();
  Profile profile;
  json::Path::Root root(path);
  if (fromJSON(*table, profile, root))
    return profile;
  return root.getError();
}
