//===- SvgFormat.cpp - A schedule as a picture
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The chart of the papers: a row per rank, time to the right, a box per action
// with its micro-batch, and a shade per chunk or direction.
//
//===----------------------------------------------------------------------===//

#include "SvgColors.h"

#include "pipewright/Schedule/Formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <array>
#include <cmath>
#include <set>

using namespace llvm;
using namespace pipewright;

// All in pixels.
static constexpr double leftMargin = 64;
static constexpr double rightMargin = 20;
static constexpr double legendTop = 50;
static constexpr double legendLine = 20;
static constexpr double axisHeight = 40;
/// Width of the shortest action, unless the picture gets too wide.
static constexpr double wantedActionWidth = 22;
static constexpr double minPlotWidth = 560;
static constexpr double maxPlotWidth = 2400;
/// A tick of the time axis has at least this much room.
static constexpr double minTickWidth = 80;
static constexpr double minLabelSize = 6;
static constexpr double maxLabelSize = 11;
/// Of a digit, in units of the size of its font.
static constexpr double digitWidth = 0.62;

/// Pictures of more boxes have no text to hover for: it would be most of the
/// file.
static constexpr int64_t maxTitles = 20000;

static std::string formatNumber(double number) {
  std::string text;
  raw_string_ostream(text) << format("%.6g", number);
  return text;
}

/// 1, 2 or 5 times a power of ten, at least \p least.
static double roundUpToTick(double least) {
  double power = std::pow(10, std::floor(std::log10(least)));
  for (double factor : {1, 2, 5})
    if (factor * power >= least)
      return factor * power;
  return 10 * power;
}

namespace {
/// How times are written: `label` is the time of the picture, `name` stands
/// behind a number.
struct TimeUnit {
  /// Of the timeline's units, how many one of these is.
  double size = 1;
  StringRef name = "";
  StringRef label = "time";

  std::string write(double time) const {
    return formatNumber(time / size) + name.str();
  }
};
} // namespace

/// The largest unit in which \p makespan is at least 1.
static TimeUnit chooseUnit(double makespan,
                           std::optional<double> secondsPerUnit) {
  if (!secondsPerUnit)
    return {};
  double seconds = makespan * *secondsPerUnit;
  if (seconds >= 1)
    return {1 / *secondsPerUnit, " s", "time in s"};
  if (seconds >= 1e-3)
    return {1e-3 / *secondsPerUnit, " ms", "time in ms"};
  return {1e-6 / *secondsPerUnit, " µs", "time in µs"};
}

static std::string getLabel(const Action &action) {
  return std::to_string(action.microbatch);
}

namespace {
/// Numbers the stages of a rank, over all directions: each has its own shade.
class Shades {
public:
  explicit Shades(const Schedule &schedule) {
    std::vector<int64_t> next(schedule.getRanks());
    for (ArrayRef<int64_t> ranks : schedule.getPlacement()) {
      std::vector<int64_t> &shades = ofStage.emplace_back();
      for (int64_t rank : ranks)
        shades.push_back(next[rank]++);
    }
    count = *llvm::max_element(next);
  }

  int64_t get(const Action &action) const {
    return ofStage[action.direction][action.stage];
  }
  int64_t size() const { return count; }

private:
  /// Per direction and stage.
  std::vector<std::vector<int64_t>> ofStage;
  int64_t count;
};

struct Box {
  double x, y, width, height;
};

struct LegendEntry {
  Color color;
  std::string text;
  double x = 0, y = 0;
};

class SvgWriter {
public:
  SvgWriter(const Schedule &schedule, const Timeline &timeline, raw_ostream &os,
            std::optional<double> secondsPerUnit);

  void write();

private:
  void placeLegend();
  void chooseLabelSizes();
  void forEachBox(
      int64_t rank,
      function_ref<void(const Action &, const Timeline::Entry &, const Box &)>
          function) const;

  void writeHeader();
  void writeGrid();
  void writeLane(int64_t rank);
  void writeBox(const Action &action, const Timeline::Entry &entry,
                const Box &box);
  void writeLegend();
  void writeText(double x, double y, const Twine &text, StringRef attributes);
  double &getLabelSize(const Action &action) {
    return labelSizes[static_cast<size_t>(action.kind)];
  }
  double getX(double time) const { return leftMargin + time * scale; }
  double getLaneY(int64_t rank) const {
    return plotTop + rank * (laneHeight + laneGap);
  }
  double getPlotBottom() const {
    return getLaneY(schedule.getRanks() - 1) + laneHeight;
  }

