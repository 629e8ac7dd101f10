//===- Schedule.cpp - pipewright schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "MachineOptions.h"
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
static MachineOptions machine(command, category);

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<std::string>
    scheduleName("schedule", cl::value_desc("NAME|FILE"), PIPEWRIGHT_OPTION,
                 cl::desc("A schedule by name, or a .csv (PyTorch's format) or "
                          ".json file that holds one"));
static cl::opt<bool>
    withCommunication("with-communication", PIPEWRIGHT_OPTION,
                      cl::desc("Add sends and receives, in place of those that "
                               "a file may have"));
static cl::opt<MessageOrder> messageOrder(
    "message-order", PIPEWRIGHT_OPTION, cl::init(MessageOrder::Global),
    cl::desc("Where --with-communication puts them (default global)"),
    cl::values(
        clEnumValN(MessageOrder::Global, "global",
                   "in one order on all ranks, which cannot deadlock"),
        clEnumValN(MessageOrder::Naive, "naive",
                   "right before and after the action that needs them")));
static cl::opt<std::string> transportName(
    "transport", cl::value_desc("KIND"), PIPEWRIGHT_OPTION,
    cl::desc(
        "Time the sends and receives, added ones included, as they travel "
        "so, and refuse them if they deadlock: blocking (default), grouped, "
        "stream, stream-per-peer, stream-per-kind, stream-per-peer-kind, "
        "stream-per-channel"));
static cl::opt<ScheduleFormat>
    outputFormat("format", PIPEWRIGHT_OPTION,
                 cl::desc("What to print (default table)"),
                 cl::init(ScheduleFormat::Table), getScheduleFormats());

static std::string getMoreHelp() {
  return formatSchedules() +
         formatExamples(
             {"pipewright schedule --schedule 1f1b --ranks 4 --microbatches 8",
              "pipewright schedule --schedule zb-h1 --ranks 8 --microbatches "
              "32 --format svg -o zb-h1.svg",
              "pipewright schedule --schedule mine.csv --csv-letters old "
              "--format json",
              "pipewright schedule compare --ranks 8 --microbatches 32"});
}

/// Checks \p schedule with its own messages, or with those that it is given.
static Expected<Schedule> addMessages(Schedule schedule, const CostModel &costs,
                                      const CheckOptions &checks) {
  auto check = [&](const Schedule &checked) -> Error {
    std::vector<Violation> violations = checkSchedule(checked, checks);
    if (violations.empty())
      return Error::success();
    return createStringError("schedule '" + checked.getName() +
                             "' is not valid\n" +
                             StringRef(toString(violations)).rtrim());
  };
  bool isAsked = withCommunication || messageOrder.getNumOccurrences() ||
                 (transportName.getNumOccurrences() && !hasTransfers(schedule));
  if (isAsked)
    schedule = removeTransfers(std::move(schedule));
  if (Error error = check(schedule))
    return error;
  if (!isAsked)
    return schedule;
  schedule = addCommunication(std::move(schedule), costs, messageOrder);
  if (Error error = check(schedule))
    return error;
  return schedule;
}

/// "'zb-v' with 2 chunks": what stands behind the schedule of a search.
static std::string describeChoice(const Schedule &schedule) {
  StringRef chosen = schedule.getChosen();
  int64_t chunks = schedule.getShape().chunks;
  return formatv("{0} with {1} {2}",
                 chosen == "search" ? "an order of its own"
                                    : ("'" + chosen + "'").str(),
                 chunks, chunks == 1 ? "chunk" : "chunks");
}

/// Checks, simulates and prints \p schedule.
static int explore(Schedule schedule, const ScheduleRequest &request) {
  Expected<CostModel> costs = makeCosts(schedule, request.costs);
  if (!costs)
    return refuse((options.layout.empty() ? "'" + options.stageCost + "'"
                                          : std::string("layout")) +
                  ": " + toString(costs.takeError()));

  if (Error error = machine.addTopology(schedule, *costs, /*tells=*/true))
    return refuse(toString(std::move(error)));
  CheckOptions checks;
  checks.memoryLimit = request.memoryLimit;
  if (!schedule.getChosen().empty())
    errs() << "pipewright: note: '" << schedule.getName() << "' took "
           << describeChoice(schedule) << '\n';
  if (transportName.getNumOccurrences()) {
    checks.transport = *parseTransport(transportName);
    costs->machine.transport = checks.transport;
  }
  Expected<Schedule> complete =
      addMessages(std::move(schedule), *costs, checks);
  if (!complete)
    return refuse(toString(complete.takeError()));
  Metrics metrics;
  ScheduleFormat format = options.json ? ScheduleFormat::Json : outputFormat;
  Timeline timeline =
      machine.simulate(*complete, *costs, metrics,
                       /*withMessages=*/format == ScheduleFormat::Trace);
  Error error = writeToOutput(options.output, [&](raw_ostream &os) {
    return writeSchedule(*complete, timeline, metrics, format, os);
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
  if (Error error = machine.addLinks(request.costs))
    return refuse(toString(std::move(error)));
  if (Error error = parseCosts(options.cost, request.costs))
    return refuse(toString(std::move(error)), wrongCommandLine);
  if (Error error = machine.check())
    return refuse(toString(std::move(error)), wrongCommandLine);
  if (Error error = readStageCosts(options, request))
    return refuse(toString(std::move(error)));

  if (transportName.getNumOccurrences() && !parseTransport(transportName))
    return refuse("there is no transport '" + transportName + "'; there are " +
                      listTransports(),
                  wrongCommandLine);
  auto addStragglers = [&](int64_t ranks) {
    return machine.addStragglers(ranks, request.costs.machine);
  };
  // A search works around slow ranks, so it must know them.
  if (Error error =
          fromFile ? Error::success() : addStragglers(request.shape.ranks))
    return refuse(toString(std::move(error)), wrongCommandLine);
  if (Error error = machine.checkLinks(request.costs))
    return refuse(toString(std::move(error)), wrongCommandLine);
  const ScheduleShape &shape = request.shape;
  bool canSearch = isSearch(scheduleName) && shape.ranks >= 1 &&
                   shape.microbatches >= 1 &&
                   isTractable(shape.ranks, shape.microbatches);
  if (Error error = canSearch ? machine.addTopology(shape, request.costs)
                              : Error::success())
    return refuse(toString(std::move(error)));
  Expected<Schedule> schedule = fromFile ? readSchedule(scheduleName, options)
                                         : buildSchedule(scheduleName, request);
  if (!schedule)
    return refuse(toString(schedule.takeError()));
  if (Error error =
          fromFile ? addStragglers(schedule->getRanks()) : Error::success())
    return refuse(toString(std::move(error)), wrongCommandLine);
  return explore(std::move(*schedule), request);
}

int pipewright::runSchedule(int argc, char **argv) {
  if (argc > 1 && StringRef(argv[1]) == "compare")
    return runScheduleCompare(argc - 1, argv + 1);
  if (!parseArguments(ArrayRef<const char *>(argv, argc), command, category,
                      getMoreHelp()))
    return wrongCommandLine;
  return runParsed();
}
