//===- WhatIf.cpp - pipewright whatif
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildPlan.h"
#include "CommandLine.h"
#include "Diagnostics.h"
#include "Progress.h"
#include "Subcommands.h"

#include "pipewright/Driver/Compiler.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Driver/WhatIf.h"
#include "pipewright/Package/PlanSummary.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("whatif", "Predict how a plan fares on another "
                                        "machine");
static cl::OptionCategory category("Options");

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<std::string>
    planned(cl::Positional, cl::value_desc("DIR|FILE"),
            cl::desc("DIR|FILE: a build, or a plan of 'pipewright plan -o'"),
            cl::Required, PIPEWRIGHT_OPTION);
static cl::opt<std::string> model("model", cl::value_desc("MODEL"),
                                  PIPEWRIGHT_OPTION,
                                  cl::desc("The .onnx or .mlir file that FILE "
                                           "is a plan for"));
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
  json::Object object{{"plan", planned.getValue()},
                      {"planned", toJSON(rows[0], rows[0].step)},
                      {"changes", std::move(list)}};
  outs() << formatv("{0:2}", json::Value(std::move(object))) << '\n';
}

/// The step of the build or of the plan; failure, with a message, if it cannot
/// be read.
static mlir::FailureOr<StepModel> readStep(mlir::MLIRContext &context) {
  StringRef path = planned;
  if (!path.ends_with(".toml") && !path.ends_with(".json")) {
    if (model.empty())
      return readBuiltStep(path, context);
    refuse("--model: a build has its model");
    return mlir::failure();
  }
  if (model.empty()) {
    refuse("--model is needed: '" + path + "' does not name its model");
    return mlir::failure();
  }
  std::optional<BuildOptions> options = readPlan(planned, model);
  if (!options)
    return mlir::failure();
  Progress progress(getPhases().size() + 1);
  return planStep(*options, context,
                  [&](StringRef phase) { progress.advance(phase); });
}

static int runParsed() {
  CommandContext commandContext;
  mlir::FailureOr<StepModel> step = readStep(commandContext.context);
  if (failed(step))
    return refused;
  std::vector<std::vector<std::string>> wanted;
  if (!changes.empty())
    wanted.push_back({changes.begin(), changes.end()});
  else
    for (std::string &change : listUsualChanges(*step))
      wanted.push_back({std::move(change)});
  std::vector<Row> rows = {{{}, judgeStep(*step)}};
  for (std::vector<std::string> &row : wanted) {
    Expected<StepModel> changed = applyChanges(*step, row);
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
  if (!parseArguments(ArrayRef<const char *>(argv, argc), command, category,
                      formatExamples({"pipewright whatif out",
                                      "pipewright whatif plan.toml --model "
                                      "gpt.onnx --set link.bandwidth=x0.5",
                                      "pipewright whatif out --set "
                                      "rank.3.speed=0.8,microbatches=16"})))
    return wrongCommandLine;
  return runParsed();
}
