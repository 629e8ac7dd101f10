//===- JsonFormat.cpp - The JSON of pipewright schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"
#include "pipewright/Support/Json.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Writer
//===----------------------------------------------------------------------===//

static void writePlace(const Action &action, json::OStream &json) {
  json.attribute("stage", action.stage);
  json.attribute("mb", action.microbatch);
  json.attribute("dir", action.direction);
}

static void writeAction(const Action &action, json::OStream &json) {
  json.objectBegin();
  json.attribute("op", getName(action.kind));
  if (action.kind == ActionKind::FB) {
    json.attributeObject("f", [&] { writePlace(action.parts[0], json); });
    json.attributeObject("b", [&] {
      writePlace(action.parts[1], json);
      json.attribute("op", getName(action.parts[1].kind));
    });
  } else if (action.kind == ActionKind::Group) {
    json.attributeArray("ops", [&] {
      for (const Action &part : action.parts)
        writeAction(part, json);
    });
  } else {
    writePlace(action, json);
  }
  json.objectEnd();
}

template <typename RangeT>
static void writeList(json::OStream &json, const RangeT &values) {
  // One list a line: people read these files too.
  json.rawValue([&](raw_ostream &os) {
    json::OStream line(os);
    line.array([&] {
      for (auto value : values)
        line.value(value);
    });
  });
}

static void writeList(StringRef key, const std::vector<double> &values,
                      json::OStream &json) {
  json.attributeBegin(key);
  writeList(json, values);
  json.attributeEnd();
}

static void writeMetrics(const Metrics &metrics, json::OStream &json) {
  json.attribute("makespan", metrics.makespan);
  json.attribute("bubble_ratio", metrics.bubbleRatio);
  writeList("idle", metrics.idle, json);
  json.attribute("span", metrics.span);
  json.attribute("span_bubble", metrics.spanBubble);
  writeList("peak_activations", metrics.peakActivations, json);
  if (!metrics.peakBytes.empty())
    writeList("peak_bytes", metrics.peakBytes, json);
  json.attribute("messages", metrics.messages);
  json.attribute("parameter_copies", metrics.parameterCopies);
  if (const std::optional<Spread> &spread = metrics.spread)
    json.attributeObject("makespan_spread", [&] {
      json.attribute("seeds", spread->seeds);
      json.attribute("p50", spread->p50);
      json.attribute("p90", spread->p90);
      json.attribute("p99", spread->p99);
    });
}

static void writeLanes(const Schedule &schedule, json::OStream &json) {
  json.attributeArray("placement", [&] {
    for (const std::vector<int64_t> &ranks : schedule.getPlacement())
      writeList(json, ranks);
  });
  json.attributeArray("actions", [&] {
    for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
      json.rawValue([&](raw_ostream &os) {
        json::OStream line(os);
        line.array([&] {
          for (const Action &action : schedule.getActions(rank))
            writeAction(action, line);
        });
      });
  });
}

void pipewright::writeJson(const Schedule &schedule, const Metrics &metrics,
                           raw_ostream &os) {
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schedule", schedule.getName());
    if (!schedule.getChosen().empty())
      json.attribute("chosen", schedule.getChosen());
    json.attribute("ranks", schedule.getRanks());
    json.attribute("stages", schedule.getStages());
    json.attribute("microbatches", schedule.getShape().microbatches);
    json.attribute("chunks", schedule.getShape().chunks);
    writeLanes(schedule, json);
    json.attributeObject("metrics", [&] { writeMetrics(metrics, json); });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

/// Fails if \p object has other keys: most likely one was misspelled.
static bool hasOnly(const json::Object &object, ArrayRef<StringRef> keys,
                    json::Path path) {
  for (const auto &[key, value] : object)
    if (!is_contained(keys, StringRef(key))) {
      path.field(key).report("unknown key");
      return false;
    }
  return true;
}

static bool parsePlace(const json::Object &object, Action &action,
                       json::Path path) {
  if (!hasOnly(object, {"op", "stage", "mb", "dir"}, path))
    return false;
  json::Value value = json::Object(object);
  json::ObjectMapper map(value, path);
  int64_t stage = 0, microbatch = 0, direction = 0;
  if (!map || !map.map("stage", stage) || !map.map("mb", microbatch) ||
      !map.mapOptional("dir", direction))
    return false;
  if (!Action::fits(stage, microbatch, direction)) {
    path.report("expected numbers of a schedule of a size that fits into "
                "memory");
    return false;
  }
  action.stage = stage;
  action.microbatch = microbatch;
  action.direction = direction;
  return true;
}

static bool parseAction(const json::Value &value, Action &action,
                        json::Path path);

/// The two sides of an overlapped pair.
static bool parsePair(const json::Object &object, Action &action,
                      json::Path path) {
  if (!hasOnly(object, {"op", "f", "b"}, path))
    return false;
  static constexpr StringLiteral sides[] = {"f", "b"};
  action.parts.resize(std::size(sides));
  for (auto [key, part] : zip_equal(sides, action.parts)) {
    const json::Object *side = object.getObject(key);
    if (!side) {
      path.field(key).report("expected object");
      return false;
    }
    if (!parsePlace(*side, part, path.field(key)))
      return false;
  }
  action.parts[1].kind = ActionKind::BW;
  std::optional<StringRef> kind = object.getObject("b")->getString("op");
  if (kind == "B")
    action.parts[1].kind = ActionKind::B;
  else if (kind && kind != "BW") {
    path.field("b").field("op").report("expected B or BW");
    return false;
  }
  return true;
}

static bool parseGroup(const json::Object &object, Action &action,
                       json::Path path) {
  if (!hasOnly(object, {"op", "ops"}, path))
    return false;
  const json::Array *parts = object.getArray("ops");
  // A path refers to the one it was made from, which must stay alive.
  json::Path partsPath = path.field("ops");
  if (!parts || parts->empty()) {
    partsPath.report("expected transfers");
    return false;
  }
  for (auto [index, part] : enumerate(*parts)) {
    json::Path partPath = partsPath.index(index);
    if (!parseAction(part, action.parts.emplace_back(), partPath))
      return false;
    if (!action.parts.back().isTransfer()) {
      partPath.report("expected a transfer");
      return false;
    }
  }
  return true;
}

static bool parseAction(const json::Value &value, Action &action,
                        json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected object");
    return false;
  }
  std::optional<StringRef> name = object->getString("op");
  std::optional<ActionKind> kind = name ? parseActionKind(*name) : std::nullopt;
  if (!kind) {
    path.field("op").report("expected the name of an action");
    return false;
  }
  action.kind = *kind;
  if (action.kind == ActionKind::Step)
    return true;
  if (action.kind == ActionKind::FB)
    return parsePair(*object, action, path);
  if (action.kind == ActionKind::Group)
    return parseGroup(*object, action, path);
  return parsePlace(*object, action, path);
}

