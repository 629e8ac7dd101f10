//===- Formats.h - Schedules as text and pictures ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_FORMATS_H
#define PIPEWRIGHT_SCHEDULE_FORMATS_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace pipewright {

/// A terminal timeline, if it fits, and the metrics of each rank.
void writeTable(const Schedule &schedule, const Timeline &timeline,
                const Metrics &metrics, llvm::raw_ostream &os);

/// The same with the metrics that follow from the timeline.
inline void writeTable(const Schedule &schedule, const Timeline &timeline,
                       llvm::raw_ostream &os) {
  writeTable(schedule, timeline, measure(schedule, timeline), os);
}

/// The stable JSON of `pipewright schedule`.
void writeJson(const Schedule &schedule, const Metrics &metrics,
               llvm::raw_ostream &os);

/// The same with the metrics that follow from \p timeline.
inline void writeJson(const Schedule &schedule, const Timeline &timeline,
                      llvm::raw_ostream &os) {
  writeJson(schedule, measure(schedule, timeline), os);
}

/// Reads what writeJson writes; `metrics` may be absent.
llvm::Expected<Schedule> parseScheduleJson(llvm::StringRef text);

/// PyTorch's pipelining format: a row per rank, a cell per action, such as
/// `0F0`. PyTorch's letters are B for the full backward (our BW) and I for the
/// input gradient (our B). Refuses schedules of two directions, which the
/// format cannot tell apart.
llvm::Error writeCsv(const Schedule &schedule, llvm::raw_ostream &os);

/// Reads PyTorch's format strictly: every cell must be an action and nothing
/// else. Empty cells are idle time and are dropped. A stage is on the rank in
/// whose row it appears.
llvm::Expected<Schedule> parseScheduleCsv(llvm::StringRef text);

/// The timeline as a picture; it needs nothing but itself.
void writeSvg(const Schedule &schedule, const Timeline &timeline,
              llvm::raw_ostream &os);

/// Chrome's trace format (chrome://tracing, Perfetto); one unit of time is
/// shown as a millisecond.
void writeTrace(const Schedule &schedule, const Timeline &timeline,
                llvm::raw_ostream &os);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_FORMATS_H