  const Schedule &schedule;
  const Timeline &timeline;
  raw_ostream &os;
  Shades shades;
  TimeUnit unit;
  std::vector<LegendEntry> legend;
  double laneHeight, laneGap;
  double plotTop = legendTop;
  double plotWidth, scale;
  /// By kind of action.
  std::array<double, 5> labelSizes;
  bool hasTitles;
};
} // namespace

SvgWriter::SvgWriter(const Schedule &schedule, const Timeline &timeline,
                     raw_ostream &os, std::optional<double> secondsPerUnit)
    : schedule(schedule), timeline(timeline), os(os), shades(schedule),
      unit(chooseUnit(timeline.makespan, secondsPerUnit)) {
  double shortest = timeline.makespan;
  int64_t boxes = 0;
  for (const std::vector<Timeline::Entry> &entries : timeline.ranks) {
    boxes += entries.size();
    for (const Timeline::Entry &entry : entries)
      if (entry.end > entry.start)
        shortest = std::min(shortest, entry.end - entry.start);
  }
  double makespan = timeline.makespan > 0 ? timeline.makespan : 1;
  double wanted = shortest > 0 ? wantedActionWidth * makespan / shortest : 0;
  plotWidth = std::clamp(wanted, minPlotWidth, maxPlotWidth);
  scale = plotWidth / makespan;
  hasTitles = boxes <= maxTitles;
  laneHeight = schedule.getRanks() > 32 ? 18 : 28;
  laneGap = laneHeight / 7;
  placeLegend();
  chooseLabelSizes();
}

void SvgWriter::placeLegend() {
  std::set<ActionKind> kinds;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    for (const Action &action : schedule.getActions(rank))
      if (action.isCompute())
        forEachPart(action,
                    [&](const Action &part) { kinds.insert(part.kind); });
  for (ActionKind kind : kinds)
    legend.push_back({getColor(kind), getMeaning(kind).str()});
  StringRef what = schedule.getDirections() > 1 ? "direction " : "chunk ";
  for (int64_t shade = 0; shades.size() > 1 && shade < shades.size(); ++shade)
    legend.push_back({getColor(ActionKind::F).lighten(shade, shades.size()),
                      (what + Twine(shade)).str()});

  double x = leftMargin, y = legendTop;
  for (LegendEntry &entry : legend) {
    double width = 42 + 6.6 * entry.text.size();
    if (x + width > leftMargin + plotWidth && x > leftMargin) {
      x = leftMargin;
      y += legendLine;
    }
    entry.x = x;
    entry.y = y;
    x += width;
  }
  plotTop = y + legendLine + 6;
}

/// One size for all labels of a kind, so that the picture is calm: that at
/// which the labels fit their boxes, if it can be read.
void SvgWriter::chooseLabelSizes() {
  labelSizes.fill(maxLabelSize);
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    forEachBox(rank, [&](const Action &action, const Timeline::Entry &,
                         const Box &box) {
      double digits = getLabel(action).size();
      double fitting = (box.width - 2) / (digits * digitWidth);
      double &size = getLabelSize(action);
      size = std::min({size, fitting, 0.8 * box.height});
    });
  for (double &size : labelSizes)
    size = std::max(size, minLabelSize);
}

void SvgWriter::forEachBox(
    int64_t rank,
    function_ref<void(const Action &, const Timeline::Entry &, const Box &)>
        function) const {
  for (const Timeline::Entry &entry : timeline.ranks[rank]) {
    const Action &action = schedule.getActions(rank)[entry.action];
    // The parts of an overlapped pair share the time, one above the other.
    double height = laneHeight / std::max<size_t>(1, action.parts.size());
    Box box = {getX(entry.start), getLaneY(rank),
               (entry.end - entry.start) * scale, height};
    forEachPart(action, [&](const Action &part) {
      function(part, entry, box);
      box.y += height;
    });
  }
}

void SvgWriter::write() {
  writeHeader();
  writeLegend();
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
                 "fill=\"#eceff2\"/>\n",
                 leftMargin, getLaneY(rank), plotWidth, laneHeight);
  writeGrid();
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    writeLane(rank);
  os << "</svg>\n";
}

