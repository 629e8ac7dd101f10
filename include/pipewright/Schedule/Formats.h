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
/// `0F0`, `0SEND_F0` or `(0F1;0B0)OVERLAP_F_B`, in CsvLetters::New. Refuses
/// what the format cannot express: several directions, recomputation, updates
/// and transfers that are posted together.
llvm::Error writeCsv(const Schedule &schedule, llvm::raw_ostream &os);

/// The letters of backward actions in PyTorch's format. New, since PyTorch 2.6:
/// B is the full backward (our BW) and I the input gradient (our B). Old: BW is
/// the full backward and B the input gradient. W is the weight gradient in
/// both.
enum class CsvLetters : uint8_t {
  /// By an I or BW in the file. Without either, a B beside W is refused, and a
  /// B without W is the full backward.
  Auto,
  New,
  Old
};

/// Reads PyTorch's format strictly: every cell must be an action and nothing
/// else. Empty cells are idle time and are dropped; so are UNSHARD, RESHARD and
/// REDUCE_GRAD of a stage, by which PyTorch moves the parameters of sharded
/// data parallelism. A stage is on the rank in whose row it appears.
llvm::Expected<Schedule>
parseScheduleCsv(llvm::StringRef text, CsvLetters letters = CsvLetters::Auto);

/// The timeline as a picture; it needs nothing but itself. Its times have no
/// unit, unless it is known how many seconds one of them is.
void writeSvg(const Schedule &schedule, const Timeline &timeline,
              llvm::raw_ostream &os,
              std::optional<double> secondsPerUnit = std::nullopt);

/// Chrome's trace format (chrome://tracing, Perfetto); one unit of time is
/// shown as a millisecond. The timeline's messages stand on threads of their
/// own, once where they are sent and once where they are received.
void writeTrace(const Schedule &schedule, const Timeline &timeline,
                llvm::raw_ostream &os);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_FORMATS_H
