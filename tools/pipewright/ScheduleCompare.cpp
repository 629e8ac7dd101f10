//===- ScheduleCompare.cpp - pipewright schedule compare
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Progress.h"
#include "ScheduleCosts.h"
#include "ScheduleInput.h"
#include "ScheduleOptions.h"
#include "Subcommands.h"

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/ScheduleFile.h"
#include "pipewright/Schedule/Simulator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("schedule compare",
                              "Compare schedules of one shape");
static cl::OptionCategory category("Options");
static ScheduleOptions options(command, category);

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::list<std::string> names(cl::Positional, cl::value_desc("NAME|FILE"),
                                   PIPEWRIGHT_OPTION,
                                   cl::desc("[NAME|FILE...]"));

namespace {
enum class SortKey { Makespan, Bubble, SpanBubble, Peak, Messages, Name };
} // namespace

static cl::opt<SortKey>
    sortKey("sort", PIPEWRIGHT_OPTION,
            cl::desc("What to sort by, least first (default makespan)"),
            cl::init(SortKey::Makespan),
            cl::values(clEnumValN(SortKey::Makespan, "makespan", ""),
                       clEnumValN(SortKey::Bubble, "bubble", ""),
                       clEnumValN(SortKey::SpanBubble, "span-bubble", ""),
                       clEnumValN(SortKey::Peak, "peak", ""),
                       clEnumValN(SortKey::Messages, "messages", ""),
                       clEnumValN(SortKey::Name, "name", "")));

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
struct Row {
  std::string name;
  /// Why the schedule does not serve; empty if it does and the rest is known.
  std::string reason = {};
  Metrics metrics = {};
  int64_t chunks = 0;
  /// What a search took; empty for other schedules.
  std::string chosen = {};

  bool isValid() const { return reason.empty(); }
  std::string getTitle() const {
    return chosen.empty() ? name : name + " (" + chosen + ")";
  }
  double getPeak() const { return *llvm::max_element(metrics.peakActivations); }
};
} // namespace

/// Builds, checks and times the schedule \p name into \p row.
static Error fillRow(StringRef name, const ScheduleRequest &request, Row &row) {
  Expected<Schedule> schedule = isScheduleFile(name)
                                    ? readSchedule(name, options)
                                    : buildSchedule(name, request);
  if (!schedule)
    return schedule.takeError();
  Expected<CostModel> costs = makeCosts(*schedule, request.costs);
  if (!costs)
    return costs.takeError();
  CheckOptions checks;
  checks.memoryLimit = request.memoryLimit;
  std::vector<Violation> violations = checkSchedule(*schedule, checks);
  if (!violations.empty())
    return createStringError(
        StringRef(toString(ArrayRef(violations).take_front())).rtrim());
  row.metrics = measure(*schedule, simulate(*schedule, *costs));
  row.chunks = schedule->getShape().chunks;
  row.chosen = schedule->getChosen();
  return Error::success();
}

static std::vector<Row> makeRows(ArrayRef<std::string> chosen,
                                 const ScheduleRequest &request) {
  std::vector<Row> rows;
  Progress progress(chosen.size());
  for (StringRef name : chosen) {
    progress.advance(name);
    Row row = {name.str()};
    if (Error error = fillRow(name, request, row))
      row.reason = toString(std::move(error));
    rows.push_back(std::move(row));
  }
  return rows;
}

static double getSortValue(const Row &row) {
  switch (sortKey) {
  case SortKey::Makespan:
    return row.metrics.makespan;
  case SortKey::Bubble:
    return row.metrics.bubbleRatio;
  case SortKey::SpanBubble:
    return row.metrics.getSpanBubbleRatio();
  case SortKey::Peak:
    return row.getPeak();
  case SortKey::Messages:
    return row.metrics.messages;
  case SortKey::Name:
    return 0;
  }
  llvm_unreachable("all keys are handled");
}

