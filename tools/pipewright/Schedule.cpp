//===- Schedule.cpp - pipewright schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "ScheduleCosts.h"
#include "ScheduleInput.h"
#include "ScheduleOptions.h"
#include "ScheduleOutput.h"
#include "Subcommands.h"

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("schedule", "Explore schedules without a model");
static cl::OptionCategory category("Options");
static ScheduleOptions options(command, category);

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<std::string>
    scheduleName("schedule", cl::value_desc("NAME|FILE"), PIPEWRIGHT_OPTION,
                 cl::desc("A schedule by name, or a .csv (PyTorch's format) or "
                          ".json file that holds one"));
static cl::opt<bool>
    withCommunication("with-communication", PIPEWRIGHT_OPTION,
                      cl::desc("Add sends and receives in an order that cannot "
                               "deadlock"));
static cl::opt<ScheduleFormat>
    outputFormat("format", PIPEWRIGHT_OPTION,
                 cl::desc("What to print (default table)"),
                 cl::init(ScheduleFormat::Table), getScheduleFormats());

static std::string getMoreHelp() {
  std::string text = "\nSCHEDULES:\n\n";
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    text += formatv("  {0,-18} {1}\n", info.name, info.summary);
  return text + formatExamples({"pipewright schedule --schedule 1f1b --ranks 4 "
                                "--microbatches 8"});
}

/// Checks, simulates and prints \p schedule.
static int explore(Schedule schedule, const ScheduleRequest &request) {
  Expected<CostModel> costs = makeCosts(schedule, request.costs);
  if (!costs)
    return refuse((options.layout.empty() ? "'" + options.stageCost + "'"
                                          : std::string("layout")) +
                  ": " + toString(costs.takeError()));

  CheckOptions checks;
  checks.memoryLimit = request.memoryLimit;
  std::vector<Violation> violations = checkSchedule(schedule, checks);
  if (!violations.empty())
    return refuse("schedule '" + schedule.getName() + "' is not valid\n" +
                  StringRef(toString(violations)).rtrim());

  if (withCommunication)
    schedule = addCommunication(schedule, *costs);
  ScheduleFormat format = options.json ? ScheduleFormat::Json : outputFormat;
  Error error = writeToOutput(options.output, [&](raw_ostream &os) {
    return writeSchedule(schedule, *costs, format, os);
  });
  return error ? refuse(toString(std::move(error))) : done;
}

static int runParsed() {
  bool fromFile = isScheduleFile(scheduleName);
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &scheduleName, &options.ranks, &options.microbatches})
    if (!option->getNumOccurrences() && (!fromFile || option == &scheduleName))
      return refuse("--" + option->ArgStr + " is needed", wrongCommandLine);

  ScheduleRequest request = options.makeRequest();
  if (Error error = parseCosts(options.cost, request.costs))
    return refuse(toString(std::move(error)), wrongCommandLine);
  if (Error error = readStageCosts(options, request))
    return refuse(toString(std::move(error)));

  Expected<Schedule> schedule = fromFile ? readSchedule(scheduleName, options)
                                         : buildSchedule(scheduleName, request);
  if (!schedule)
    return refuse(toString(schedule.takeError()));
  return explore(std::move(*schedule), request);
}

int pipewright::runSchedule(int argc, char **argv) {
  if (!parseArguments(ArrayRef<const char *>(argv, argc), command, category,
                      getMoreHelp()))
    return wrongCommandLine;
  return runParsed();
}
