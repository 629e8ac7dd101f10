//===- SvgFormat.cpp - A schedule as a picture
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <set>

using namespace llvm;
using namespace pipewright;

// All in pixels.
static constexpr double laneHeight = 28;
static constexpr double laneGap = 6;
static constexpr double leftMargin = 64;
static constexpr double topMargin = 44;
static constexpr double rightMargin = 16;
static constexpr double axisHeight = 34;
/// Width of the shortest action, unless the picture gets too wide.
static constexpr double minActionWidth = 24;
static constexpr double minPlotWidth = 480;
static constexpr double maxPlotWidth = 4000;
/// Narrower actions have no room for their micro-batch.
static constexpr double minLabelWidth = 13;

static StringRef getColor(ActionKind kind) {
  switch (kind) {
  case ActionKind::F:
    return "#4e79a7";
  case ActionKind::B:
    return "#f28e2b";
  case ActionKind::W:
    return "#59a14f";
  case ActionKind::BW:
    return "#e15759";
  default:
    return "#b07aa1";
  }
}

static StringRef getMeaning(ActionKind kind) {
  switch (kind) {
  case ActionKind::F:
    return "forward";
  case ActionKind::B:
    return "input gradient";
  case ActionKind::W:
    return "weight gradient";
  case ActionKind::BW:
    return "backward";
  default:
    return "recompute";
  }
}

namespace {
class SvgWriter {
public:
  SvgWriter(const Schedule &schedule, const Timeline &timeline, raw_ostream &os)
      : schedule(schedule), timeline(timeline), os(os) {
    double shortest = timeline.makespan;
    for (const std::vector<Timeline::Entry> &entries : timeline.ranks)
      for (const Timeline::Entry &entry : entries)
        if (entry.end > entry.start)
          shortest = std::min(shortest, entry.end - entry.start);
    double makespan = timeline.makespan > 0 ? timeline.makespan : 1;
    double wanted = shortest > 0 ? minActionWidth * makespan / shortest : 0;
    plotWidth = std::clamp(wanted, minPlotWidth, maxPlotWidth);
    scale = plotWidth / makespan;
    plotHeight = schedule.getRanks() * (laneHeight + laneGap);
  }

  void write();

private:
  void writeHeader();
  void writeLane(int64_t rank);
  void writeAction(const Action &action, double x, double y, double width,
                   double height);
  void writeLegend();
  void writeAxis();
  void writeText(double x, double y, StringRef anchor, const Twine &text,
                 StringRef fill = "#333");
  double getX(double time) const { return leftMargin + time * scale; }

  const Schedule &schedule;
  const Timeline &timeline;
  raw_ostream &os;
  double scale;
  double plotWidth;
  double plotHeight;
};
} // namespace

void SvgWriter::write() {
  writeHeader();
  writeLegend();
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    writeLane(rank);
  writeAxis();
  os << "</svg>\n";
}

void SvgWriter::writeHeader() {
  double width = leftMargin + plotWidth + rightMargin;
  double height = topMargin + plotHeight + axisHeight;
  os << format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
               "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
               "font-family=\"system-ui, sans-serif\" font-size=\"12\">\n",
               width, height, width, height)
     << format("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width,
               height);
}

void SvgWriter::writeText(double x, double y, StringRef anchor,
                          const Twine &text, StringRef fill) {
  os << format("<text x=\"%.1f\" y=\"%.1f\"", x, y) << " text-anchor=\""
     << anchor << "\" fill=\"" << fill << "\">";
  printHTMLEscaped(text.str(), os);
  os << "</text>\n";
}

void SvgWriter::writeLane(int64_t rank) {
  double y = topMargin + rank * (laneHeight + laneGap);
  writeText(leftMargin - 10, y + laneHeight / 2 + 4, "end",
            "rank " + Twine(rank));
  os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
               "rx=\"3\" fill=\"#f0f1f3\"/>\n",
               leftMargin, y, plotWidth, laneHeight);
  for (const Timeline::Entry &entry : timeline.ranks[rank]) {
    const Action &action = schedule.getActions(rank)[entry.action];
    double x = getX(entry.start);
    double width = (entry.end - entry.start) * scale;
    // The parts of an overlapped pair share the time, one above the other.
    double parts = std::max<size_t>(1, action.parts.size());
    double partY = y;
    forEachPart(action, [&](const Action &part) {
      writeAction(part, x, partY, width, laneHeight / parts);
      partY += laneHeight / parts;
    });
  }
}

void SvgWriter::writeAction(const Action &action, double x, double y,
                            double width, double height) {
  // Later stages of a rank are paler, so that chunks can be told apart.
  int64_t chunk = action.stage / schedule.getRanks();
  double opacity = std::max(0.45, 1.0 - 0.25 * chunk);
  os << format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"", x,
               y, width, height)
     << format(" rx=\"2\" fill=\"%s\" fill-opacity=\"%.2f\"",
               getColor(action.kind).data(), opacity)
     << " stroke=\"#fff\" stroke-width=\"0.8\"><title>" << describe(action)
     << "</title></rect>\n";
  if (width >= minLabelWidth)
    writeText(x + width / 2, y + height / 2 + 4, "middle",
              Twine(action.microbatch), "#fff");
}

void SvgWriter::writeLegend() {
  Metrics metrics = measure(schedule, timeline);
  std::string bubble;
  raw_string_ostream(bubble) << format("%.1f", 100 * metrics.bubbleRatio);
  writeText(leftMargin, 18, "start",
            schedule.getName() + ": " + Twine(schedule.getRanks()) +
                " ranks, " + Twine(schedule.getShape().microbatches) +
                " micro-batches, bubble " + bubble + " %");
  std::set<ActionKind> kinds;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank))
      if (action.isCompute())
        forEachPart(action,
                    [&](const Action &part) { kinds.insert(part.kind); });
  double x = leftMargin;
  for (ActionKind kind : kinds) {
    os << format("<rect x=\"%.1f\" y=\"26\" width=\"11\" height=\"11\" "
                 "rx=\"2\" fill=\"%s\"/>\n",
                 x, getColor(kind).data());
    writeText(x + 16, 36, "start", getMeaning(kind));
    x += 28 + 7 * getMeaning(kind).size();
  }
}

void SvgWriter::writeAxis() {
  double y = topMargin + plotHeight;
  os << format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
               "stroke=\"#999\"/>\n",
               leftMargin, y, leftMargin + plotWidth, y);
  constexpr int ticks = 4;
  for (int tick = 0; tick <= ticks; ++tick) {
    double time = timeline.makespan * tick / ticks;
    std::string label;
    raw_string_ostream(label) << format("%.4g", time);
    writeText(getX(time), y + 18,
              tick == 0 ? "start" : (tick == ticks ? "end" : "middle"), label,
              "#666");
  }
}

void pipewright::writeSvg(const Schedule &schedule, const Timeline &timeline,
                          raw_ostream &os) {
  SvgWriter(schedule, timeline, os).write();
}
