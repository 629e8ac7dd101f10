//===- WhatIf.cpp - pipewright whatif
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Diagnostics.h"
#include "Subcommands.h"

#include "pipewright/Driver/WhatIf.h"
#include "pipewright/Package/PlanSummary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("whatif", "Predict how a build fares on another "
                                        "machine");
static cl::OptionCategory category("Options");

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<std::string> directory(cl::Positional, cl::value_desc("DIR"),
                                      cl::desc("DIR"), cl::Required,
                                      PIPEWRIGHT_OPTION);
static cl::list<std::string>
    changes("set", cl::CommaSeparated, cl::value_desc("KEY=VALUE"),
            PIPEWRIGHT_OPTION,
            cl::desc("Change link.bandwidth (bytes/s), link.latency (s), "
                     "link.NAME.bandwidth and link.NAME.latency of a "
                     "topology, rank.N.speed, microbatches or overhead (s of "
                     "an action); a value such as x0.5 multiplies what there "
                     "is. All are made at once (default: a table of usual "
                     "ones, one by one)"));
static cl::opt<bool> asJson("json", PIPEWRIGHT_OPTION, cl::desc("Print JSON"));

namespace {
/// A line of the table: changes that are made at once, and what comes of them.
struct Row {
  std::vector<std::string> changes;
  JudgedStep step;
};
} // namespace

/// How much longer a sample takes than in \p planned.
static double getIncrease(const JudgedStep &step, const JudgedStep &planned) {
  return planned.samplesPerSecond / step.samplesPerSecond - 1;
}

static std::string formatPercent(double ratio) {
  return formatv("{0:F1} %", 100 * ratio).str();
}

static void printTable(ArrayRef<Row> rows) {
  outs() << formatv("{0,-28}{1,12}{2,12}{3,12}{4,11}{5,10}{6,10}  {7}\n",
                    "change", "step", "samples/s", "per sample", "computing",
                    "messages", "waiting", "limited by");
  for (const Row &row : rows) {
    const JudgedStep &step = row.step;
    bool isPlanned = row.changes.empty();
    std::string increase = formatPercent(getIncrease(step, rows[0].step));
    if (!StringRef(increase).starts_with("-"))
      increase = "+" + increase;
    outs() << formatv("{0,-28}{1,12}{2,12:F1}{3,12}{4,11}{5,10}{6,10}  {7}\n",
                      isPlanned ? "as planned" : join(row.changes, ","),
                      formatSeconds(step.seconds), step.samplesPerSecond,
                      isPlanned ? "" : increase,
                      formatPercent(step.computingSeconds / step.seconds),
                      formatPercent(step.messageSeconds / step.seconds),
                      formatPercent(step.waitingSeconds / step.seconds),
                      step.describeLimit());
  }
}

static json::Object toJSON(const Row &row, const JudgedStep &planned) {
  const JudgedStep &step = row.step;
  return json::Object{{"set", row.changes},
                      {"step_seconds", step.seconds},
                      {"samples_per_second", step.samplesPerSecond},
                      {"increase_per_sample", getIncrease(step, planned)},
                      {"busiest_rank", step.busiestRank},
                      {"computing_seconds", step.computingSeconds},
                      {"message_seconds", step.messageSeconds},
                      {"waiting_seconds", step.waitingSeconds},
                      {"update_seconds", step.updateSeconds},
                      {"limited_by", step.describeLimit()}};
}

static void printJson(ArrayRef<Row> rows) {
  json::Array list;
  for (const Row &row : rows.drop_front())
    list.push_back(toJSON(row, rows[0].step));
  json::Object object{{"build", directory.getValue()},
                      {"planned", toJSON(rows[0], rows[0].step)},
                      {"changes", std::move(list)}};
  outs() << formatv("{0:2}", json::Value(std::move(object))) << '\n';
}

static int runParsed() {
  CommandContext commandContext;
  mlir::FailureOr<StepModel> model =
      readBuiltStep(directory, commandContext.context);
  if (failed(model))
    return refused;
  std::vector<std::vector<std::string>> wanted;
  if (!changes.empty())
    wanted.push_back({changes.begin(), changes.end()});
  else
    for (std::string &change : listUsualChanges(*model))
      wanted.push_back({std::move(change)});
  std::vector<Row> rows = {{{}, judgeStep(*model)}};
  for (std::vector<std::string> &row : wanted) {
    Expected<StepModel> changed = applyChanges(*model, row);
    if (!changed)
      return refuse("--set " + toString(changed.takeError()));
    rows.push_back({std::move(row), judgeStep(*changed)});
  }
  if (asJson)
    printJson(rows);
  else
    printTable(rows);
  return done;
}

int pipewright::runWhatIf(int argc, char **argv) {
  if (!parseArguments(
          ArrayRef<const char *>(argv, argc), command, category,
          formatExamples({"pipewright whatif out",
                          "pipewright whatif out --set link.bandwidth=x0.5",
                          "pipewright whatif out --set "
                          "rank.3.speed=0.8,microbatches=16"})))
    return wrongCommandLine;
  return runParsed();
}