namespace {
/// What the file says beside the actions.
struct Header {
  std::string name;
  /// Chunks of 0: not given.
  ScheduleShape shape = {0, 0, 0};
  /// 0: not given.
  int64_t stages = 0;
  Placement placement;
};
} // namespace

/// Fails unless \p header describes a schedule at all.
static bool checkHeader(const Header &header, json::Path path) {
  const ScheduleShape &shape = header.shape;
  if (shape.ranks < 1 || shape.microbatches < 1 || shape.chunks < 0) {
    path.report("expected at least 1 of ranks, microbatches and chunks");
    return false;
  }
  if (header.placement.empty() || header.placement.front().empty()) {
    path.field("placement").report("expected a list of ranks");
    return false;
  }
  if (header.placement.size() > maxDirections) {
    static_assert(maxDirections == 32, "the message says so");
    path.field("placement").report("expected at most 32 directions");
    return false;
  }
  int64_t directions = header.placement.size();
  if (shape.microbatches % directions != 0) {
    path.field("microbatches")
        .report("expected as many micro-batches in each direction");
    return false;
  }
  int64_t stages = header.placement.front().size();
  if (header.stages != 0 && header.stages != stages) {
    path.field("stages").report("expected the number of stages in placement");
    return false;
  }
  stages *= directions;
  if (!isTractable(stages, shape.microbatches) || shape.ranks > maxWork) {
    path.report("expected a schedule of a size that fits into memory");
    return false;
  }
  for (const std::vector<int64_t> &ranks : header.placement) {
    bool isKnown = all_of(
        ranks, [&](int64_t rank) { return rank >= 0 && rank < shape.ranks; });
    if (!isKnown || ranks.size() != header.placement.front().size()) {
      path.field("placement").report("expected one known rank per stage");
      return false;
    }
  }
  return true;
}

static bool parseLanes(const json::Value &value, Schedule &schedule,
                       json::Path path) {
  const json::Array *lanes = value.getAsObject()->getArray("actions");
  json::Path lanesPath = path.field("actions");
  if (!lanes || static_cast<int64_t>(lanes->size()) != schedule.getRanks()) {
    lanesPath.report("expected one list per rank");
    return false;
  }
  for (auto [rank, lane] : enumerate(*lanes)) {
    const json::Array *list = lane.getAsArray();
    if (!list) {
      lanesPath.index(rank).report("expected array");
      return false;
    }
    for (auto [index, entry] : enumerate(*list)) {
      Action action;
      if (!parseAction(entry, action, lanesPath.index(rank).index(index)))
        return false;
      schedule.add(rank, std::move(action));
    }
  }
  return true;
}

Expected<Schedule> pipewright::parseScheduleJson(StringRef text) {
  Expected<json::Value> value = parseJson(text);
  if (!value)
    return value.takeError();
  json::Path::Root root("schedule");
  json::ObjectMapper map(*value, root);
  Header header;
  if (!map || !map.map("schedule", header.name) ||
      !map.map("ranks", header.shape.ranks) ||
      !map.map("microbatches", header.shape.microbatches) ||
      !map.mapOptional("stages", header.stages) ||
      !map.mapOptional("chunks", header.shape.chunks) ||
      !map.map("placement", header.placement) || !checkHeader(header, root))
    return root.getError();
  if (header.shape.chunks == 0)
    header.shape.chunks =
        divideCeil(header.placement.front().size(), header.shape.ranks);
  Schedule schedule(header.shape, std::move(header.placement));
  schedule.setName(header.name);
  if (!parseLanes(*value, schedule, root))
    return root.getError();
  return schedule;
}
