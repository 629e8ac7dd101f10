//===- Trace.h - When each action began and ended ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_LOG_TRACE_H
#define PPRT_LOG_TRACE_H

#include "launch/Progress.h"
#include "launch/Transport.h"

#include <string>
#include <vector>

namespace pprt {

/// The measured actions of a run, for chrome://tracing and Perfetto.
class Trace {
public:
  struct Event {
    Activity activity;
    uint32_t index;
    uint32_t microbatch;
    int64_t begin, end; ///< nanoseconds of the monotonic clock
  };

  void enable() { enabled = true; }
  bool isEnabled() const { return enabled; }
  void add(const Event &event) { events.push_back(event); }

  /// Writes the actions of all ranks to \p path, by rank 0. Ranks on several
  /// machines are aligned by their clocks of the day.
  Status write(const std::string &path, Transport &transport,
               const PprtDescriptor &descriptor) const;

private:
  std::string formatEvents(const PprtDescriptor &descriptor,
                           int64_t origin) const;

  bool enabled = false;
  std::vector<Event> events;
};

/// Records the action that the scope spans.
class TraceScope {
public:
  TraceScope(Trace &trace, Activity activity, uint32_t index = 0,
             uint32_t microbatch = 0)
      : trace(trace) {
    if (trace.isEnabled())
      event = {activity, index, microbatch, getMonotonicTime(), 0};
  }
  ~TraceScope() {
    if (!trace.isEnabled())
      return;
    event.end = getMonotonicTime();
    trace.add(event);
  }
  TraceScope(const TraceScope &) = delete;
  TraceScope &operator=(const TraceScope &) = delete;

private:
  Trace &trace;
  Trace::Event event;
};

} // namespace pprt

#endif // PPRT_LOG_TRACE_H
