//===- MemoryTimeline.cpp - Pictures of memory over a step
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryTimeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace pipewright;

// All in pixels.
static constexpr double chartWidth = 1000;
static constexpr double chartHeight = 90;
/// Room above the chart for the words at the peak.
static constexpr double labelHeight = 18;

/// Charts of more actions have no text to hover for: it would be most of the
/// file.
static constexpr size_t mostTitles = 2000;
/// Of what is in memory at the peak, as much is listed.
static constexpr size_t mostParts = 5;

namespace {
/// The chart of one rank.
class Chart {
public:
  Chart(const MemorySummary &memory, int64_t fullBytes)
      : memory(memory), peak(memory.peak), fullBytes(fullBytes),
        actionWidth(chartWidth / std::max<size_t>(peak.actions.size(), 1)) {}

  void write(raw_ostream &html) const;

private:
  double getHeight(int64_t bytes) const {
    return fullBytes > 0 ? chartHeight * bytes / fullBytes : 0;
  }
  double getTop(int64_t bytes) const {
    return labelHeight + chartHeight - getHeight(bytes);
  }
  void writeLive(raw_ostream &html) const;
  void writeLasting(raw_ostream &html) const;
  void writePeak(raw_ostream &html) const;
  void writeTitles(raw_ostream &html) const;

  const MemorySummary &memory;
  const MemoryPeak &peak;
  int64_t fullBytes;
  double actionWidth;
};
} // namespace

/// A step for each action.
void Chart::writeLive(raw_ostream &html) const {
  html << formatv("<path style=\"fill:var(--a)\" d=\"M0 {0:F1}", getTop(0));
  for (auto [action, bytes] : enumerate(peak.liveBytes))
    html << formatv("V{0:F1}H{1:F1}", getTop(bytes),
                    (action + 1) * actionWidth);
  html << formatv("V{0:F1}Z\"/>", getTop(0));
}

/// Parameters, gradients and optimizer state, at the bottom.
void Chart::writeLasting(raw_ostream &html) const {
  int64_t bytes = memory.parameters + memory.gradients + memory.optimizer;
  html << formatv("<rect style=\"fill:var(--p)\" y=\"{0:F1}\" width=\"{1}\" "
                  "height=\"{2:F1}\"/>",
                  getTop(bytes), chartWidth, getHeight(bytes));
}

void Chart::writePeak(raw_ostream &html) const {
  double x = (peak.peakAction + 0.5) * actionWidth;
  double y = getTop(peak.getPeakBytes());
  bool isLeft = x < chartWidth / 2;
  html << formatv("<path style=\"stroke:var(--ink)\" d=\"M{0:F1} {1:F1}V{2:F1}"
                  "\"/><circle cx=\"{0:F1}\" cy=\"{1:F1}\" r=\"3\"/>",
                  x, y, getTop(0));
  html << formatv("<text x=\"{0:F1}\" y=\"{1:F1}\" text-anchor=\"{2}\">{3} "
                  "during {4}</text>",
                  x, y - 6, isLeft ? "start" : "end",
                  formatBytes(peak.getPeakBytes()),
                  peak.actions[peak.peakAction]);
}

void Chart::writeTitles(raw_ostream &html) const {
  if (peak.actions.size() > mostTitles)
    return;
  for (auto [action, bytes] : enumerate(peak.liveBytes))
    html << formatv("<rect class=\"hover\" x=\"{0:F1}\" y=\"{1}\" "
                    "width=\"{2:F1}\" height=\"{3}\"><title>{4}: {5}</title>"
                    "</rect>",
                    action * actionWidth, labelHeight, actionWidth, chartHeight,
                    peak.actions[action], formatBytes(bytes));
}

void Chart::write(raw_ostream &html) const {
  html << formatv("<svg class=\"memory\" viewBox=\"0 0 {0} {1}\">", chartWidth,
                  labelHeight + chartHeight);
  writeLive(html);
  writeLasting(html);
  writePeak(html);
  writeTitles(html);
  html << "</svg>\n";
}

static void writeParts(raw_ostream &html, const MemoryPeak &peak) {
  html << "<table>\n";
  for (const MemoryPart &part : ArrayRef(peak.parts).take_front(mostParts)) {
    html << "<tr><td class=\"left\">";
    printHTMLEscaped(part.what, html);
    html << formatv("</td><td class=\"left\">{0}</td><td>{1}</td></tr>\n",
                    formatMicrobatches(part), formatBytes(part.bytes));
  }
  html << "</table>\n";
}

void pipewright::writeMemoryTimelines(raw_ostream &html,
                                      const PlanSummary &plan) {
  html << "<h2>Memory over a step</h2>\n<p class=\"lead\">Bytes in use during "
          "each action of a rank, below them what lasts as long as the run, "
          "and what takes most at the peak.</p>\n";
  int64_t fullBytes = 0;
  for (const MemorySummary &memory : plan.memory)
    fullBytes = std::max(fullBytes, memory.peak.getPeakBytes());
  for (const MemorySummary &memory : plan.memory) {
    if (memory.peak.actions.empty())
      continue;
    html << formatv("<h3>rank {0}</h3>\n", memory.peak.rank);
    Chart(memory, fullBytes).write(html);
    writeParts(html, memory.peak);
  }
}
