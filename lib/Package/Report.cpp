//===- Report.cpp - report.html: the plan as people look at it
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/Report.h"

#include "MemoryTimeline.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace pipewright;

static const char styleSheet[] =
#include "pipewright/Package/report.css.inc"
    ;

namespace {

/// A part of a bar: which colour, how much, what it is.
struct Segment {
  const char *colour;
  double value;
  const char *label;
};

} // namespace

static std::string escape(StringRef text) {
  std::string result;
  raw_string_ostream stream(result);
  printHTMLEscaped(text, stream);
  return result;
}

static void writeBar(raw_ostream &html, ArrayRef<Segment> segments,
                     double full) {
  html << "<div class=\"bar\">";
  for (const Segment &segment : segments)
    html << formatv("<i style=\"width:{0:F2}%;background:var(--{1})\" "
                    "title=\"{2}\"></i>",
                    full > 0 ? 100 * segment.value / full : 0, segment.colour,
                    segment.label);
  html << "</div>";
}

static void writeKey(raw_ostream &html, ArrayRef<Segment> segments) {
  html << "<p class=\"key\">";
  for (const Segment &segment : segments)
    html << formatv("<i style=\"background:var(--{0})\"></i>{1}",
                    segment.colour, segment.label);
  html << "</p>\n";
}

static SmallVector<Segment> getCostSegments(const StageSummary &stage) {
  SmallVector<Segment> segments = {
      {"f", stage.secondsForward, "forward"},
      {"b", stage.secondsBackwardInput, "gradient for the inputs"},
      {"w", stage.secondsBackwardWeight, "gradient for the weights"}};
  if (stage.secondsRecompute > 0)
    segments.push_back({"r", stage.secondsRecompute, "recomputation"});
  return segments;
}

static SmallVector<Segment> getMemorySegments(const MemorySummary &memory) {
  return {{"p", static_cast<double>(memory.parameters), "parameters"},
          {"g", static_cast<double>(memory.gradients), "gradients"},
          {"o", static_cast<double>(memory.optimizer), "optimizer"},
          {"a", static_cast<double>(memory.activations), "activations"},
          {"s", static_cast<double>(memory.workspace), "workspace"}};
}

static double getTotal(ArrayRef<Segment> segments) {
  double total = 0;
  for (const Segment &segment : segments)
    total += segment.value;
  return total;
}

static int64_t countParameters(const StageSummary &stage) {
  int64_t count = 0;
  for (const ParameterSummary &parameter : stage.parameters) {
    int64_t elements = 1;
    for (int64_t extent : parameter.shape)
      elements *= extent;
    count += elements;
  }
  return count;
}

/// "first … last" of a stage's layers.
static std::string describeLayers(const StageSummary &stage) {
  if (stage.layers.size() == 1)
    return stage.layers.front();
  return stage.layers.front() + " … " + stage.layers.back();
}

static void writeBalance(raw_ostream &html, const PlanSummary &plan) {
  html << "<h2>Balance</h2>\n<p class=\"lead\">Cost of one micro-batch by "
          "stage; the slowest stage sets the pace.</p>\n";
  double slowest = 0;
  for (const StageSummary &stage : plan.stages)
    slowest = std::max(slowest, getTotal(getCostSegments(stage)));
  html << "<table><tr><th>stage</th><th>rank</th><th class=\"left\">layers</th>"
          "<th>parameters</th><th>time</th><th></th></tr>\n";
  for (const StageSummary &stage : plan.stages) {
    SmallVector<Segment> segments = getCostSegments(stage);
    html << formatv("<tr><td>{0}</td><td>{1}</td><td class=\"left\">{2}: {3}"
                    "</td><td>{4:N}</td><td>{5}</td><td>",
                    stage.index, stage.rank, stage.layers.size(),
                    escape(describeLayers(stage)), countParameters(stage),
                    formatSeconds(getTotal(segments)));
    writeBar(html, segments, slowest);
    html << "</td></tr>\n";
  }
  html << "</table>\n";
  // One that recomputes has all kinds.
  writeKey(html, getCostSegments(*llvm::max_element(
                     plan.stages, [](const auto &a, const auto &b) {
                       return a.secondsRecompute < b.secondsRecompute;
                     })));
}

static void writeMemory(raw_ostream &html, const PlanSummary &plan) {
  html << "<h2>Memory</h2>\n<p class=\"lead\">Each rank allocates one arena "
          "of exactly this size when it starts, and nothing after; this is "
          "what it holds at its peak.</p>\n";
  double largest = 0;
  for (const MemorySummary &memory : plan.memory)
    largest = std::max<double>(largest, memory.arena);
  html << "<table><tr><th>rank</th>";
  for (const Segment &segment : getMemorySegments(MemorySummary()))
    html << "<th>" << segment.label << "</th>";
  html << "<th>total</th><th></th></tr>\n";
  for (auto [rank, memory] : enumerate(plan.memory)) {
    SmallVector<Segment> segments = getMemorySegments(memory);
    html << "<tr><td>" << rank << "</td>";
    for (const Segment &segment : segments)
      html << "<td>" << formatBytes(segment.value) << "</td>";
    html << "<td>" << formatBytes(memory.arena) << "</td><td>";
    writeBar(html, segments, largest);
    html << "</td></tr>\n";
  }
  html << "</table>\n";
  writeKey(html, getMemorySegments(MemorySummary()));
}