/// The valid ones by the key, equals by the memory they need and then by name;
/// the refused ones after them by name.
static void sortRows(std::vector<Row> &rows) {
  llvm::sort(rows, [](const Row &lhs, const Row &rhs) {
    if (lhs.isValid() != rhs.isValid())
      return lhs.isValid();
    if (!lhs.isValid() || sortKey == SortKey::Name)
      return lhs.name < rhs.name;
    return std::tuple(getSortValue(lhs), lhs.getPeak(), lhs.name) <
           std::tuple(getSortValue(rhs), rhs.getPeak(), rhs.name);
  });
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// The width of the first column.
static int getNameWidth(ArrayRef<Row> rows) {
  size_t width = StringRef("schedule").size();
  for (const Row &row : rows)
    width = std::max(width, row.getTitle().size());
  return width;
}

static void printRow(const Row &row, int width, double best, raw_ostream &os) {
  const Metrics &metrics = row.metrics;
  double slower = best > 0 ? 100 * (metrics.makespan / best - 1) : 0;
  os << left_justify(row.getTitle(), width)
     << format(" %10.6g %7.1f %% %7.1f %% %9.1f %% %7.4g", metrics.makespan,
               slower, 100 * metrics.bubbleRatio,
               100 * metrics.getSpanBubbleRatio(), row.getPeak())
     << format(" %9lld %7lld %7lld\n", (long long)metrics.messages,
               (long long)metrics.parameterCopies, (long long)row.chunks);
}

static void printTable(ArrayRef<Row> rows, raw_ostream &os) {
  int width = getNameWidth(rows);
  ArrayRef<Row> valid =
      rows.take_while([](const Row &row) { return row.isValid(); });
  if (!valid.empty()) {
    double best = valid.front().metrics.makespan;
    for (const Row &row : valid)
      best = std::min(best, row.metrics.makespan);
    os << left_justify("schedule", width)
       << "   makespan    slower    bubble span bubble    peak  messages  "
          "copies  chunks\n";
    for (const Row &row : valid)
      printRow(row, width, best, os);
  }
  ArrayRef<Row> others = rows.drop_front(valid.size());
  if (!valid.empty() && !others.empty())
    os << "\nnot possible here:\n";
  for (const Row &row : others)
    os << left_justify(row.name, width) << "  " << row.reason << '\n';
}

static void printJson(ArrayRef<Row> rows, raw_ostream &os) {
  json::OStream json(os, /*IndentSize=*/1);
  auto writeRow = [&](const Row &row) {
    json.attribute("schedule", row.name);
    json.attribute("valid", row.isValid());
    if (!row.isValid()) {
      json.attribute("reason", row.reason);
      return;
    }
    if (!row.chosen.empty())
      json.attribute("chosen", row.chosen);
    json.attribute("chunks", row.chunks);
    json.attribute("makespan", row.metrics.makespan);
    json.attribute("bubble_ratio", row.metrics.bubbleRatio);
    json.attribute("span_bubble_ratio", row.metrics.getSpanBubbleRatio());
    json.attribute("peak_activations", row.getPeak());
    json.attribute("messages", row.metrics.messages);
    json.attribute("parameter_copies", row.metrics.parameterCopies);
  };
  json.object([&] {
    json.attributeArray("schedules", [&] {
      for (const Row &row : rows)
        json.object([&] { writeRow(row); });
    });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// The schedules to compare: those given, or all that are known.
static std::vector<std::string> chooseNames() {
  if (!names.empty())
    return names;
  std::vector<std::string> all;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    all.push_back(info.name.str());
  return all;
}

static int runParsed() {
  std::vector<std::string> chosen = chooseNames();
  bool areFiles = all_of(chosen, isScheduleFile);
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &options.ranks, &options.microbatches})
    if (!option->getNumOccurrences() && !areFiles)
      return refuse("--" + option->ArgStr + " is needed", wrongCommandLine);
  ScheduleRequest request = options.makeRequest();
  if (Error error = parseCosts(options.cost, request.costs))
    return refuse(toString(std::move(error)), wrongCommandLine);
  if (Error error = readStageCosts(options, request))
    return refuse(toString(std::move(error)));

  std::vector<Row> rows = makeRows(chosen, request);
  sortRows(rows);
  Error error = writeToOutput(options.output, [&](raw_ostream &os) {
    options.json ? printJson(rows, os) : printTable(rows, os);
    return Error::success();
  });
  if (error)
    return refuse(toString(std::move(error)));
  return rows.front().isValid() ? done
                                : refuse("none of the schedules is possible");
}

int pipewright::runScheduleCompare(int argc, char **argv) {
  std::vector<const char *> arguments(argv, argv + argc);
  arguments.front() = "schedule compare";
  if (!parseArguments(
          arguments, command, category,
          formatSchedules() +
              formatExamples(
                  {"pipewright schedule compare --ranks 8 --microbatches 32",
                   "pipewright schedule compare 1f1b zb-h1 mine.csv --ranks 8 "
                   "--microbatches 32 --cost f=1,b=1,w=0.8,comm=0.1 --sort "
                   "peak"})))
    return wrongCommandLine;
  return runParsed();
}
