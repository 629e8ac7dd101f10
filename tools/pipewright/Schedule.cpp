//===- Schedule.cpp - pipewright schedule
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Subcommands.h"

#include "pipewright/Program/Passes.h"
#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/ProgramSchedule.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static cl::SubCommand command("schedule", "Explore schedules without a model");
static cl::OptionCategory category("Options");

namespace {
enum class Format { Table, Json, Csv, Svg, Trace, Mlir };
} // namespace

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<std::string>
    scheduleName("schedule", cl::value_desc("NAME|FILE"), PIPEWRIGHT_OPTION,
                 cl::desc("A schedule by name, or a .csv (PyTorch's format) or "
                          ".json file that holds one"));
static cl::opt<int64_t> ranks("ranks", cl::value_desc("P"), PIPEWRIGHT_OPTION,
                              cl::desc("Pipeline ranks"));
static cl::opt<int64_t> microbatches("microbatches", cl::value_desc("M"),
                                     PIPEWRIGHT_OPTION,
                                     cl::desc("Micro-batches per step"));
static cl::opt<int64_t> chunks("chunks", cl::value_desc("V"), cl::init(0),
                               PIPEWRIGHT_OPTION,
                               cl::desc("Stages per rank (default: what the "
                                        "schedule usually has)"));
static cl::list<std::string>
    costList("cost", cl::CommaSeparated, PIPEWRIGHT_OPTION,
             cl::value_desc("f=1,b=1,w=1,comm=0,fb="),
             cl::desc("Times of a rank's whole share of one micro-batch: "
                      "forward, input gradient, weight gradient, a hop between "
                      "ranks, an overlapped pair"));
static cl::opt<std::string> stageCostFile(
    "stage-cost", cl::value_desc("FILE"), PIPEWRIGHT_OPTION,
    cl::desc("JSON list of {\"f\",\"b\",\"w\"}, one per stage, in "
             "place of the f, b, w of --cost"));
static cl::opt<double>
    memoryLimit("memory-limit", cl::value_desc("N"), PIPEWRIGHT_OPTION,
                cl::desc("Refuse a schedule in which a rank holds the "
                         "activations of more than N micro-batches"));
static cl::opt<bool>
    withCommunication("with-communication", PIPEWRIGHT_OPTION,
                      cl::desc("Add sends and receives in an order that cannot "
                               "deadlock"));
static cl::opt<Format> outputFormat(
    "format", PIPEWRIGHT_OPTION, cl::desc("What to print (default table)"),
    cl::init(Format::Table),
    cl::values(clEnumValN(Format::Table, "table", "timeline and metrics"),
               clEnumValN(Format::Json, "json", "actions and metrics"),
               clEnumValN(Format::Csv, "csv", "PyTorch's pipelining format"),
               clEnumValN(Format::Svg, "svg", "a picture of the timeline"),
               clEnumValN(Format::Trace, "trace", "Chrome's trace format"),
               clEnumValN(Format::Mlir, "mlir",
                          "rank programs on stages without a model")));
static cl::opt<bool> jsonFlag("json", PIPEWRIGHT_OPTION,
                              cl::desc("The same as --format json"));
static cl::opt<std::string> outputFile("o", cl::value_desc("FILE"),
                                       cl::init("-"), PIPEWRIGHT_OPTION,
                                       cl::desc("Write to FILE"));

static std::string getMoreHelp() {
  std::string text = "\nSCHEDULES:\n\n";
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    text += formatv("  {0,-18} {1}\n", info.name, info.summary);
  return text + "\nEXAMPLE:\n\n  pipewright schedule --schedule 1f1b --ranks 4 "
                "--microbatches 8\n";
}

enum ExitCode : int { done = 0, refused = 1, wrongCommandLine = 2 };

static int fail(const Twine &message, ExitCode code = refused) {
  errs() << "pipewright: error: " << message << '\n';
  return code;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static bool parseTime(StringRef text, double &time) {
  return !text.getAsDouble(time) && time >= 0 && time < 1e18;
}

/// Reads `f=1`, `comm=0.5`, `fb=`, ...
static bool parseCost(StringRef text, ShareCosts &cost) {
  auto [key, value] = text.split('=');
  if (key == "fb") {
    cost.pair = 0;
    if (!value.empty())
      return parseTime(value, *cost.pair);
    cost.pair.reset();
    return true;
  }
  double *target = StringSwitch<double *>(key)
                       .Case("f", &cost.share.f)
                       .Case("b", &cost.share.b)
                       .Case("w", &cost.share.w)
                       .Case("comm", &cost.latency)
                       .Default(nullptr);
  return target && parseTime(value, *target);
}

namespace pipewright {
static bool fromJSON(const json::Value &value, StageCost &cost,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !map.map("f", cost.f) || !map.map("b", cost.b) ||
      !map.map("w", cost.w))
    return false;
  if (cost.f >= 0 && cost.b >= 0 && cost.w >= 0)
    return true;
  path.report("expected times of at least 0");
  return false;
}
} // namespace pipewright

static Error readFile(StringRef path,
                      function_ref<Error(StringRef text)> parse) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (std::error_code code = buffer.getError())
    return createStringError("'" + path + "': " + code.message());
  if (Error error = parse((*buffer)->getBuffer()))
    return createStringError("'" + path + "': " + toString(std::move(error)));
  return Error::success();
}

