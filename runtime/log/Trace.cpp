//===- Trace.cpp - When each action began and ended -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Trace.h"
#include "data/WriteFile.h"
#include "launch/Collectives.h"

#include <cinttypes>
#include <cstdio>
#include <time.h>

using namespace pprt;

/// Nanoseconds to add to the monotonic clock to get the time of the day.
static int64_t getClockOffset() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec - getMonotonicTime();
}

static const char *const roleNames[] = {"F", "B", "W", "BW", "R"};

/// As schedules write it: `F s0 mb3`.
static std::string formatName(const Trace::Event &event,
                              const PprtDescriptor &descriptor) {
  std::string microbatch = " mb" + std::to_string(event.microbatch);
  switch (event.activity) {
  case Activity::Run: {
    const PprtTask &task = descriptor.tasks[event.index];
    return std::string(roleNames[task.role]) + " s" +
           std::to_string(task.stage) + microbatch;
  }
  case Activity::Send:
    return std::string("SEND ") + descriptor.channels[event.index].name +
           microbatch;
  case Activity::Recv:
    return std::string("RECV ") + descriptor.channels[event.index].name +
           microbatch;
  case Activity::SendRows:
    return std::string("SEND ") + descriptor.exchanges[event.index].name +
           microbatch;
  case Activity::RecvRows:
    return std::string("RECV ") + descriptor.exchanges[event.index].name +
           microbatch;
  default:
    return "update";
  }
}

static const char *getCategory(Activity activity) {
  switch (activity) {
  case Activity::Run:
    return "compute";
  case Activity::Send:
  case Activity::Recv:
  case Activity::SendRows:
  case Activity::RecvRows:
    return "communication";
  default:
    return "update";
  }
}

std::string Trace::formatEvents(const PprtDescriptor &descriptor,
                                int64_t origin) const {
  uint32_t rank = descriptor.rank;
  char line[256];
  snprintf(line, sizeof line,
           "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":"
           "{\"name\":\"rank %u\"}}",
           rank, rank);
  std::string text = line;
  int64_t toOrigin = getClockOffset() - origin;
  for (const Event &event : events) {
    // Channel names are symbols of the compiler: no character needs escaping.
    snprintf(line, sizeof line,
             ",\n{\"name\":\"%.100s\",\"cat\":\"%s\",\"ph\":\"X\",\"pid\":%u,"
             "\"tid\":0,\"ts\":%.3f,\"dur\":%.3f}",
             formatName(event, descriptor).c_str(), getCategory(event.activity),
             rank, (event.begin + toOrigin) / 1e3,
             (event.end - event.begin) / 1e3);
    text += line;
  }
  return text;
}

Status Trace::write(const std::string &path, Transport &transport,
                    const PprtDescriptor &descriptor) const {
  int64_t origin = (events.empty() ? getMonotonicTime() : events[0].begin) +
                   getClockOffset();
  broadcast(transport, &origin, sizeof origin);
  std::vector<std::string> texts =
      gatherText(transport, formatEvents(descriptor, origin));
  if (transport.getRank() != 0)
    return Status();
  std::string all = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
  for (const std::string &text : texts)
    all += text + (&text == &texts.back() ? "\n]}\n" : ",\n");
  return writeFile(path, all);
}
