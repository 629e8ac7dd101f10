//===- TraceFormat.cpp - Chrome's trace format
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <tuple>

using namespace llvm;
using namespace pipewright;

/// Chrome counts in microseconds; we show one unit of time as a millisecond.
static constexpr double microsecondsPerUnit = 1000;

/// Says what the process or, with a \p thread, that is called.
static void writeName(std::optional<int64_t> thread, const Twine &name,
                      json::OStream &json) {
  json.object([&] {
    json.attribute("name", thread ? "thread_name" : "process_name");
    json.attribute("ph", "M");
    json.attribute("pid", 0);
    if (thread)
      json.attribute("tid", *thread);
    json.attributeObject("args", [&] { json.attribute("name", name.str()); });
  });
}

/// What queries in the viewer select by.
static void writePlace(const Action &action, json::OStream &json) {
  json.attribute("stage", action.stage);
  json.attribute("mb", action.microbatch);
  json.attribute("dir", action.direction);
}

static void writeEvent(const Action &action, double start, double end,
                       int64_t thread, json::OStream &json) {
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
    json.attribute("tid", thread);
    json.attribute("ts", start * microsecondsPerUnit);
    json.attribute("dur", (end - start) * microsecondsPerUnit);
    json.attributeObject("args", [&] {
      json.attribute("action", describe(action));
      if (action.parts.empty())
        writePlace(action, json);
    });
  });
}

namespace {
/// The ends of the messages of one rank, those that it sends or those that it
/// receives, in rows in which no two overlap: a viewer shows such events only
/// if one lies within the other.
class MessageRows {
public:
  void add(Action end, const Timeline::Message &message) {
    ends.push_back({end, message.start, message.end});
  }

  /// Writes the rows, the first one as \p thread, and makes that the next free
  /// one.
  void write(const Twine &name, int64_t &thread, json::OStream &json) {
    llvm::sort(ends, comesFirst);
    std::vector<double> rows;
    for (const Timeline::Message &message : ends) {
      // Times are sums, which round.
      auto row = find_if(rows, [&](double end) {
        return end <= message.start + 1e-9 * message.end;
      });
      int64_t number = row - rows.begin();
      if (row == rows.end()) {
        writeName(thread + number, name, json);
        rows.push_back(0);
      }
      rows[number] = message.end;
      writeEvent(message.send, message.start, message.end, thread + number,
                 json);
    }
    thread += rows.size();
  }

private:
  static bool comesFirst(const Timeline::Message &lhs,
                         const Timeline::Message &rhs) {
    auto getKey = [](const Timeline::Message &message) {
      const Action &end = message.send;
      return std::tuple(message.start, message.end, end.kind,
                        int64_t(end.stage), int64_t(end.microbatch));
    };
    return getKey(lhs) < getKey(rhs);
  }

  std::vector<Timeline::Message> ends;
};
} // namespace

/// The receive of what \p send sends.
static Action getReceive(Action send) {
  bool isActivation = send.kind == ActionKind::SendF;
  send.kind = isActivation ? ActionKind::RecvF : ActionKind::RecvB;
  send.stage += isActivation ? 1 : -1;
  return send;
}

static void writeMessages(const Schedule &schedule, const Timeline &timeline,
                          json::OStream &json) {
  std::vector<MessageRows> sent(schedule.getRanks()),
      received(schedule.getRanks());
  for (const Timeline::Message &message : timeline.messages) {
    Action receive = getReceive(message.send);
    int64_t direction = receive.direction;
    sent[schedule.getRank(message.send.stage, direction)].add(message.send,
                                                              message);
    received[schedule.getRank(receive.stage, direction)].add(receive, message);
  }
  // Threads of computing come first, under the numbers of their ranks.
  int64_t thread = schedule.getRanks();
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    sent[rank].write("rank " + Twine(rank) + " sends", thread, json);
    received[rank].write("rank " + Twine(rank) + " receives", thread, json);
  }
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
          writeEvent(schedule.getActions(rank)[entry.action], entry.start,
                     entry.end, rank, json);
      }
      writeMessages(schedule, timeline, json);
    });
  });
  os << '\n';
}
