//===- TraceFormat.cpp - Chrome's trace format
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace pipewright;

/// Chrome counts in microseconds; we show one unit of time as a millisecond.
static constexpr double microsecondsPerUnit = 1000;

/// Says what the process or, with a \p rank, its thread is called.
static void writeName(std::optional<int64_t> rank, const Twine &name,
                      json::OStream &json) {
  json.object([&] {
    json.attribute("name", rank ? "thread_name" : "process_name");
    json.attribute("ph", "M");
    json.attribute("pid", 0);
    if (rank)
      json.attribute("tid", *rank);
    json.attributeObject("args", [&] { json.attribute("name", name.str()); });
  });
}

/// What queries in the viewer select by.
static void writePlace(const Action &action, json::OStream &json) {
  json.attribute("stage", action.stage);
  json.attribute("mb", action.microbatch);
  json.attribute("dir", action.direction);
}

static void writeEvent(const Action &action, const Timeline::Entry &entry,
                       int64_t rank, json::OStream &json) {
  std::string name;
  forEachPart(action, [&](const Action &part) {
    if (!name.empty())
      name += " + ";
    name += (getName(part.kind) + Twine(part.microbatch)).str();
  });
  json.object([&] {
    json.attribute("name", name);
    json.attribute("cat", getName(action.kind));
    json.attribute("ph", "X");
    json.attribute("pid", 0);
    json.attribute("tid", rank);
    json.attribute("ts", entry.start * microsecondsPerUnit);
    json.attribute("dur", (entry.end - entry.start) * microsecondsPerUnit);
    json.attributeObject("args", [&] {
      json.attribute("action", describe(action));
      if (action.parts.empty())
        writePlace(action, json);
    });
  });
}

void pipewright::writeTrace(const Schedule &schedule, const Timeline &timeline,
                            raw_ostream &os) {
  json::OStream json(os);
  json.object([&] {
    json.attribute("displayTimeUnit", "ms");
    json.attributeArray("traceEvents", [&] {
      writeName(std::nullopt, "schedule " + schedule.getName(), json);
      for (auto [rank, entries] : enumerate(timeline.ranks)) {
        writeName(rank, "rank " + Twine(rank), json);
        for (const Timeline::Entry &entry : entries)
          writeEvent(schedule.getActions(rank)[entry.action], entry, rank,
                     json);
      }
    });
  });
  os << '\n';
}
