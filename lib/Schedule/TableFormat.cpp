//===- TableFormat.cpp - A schedule for the terminal
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;
using namespace pipewright;

/// Wider timelines are for pictures.
static constexpr double maxColumns = 240;

/// Tells directions apart: nothing for the first one, `'` for the second, `'2`
/// for the third.
static std::string getMark(int64_t direction) {
  if (direction == 0)
    return "";
  return direction == 1 ? "'" : "'" + std::to_string(direction);
}

/// What an action is called in the timeline: `F3`, `BW0`; with several stages
/// on a rank also the stage and the mark of the direction: `F3.1`, `F3.1'`.
static std::string getLabel(const Schedule &schedule, const Action &action) {
  std::string label;
  forEachPart(action, [&](const Action &part) {
    label += getName(part.kind).str() + std::to_string(part.microbatch);
    if (schedule.getShape().chunks > 1 || schedule.getDirections() > 1)
      label += "." + std::to_string(part.stage) + getMark(part.direction);
  });
  return label;
}

namespace {
/// Characters per unit of time such that each label fits its action.
class TimelineScale {
public:
  TimelineScale(const Schedule &schedule, const Timeline &timeline) {
    for (auto [rank, entries] : enumerate(timeline.ranks))
      for (const Timeline::Entry &entry : entries) {
        double duration = entry.end - entry.start;
        if (duration <= 0)
          continue;
        const Action &action = schedule.getActions(rank)[entry.action];
        double needed = getLabel(schedule, action).size() + 1;
        scale = std::max(scale, needed / duration);
      }
    columns = scale * timeline.makespan;
  }

  bool fits() const { return columns <= maxColumns; }
  size_t getColumn(double time) const { return std::lround(time * scale); }

private:
  double scale = 0;
  double columns = 0;
};
} // namespace

static void writeTimeline(const Schedule &schedule, const Timeline &timeline,
                          const TimelineScale &scale, raw_ostream &os) {
  for (auto [rank, entries] : enumerate(timeline.ranks)) {
    std::string row;
    for (const Timeline::Entry &entry : entries) {
      row.resize(std::max(row.size(), scale.getColumn(entry.start)), ' ');
      row += getLabel(schedule, schedule.getActions(rank)[entry.action]);
      size_t end = scale.getColumn(entry.end);
      if (row.size() + 1 < end)
        row.resize(end - 1, '-');
    }
    row.resize(std::max(row.size(), scale.getColumn(timeline.makespan)), ' ');
    os << formatv("rank {0,-4} |", rank) << row << "|\n";
  }
}

/// Explains the marks, if there are any.
static void writeLegend(const Schedule &schedule, raw_ostream &os) {
  int64_t last = schedule.getDirections() - 1;
  if (last == 0)
    return;
  os << "F0.1" << getMark(last) << " is the forward of micro-batch 0 on stage "
     << "1 in direction " << last << "; without a mark it is direction 0\n";
}

void pipewright::writeTable(const Schedule &schedule, const Timeline &timeline,
                            const Metrics &metrics, raw_ostream &os) {
  os << schedule.getName() << ": " << schedule.getRanks() << " ranks, "
     << schedule.getStages() << " stages, " << schedule.getShape().microbatches
     << " micro-batches\n\n";
  TimelineScale scale(schedule, timeline);
  if (scale.fits()) {
    writeTimeline(schedule, timeline, scale, os);
    writeLegend(schedule, os);
  } else {
    os << "the timeline is too wide for a terminal; use --format svg\n";
  }

  bool hasBytes = !metrics.peakBytes.empty();
  os << formatv("\n{0,4} {1,12} {2,12} {3,18}", "rank", "busy", "idle",
                "peak activations")
     << (hasBytes ? "        bytes\n" : "\n");
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank) {
    double idle = metrics.idle[rank];
    os << format("%4lld %12.6g %12.6g %18.6g", (long long)rank,
                 metrics.makespan - idle, idle, metrics.peakActivations[rank]);
    if (hasBytes)
      os << format(" %12.6g", metrics.peakBytes[rank]);
    os << '\n';
  }
  os << format("\nmakespan          %.6g\n", metrics.makespan)
     << format("bubble            %.2f %%\n", 100 * metrics.bubbleRatio)
     << "parameter copies  " << metrics.parameterCopies << '\n'
     << format("bubble in span    %.2f %%\n",
               100 * metrics.getSpanBubbleRatio())
     << "messages          " << metrics.messages << '\n';
  if (const std::optional<Spread> &spread = metrics.spread)
    os << format("with jitter       p50 %.6g, p90 %.6g, p99 %.6g", spread->p50,
                 spread->p90, spread->p99)
       << " of " << spread->seeds << " runs\n";
}