static Error readStageCosts(ShareCosts &costs) {
  return readFile(stageCostFile, [&](StringRef text) -> Error {
    Expected<std::vector<StageCost>> list =
        json::parse<std::vector<StageCost>>(text, "stage costs");
    if (!list)
      return list.takeError();
    if (list->empty())
      return createStringError("has no stage costs");
    costs.stages = std::move(*list);
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static bool isFile(StringRef name) {
  return name.ends_with(".csv") || name.ends_with(".json");
}

static Expected<Schedule> readSchedule(StringRef path) {
  std::optional<Schedule> schedule;
  Error error = readFile(path, [&](StringRef text) -> Error {
    Expected<Schedule> parsed = path.ends_with(".csv")
                                    ? parseScheduleCsv(text)
                                    : parseScheduleJson(text);
    if (!parsed)
      return parsed.takeError();
    schedule = std::move(*parsed);
    return Error::success();
  });
  if (error)
    return error;
  for (auto [option, given, found] :
       {std::tuple(&ranks, ranks.getValue(), schedule->getRanks()),
        std::tuple(&microbatches, microbatches.getValue(),
                   schedule->getShape().microbatches)})
    if (option->getNumOccurrences() && given != found)
      return createStringError("'" + path + "' has " + Twine(found) + " " +
                               option->ArgStr + ", not " + Twine(given));
  return std::move(*schedule);
}

/// Programs with their messages in an order that cannot deadlock.
static Error writeMlir(const Schedule &schedule, raw_ostream &os) {
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module =
      buildSkeletonModule(schedule, &context);
  mlir::PassManager passes(&context);
  passes.addPass(createOrderMessages());
  if (!module || mlir::failed(passes.run(*module)))
    return createStringError("schedule '" + schedule.getName() +
                             "' cannot be written as programs");
  module->print(os);
  return Error::success();
}

static Error writeSchedule(const Schedule &schedule, const CostModel &costs,
                           raw_ostream &os) {
  Timeline timeline = simulate(schedule, costs);
  switch (jsonFlag ? Format::Json : outputFormat.getValue()) {
  case Format::Table:
    writeTable(schedule, timeline, os);
    return Error::success();
  case Format::Json:
    writeJson(schedule, timeline, os);
    return Error::success();
  case Format::Csv:
    return writeCsv(schedule, os);
  case Format::Svg:
    writeSvg(schedule, timeline, os);
    return Error::success();
  case Format::Trace:
    writeTrace(schedule, timeline, os);
    return Error::success();
  case Format::Mlir:
    return writeMlir(schedule, os);
  }
  llvm_unreachable("all formats are handled");
}

/// Checks, simulates and prints \p schedule.
static int explore(Schedule schedule, const ScheduleRequest &request) {
  Expected<CostModel> costs = makeCosts(schedule, request.costs);
  if (!costs)
    return fail("'" + stageCostFile + "': " + toString(costs.takeError()));

  CheckOptions options;
  options.memoryLimit = request.memoryLimit;
  std::vector<Violation> violations = checkSchedule(schedule, options);
  if (!violations.empty())
    return fail("schedule '" + schedule.getName() + "' is not valid\n" +
                StringRef(toString(violations)).rtrim());

  if (withCommunication)
    schedule = addCommunication(schedule, *costs);
  Error error = writeToOutput(outputFile, [&](raw_ostream &os) {
    return writeSchedule(schedule, *costs, os);
  });
  return error ? fail(toString(std::move(error))) : done;
}

static int runParsed() {
  bool fromFile = isFile(scheduleName);
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &scheduleName, &ranks, &microbatches})
    if (!option->getNumOccurrences() && (!fromFile || option == &scheduleName))
      return fail("--" + option->ArgStr + " is needed", wrongCommandLine);

  ScheduleRequest request(ranks, microbatches, chunks);
  for (StringRef text : costList)
    if (!parseCost(text, request.costs))
      return fail("--cost does not know '" + text +
                      "'; expected f, b, w, comm or fb, '=', and a time of at "
                      "least 0",
                  wrongCommandLine);
  if (!stageCostFile.empty())
    if (Error error = readStageCosts(request.costs))
      return fail(toString(std::move(error)));
  if (memoryLimit.getNumOccurrences())
    request.memoryLimit = memoryLimit;

  Expected<Schedule> schedule = fromFile ? readSchedule(scheduleName)
                                         : buildSchedule(scheduleName, request);
  if (!schedule)
    return fail(toString(schedule.takeError()));
  return explore(std::move(*schedule), request);
}

int pipewright::runSchedule(int argc, char **argv) {
  // LLVM's library brings options of its own, which are not for users.
  cl::HideUnrelatedOptions(category, command);
  std::string moreHelp = getMoreHelp();
  cl::extrahelp help(moreHelp);
  std::vector<const char *> arguments = {"pipewright"};
  arguments.insert(arguments.end(), argv, argv + argc);
  if (!cl::ParseCommandLineOptions(arguments.size(), arguments.data(), "",
                                   &errs()))
    return wrongCommandLine;
  return runParsed();
}