static void writeMessages(raw_ostream &html, const PlanSummary &plan) {
  if (plan.messages.empty())
    return;
  html << "<h2>Messages</h2>\n<p class=\"lead\">What stages pass on, once for "
          "each micro-batch.</p>\n<table><tr><th>from stage</th><th>to stage"
          "</th><th class=\"left\">what</th><th class=\"left\">elements</th>"
          "<th>bytes</th></tr>\n";
  for (const MessageSummary &message : plan.messages) {
    std::string shape;
    raw_string_ostream stream(shape);
    interleave(message.shape, stream, "x");
    html << formatv("<tr><td>{0}</td><td>{1}</td><td class=\"left\">{2}</td>"
                    "<td class=\"left\">{3} {4}</td><td>{5}</td></tr>\n",
                    message.source, message.target, message.kind, shape,
                    message.dtype, formatBytes(message.bytes));
  }
  html << "</table>\n";
}

static void writePlacement(raw_ostream &html, const PredictedStep &step) {
  if (!step.machine.placement)
    return;
  std::string text;
  raw_string_ostream stream(text);
  printPlacement(*step.machine.placement, stream);
  html << "<pre>" << escape(text) << "</pre>\n";
}

std::string pipewright::makeReport(const PlanSummary &plan,
                                   const PredictedStep &step) {
  std::string text;
  raw_string_ostream html(text);
  html << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
       << "<meta name=\"viewport\" content=\"width=device-width\">"
       << "<title>" << escape(plan.model) << " on " << plan.ranks
       << " ranks</title>\n<style>" << styleSheet << "</style></head><body>\n";
  html << formatv("<h1>{0} on {1} ranks</h1>\n", escape(plan.model),
                  plan.ranks);
  html << formatv(
      "<p class=\"lead\">schedule {0}, {1} micro-batches of {2}, {3} stages"
      "</p>\n",
      escape(plan.schedule), plan.microbatches, plan.microbatchSize,
      plan.stages.size());
  html << "<h2>Timeline of a step</h2>\n"
       << formatv("<p class=\"lead\">Predicted: {0} a step, of which {1:P1} "
                  "idle, from {2}.</p>\n",
                  formatSeconds(step.makespan), step.bubbleRatio,
                  escape(step.costs))
       << "<div class=\"picture\">" << step.timeline << "</div>\n";
  writePlacement(html, step);
  writeMemoryTimelines(html, plan);
  writeBalance(html, plan);
  writeMemory(html, plan);
  writeMessages(html, plan);
  html << "</body></html>\n";
  return text;
}

void pipewright::printPlan(const PlanSummary &plan, const PredictedStep &step,
                           raw_ostream &stream) {
  stream << formatv("{0}: {1} stages on {2} ranks, schedule {3}, {4} "
                    "micro-batches of {5}",
                    plan.model, plan.stages.size(), plan.ranks, plan.schedule,
                    plan.microbatches, plan.microbatchSize);
  if (plan.replicas > 1)
    stream << formatv(", in {0} pipelines", plan.replicas);
  if (plan.peers > 1)
    stream << formatv(", in groups of {0} that share experts out", plan.peers);
  stream << '\n';
  stream << formatv("predicted step {0}, bubble {1:P1}, from {2}\n\n",
                    formatSeconds(step.makespan), step.bubbleRatio, step.costs);
  stream << formatv("{0,-6}{1,-6}{2,-36}{3,14}{4,12}\n", "stage", "rank",
                    "layers", "parameters", "time");
  for (const StageSummary &stage : plan.stages)
    stream << formatv(
        "{0,-6}{1,-6}{2,-36}{3,14:N}{4,12}\n", stage.index, stage.rank,
        formatv("{0}: {1}", stage.layers.size(),
                stage.layers.size() == 1
                    ? stage.layers.front()
                    : stage.layers.front() + " .. " + stage.layers.back())
            .str(),
        countParameters(stage),
        formatSeconds(getTotal(getCostSegments(stage))));
  stream << formatv("\n{0,-6}", "rank");
  for (const Segment &segment : getMemorySegments(MemorySummary()))
    stream << formatv("{0,12}", segment.label);
  stream << formatv("{0,12}\n", "total");
  for (auto [rank, memory] : enumerate(plan.memory)) {
    stream << formatv("{0,-6}", rank);
    for (const Segment &segment : getMemorySegments(memory))
      stream << formatv("{0,12}",
                        formatBytes(static_cast<int64_t>(segment.value)));
    stream << formatv("{0,12}\n", formatBytes(memory.arena));
  }
  if (!step.machine.placement)
    return;
  stream << '\n';
  printPlacement(*step.machine.placement, stream);
}