void SvgWriter::writeText(double x, double y, const Twine &text,
                          StringRef attributes) {
  os << format("<text x=\"%.2f\" y=\"%.2f\"", x, y) << attributes << '>';
  printHTMLEscaped(text.str(), os);
  os << "</text>\n";
}

void SvgWriter::writeHeader() {
  Metrics metrics = measure(schedule, timeline);
  double width = leftMargin + plotWidth + rightMargin;
  double height = getPlotBottom() + axisHeight;
  os << format("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
               "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" ",
               width, height, width, height)
     << "font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" "
        "fill=\"#222\">\n"
     << format("<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", width,
               height);
  std::string bubble;
  raw_string_ostream(bubble) << format("%.1f", 100 * metrics.bubbleRatio);
  writeText(leftMargin, 20,
            schedule.getName() + ": " + Twine(schedule.getRanks()) +
                " ranks, " + Twine(schedule.getShape().microbatches) +
                " micro-batches, bubble " + bubble + " %",
            " font-size=\"15\" font-weight=\"bold\"");
  double peak = *llvm::max_element(metrics.peakActivations);
  writeText(leftMargin, 37,
            "makespan " + unit.write(metrics.makespan) + ", peak activations " +
                formatNumber(peak) + ", parameter copies " +
                Twine(metrics.parameterCopies),
            " fill=\"#555\"");
}

void SvgWriter::writeLegend() {
  for (const LegendEntry &entry : legend) {
    os << format("<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" ",
                 entry.x, entry.y)
       << "fill=\"" << entry.color.toString() << "\"/>\n";
    writeText(entry.x + 17, entry.y + 10, entry.text, "");
  }
}

void SvgWriter::writeGrid() {
  double bottom = getPlotBottom();
  os << "<g text-anchor=\"middle\" fill=\"#555\" font-size=\"11\">\n";
  double step = unit.size * roundUpToTick(minTickWidth / (scale * unit.size));
  double end = timeline.makespan * (1 + 1e-9);
  for (int64_t tick = 0; tick * step <= end; ++tick) {
    double x = getX(tick * step);
    os << format("<path d=\"M%.1f %.1fV%.1f\" stroke=\"#c3c9d0\"/>\n", x,
                 plotTop - 3, bottom + 5);
    writeText(x, bottom + 18, formatNumber(tick * step / unit.size), "");
  }
  writeText(leftMargin + plotWidth / 2, bottom + 34, unit.label, "");
  os << "</g>\n";
}

void SvgWriter::writeLane(int64_t rank) {
  writeText(leftMargin - 8, getLaneY(rank) + laneHeight / 2 + 4,
            "rank " + Twine(rank), " text-anchor=\"end\"");
  os << "<g text-anchor=\"middle\">\n";
  forEachBox(rank, [&](const Action &action, const Timeline::Entry &entry,
                       const Box &box) { writeBox(action, entry, box); });
  os << "</g>\n";
}

void SvgWriter::writeBox(const Action &action, const Timeline::Entry &entry,
                         const Box &box) {
  Color color =
      getColor(action.kind).lighten(shades.get(action), shades.size());
  // A white edge parts the boxes, but must not hide narrow ones.
  double edge = std::min(1.0, box.width / 8);
  os << format("<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" ",
               box.x, box.y, box.width, box.height)
     << "fill=\"" << color.toString() << "\" stroke=\"#fff\" "
     << format("stroke-width=\"%.2f\"", edge);
  if (hasTitles)
    os << "><title>" << describe(action) << ": " << unit.write(entry.start)
       << " to " << unit.write(entry.end) << "</title></rect>\n";
  else
    os << "/>\n";
  std::string label = getLabel(action);
  double size = getLabelSize(action);
  if (label.size() * digitWidth * size > box.width - 1)
    return;
  std::string attributes;
  raw_string_ostream(attributes) << format(" font-size=\"%.1f\"", size)
                                 << (color.isDark() ? " fill=\"#fff\"" : "");
  writeText(box.x + box.width / 2, box.y + box.height / 2 + 0.36 * size, label,
            attributes);
}

void pipewright::writeSvg(const Schedule &schedule, const Timeline &timeline,
                          raw_ostream &os,
                          std::optional<double> secondsPerUnit) {
  SvgWriter(schedule, timeline, os, secondsPerUnit).write();
}
