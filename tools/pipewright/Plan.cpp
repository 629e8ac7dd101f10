//===- Plan.cpp - pipewright plan: which split and schedule is fastest
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostOptions.h"
#include "Diagnostics.h"
#include "ModelOptions.h"
#include "PlanFile.h"
#include "Progress.h"
#include "Subcommands.h"

#include "pipewright/Cost/Device.h"
#include "pipewright/Driver/SearchPlans.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("plan", "Search the split and schedule that "
                                      "train a model fastest");
static cl::OptionCategory category("Options");
static ModelOptions modelOptions(command, category);
static CostOptions costOptions(command, category);
static TopologyOption topologyOption(command, category);

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<int64_t> ranks("ranks", cl::value_desc("N"), cl::Required,
                              PIPEWRIGHT_OPTION, cl::desc("Pipeline ranks"));
static cl::opt<int64_t> globalBatch("global-batch", cl::value_desc("G"),
                                    cl::Required, PIPEWRIGHT_OPTION,
                                    cl::desc("Samples in a step"));
static cl::opt<std::string>
    memory("memory", cl::value_desc("BYTES"), PIPEWRIGHT_OPTION,
           cl::desc("What a rank has, such as 24GiB (default: what the device "
                    "has, if one is given)"));
static cl::opt<std::string> schedule("schedule", cl::value_desc("NAME"),
                                     PIPEWRIGHT_OPTION,
                                     cl::desc("Only this one (default: all)"));
static cl::opt<int64_t> chunks("chunks", cl::value_desc("V"), PIPEWRIGHT_OPTION,
                               cl::desc("Only so many stages per rank"));
static cl::opt<std::string> remat("remat",
                                  cl::value_desc("none|selective|full"),
                                  PIPEWRIGHT_OPTION,
                                  cl::desc("Only this (default: all)"));
static cl::opt<std::string> optimizer("optimizer", cl::value_desc("sgd|adamw"),
                                      cl::init("adamw"), PIPEWRIGHT_OPTION,
                                      cl::desc("Update rule (default adamw)"));
static cl::opt<int64_t> top("top", cl::value_desc("N"), cl::init(5),
                            PIPEWRIGHT_OPTION,
                            cl::desc("Show so many plans (default 5)"));
static cl::opt<bool> asJson("json", PIPEWRIGHT_OPTION, cl::desc("Print JSON"));
static cl::opt<std::string>
    output("o", cl::value_desc("FILE"), PIPEWRIGHT_OPTION,
           cl::desc("Write the first plan as a .toml file for 'build "
                    "--config'"));

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// What each rank has, or 0; nothing, with a message, for an option that is
/// wrong. The device has been read before.
static std::optional<int64_t> getMemory(StringRef device) {
  if (memory.getNumOccurrences())
    return readBytes(memory);
  if (!costOptions.device.getNumOccurrences() &&
      topologyOption.topology.empty())
    return 0;
  return cantFail(loadDevice(device)).memoryBytes;
}

static bool checkNumbers() {
  if (!isAtLeastOne(ranks) || !isAtLeastOne(globalBatch) ||
      !isAtLeastOne(chunks) || !isAtLeastOne(top))
    return false;
  int64_t size = modelOptions.microbatchSize;
  if (!modelOptions.microbatchSize.getNumOccurrences() || size < 1 ||
      globalBatch % size == 0)
    return true;
  refuse("a global batch of " + Twine(globalBatch) +
         " cannot be cut into micro-batches of " + Twine(size));
  return false;
}

static std::optional<PlanRequest> makeRequest() {
  PlanRequest request;
  BuildOptions &options = request.options;
  if (!checkNumbers() ||
      (!remat.empty() &&
       !isKnown("remat", remat, {"none", "selective", "full"})) ||
      !isKnown("optimizer", optimizer, {"sgd", "adamw"}) ||
      !modelOptions.apply(options) || !costOptions.apply(options) ||
      !topologyOption.apply(costOptions, options))
    return std::nullopt;
  if (options.forwardOnly) {
    refuse("--forward-only: a plan is one to train");
    return std::nullopt;
  }
  std::optional<int64_t> bytes = getMemory(options.device);
  if (!bytes)
    return std::nullopt;
  options.memory = *bytes;
  options.ranks = ranks;
  options.globalBatch = globalBatch;
  options.chunks = chunks;
  options.optimizer = optimizer;
  if (schedule.getNumOccurrences())
    options.schedule = schedule;
  if (remat.getNumOccurrences())
    options.remat = remat;
  request.keepsSchedule = schedule.getNumOccurrences();
  request.keepsRemat = remat.getNumOccurrences();
  request.count = top;
  return request;
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

static double getSamplesPerSecond(const PlanCandidate &plan) {
  return globalBatch / plan.stepSeconds;
}

static void printRow(size_t number, const PlanCandidate &plan) {
  const BuildOptions &options = plan.options;
  std::string cut =
      (Twine(options.microbatches) + " x " + Twine(*options.microbatchSize))
          .str();
  outs() << formatv("{0,3} {1,-20}{2,7}{3,14}{4,7}{5,12}{6,12:F1}{7,8:P1}"
                    "{8,12}   {9}\n",
                    number, options.schedule, options.chunks, cut,
                    options.remat, formatSeconds(plan.stepSeconds),
                    getSamplesPerSecond(plan), plan.bubbleRatio,
                    formatBytes(plan.peakBytes), plan.busiestRank);
}

static void printTable(ArrayRef<PlanCandidate> plans) {
  outs() << formatv(
      "    {0,-20}{1,7}{2,14}{3,7}{4,12}{5,12}{6,8}{7,12}   {8}\n", "schedule",
      "chunks", "micro-batches", "remat", "step", "samples/s", "bubble", "peak",
      "busiest rank");
  for (auto [i, plan] : enumerate(plans))
    printRow(i + 1, plan);
}

/// How the ranks of \p plan spend a step.
static void explain(const PlanCandidate &plan) {
  double imbalance = plan.busiestSeconds - plan.averageSeconds;
  double waiting = plan.stepSeconds - plan.busiestSeconds;
  outs() << formatv("\nof a step of {0}, ranks compute {1} on average; rank "
                    "{2} computes {3} more, and waits {4}\n",
                    formatSeconds(plan.stepSeconds),
                    formatSeconds(plan.averageSeconds), plan.busiestRank,
                    formatSeconds(imbalance), formatSeconds(waiting));
}

/// Says where another way to train is likely to be better.
static void advise(const PlanSearch &search, int64_t limit) {
  if (!search.single)
    return;
  const PlanCandidate &single = *search.single;
  if (limit > 0 && single.peakBytes <= limit)
    outs() << formatv("one rank alone would need {0} and fits: data "
                      "parallelism trains such a model without a pipeline's "
                      "bubbles\n",
                      formatBytes(single.peakBytes));
  if (single.stepSeconds <= search.plans.front().stepSeconds)
    outs() << formatv("one rank alone is as fast: it takes {0} for a step\n",
                      formatSeconds(single.stepSeconds));
}

static json::Object toJSON(const PlanCandidate &plan) {
  const BuildOptions &options = plan.options;
  return json::Object{{"schedule", options.schedule},
                      {"ranks", options.ranks},
                      {"chunks", options.chunks},
                      {"microbatches", options.microbatches},
                      {"microbatch_size", *options.microbatchSize},
                      {"remat", options.remat},
                      {"step_seconds", plan.stepSeconds},
                      {"samples_per_second", getSamplesPerSecond(plan)},
                      {"bubble_ratio", plan.bubbleRatio},
                      {"peak_bytes", plan.peakBytes},
                      {"busiest_rank", plan.busiestRank},
                      {"busiest_seconds", plan.busiestSeconds},
                      {"average_seconds", plan.averageSeconds}};
}

static void printJson(const PlanSearch &search, const BuildOptions &options) {
  json::Array plans;
  for (const PlanCandidate &plan : search.plans)
    plans.push_back(toJSON(plan));
  json::Object object{
      {"model", options.model},
      {"device", options.device},
      {"memory_limit", options.memory},
      {"simulated", int64_t(search.simulated)},
      {"planned", int64_t(search.planned)},
      {"plans", std::move(plans)},
  };
  if (search.single)
    object["one_rank"] = toJSON(*search.single);
  outs() << formatv("{0:2}", json::Value(std::move(object))) << '\n';
}

static int report(const PlanSearch &search, const BuildOptions &options) {
  if (search.plans.empty())
    return refuse("no plan fits into " + formatBytes(options.memory) +
                  " a rank; the smallest, " +
                  search.smallest->options.schedule + " with remat " +
                  search.smallest->options.remat + ", needs " +
                  formatBytes(search.smallest->peakBytes));
  if (!output.empty())
    if (Error error = writePlanFile(search.plans.front().options, output))
      return refuse(toString(std::move(error)));
  if (asJson) {
    printJson(search, options);
    return done;
  }
  printTable(search.plans);
  explain(search.plans.front());
  advise(search, options.memory);
  outs() << formatv("\n{0} combinations simulated, {1} planned\n",
                    search.simulated, search.planned);
  if (!output.empty())
    outs() << "wrote " << output << "; build it with 'pipewright build "
           << options.model << " --config " << output << " -o DIR'\n";
  return done;
}

static int runParsed() {
  std::optional<PlanRequest> request = makeRequest();
  if (!request)
    return refused;
  CommandContext commandContext;
  mlir::MLIRContext &context = commandContext.context;
  mlir::FailureOr<PlanSearch> search = mlir::failure();
  {
    Progress progress(request->count + 4);
    search = searchPlans(*request, context,
                         [&](StringRef step) { progress.advance(step); });
  }
  if (mlir::failed(search))
    return refused;
  return report(*search, request->options);
}

int pipewright::runPlan(int argc, char **argv) {
  std::vector<const char *> arguments(argv, argv + argc);
  if (!parseArguments(arguments, command, category,
                      formatExamples({"pipewright plan gpt.onnx --ranks 4 "
                                      "--global-batch 32 --loss "
                                      "cross-entropy:logits,labels -o "
                                      "plan.toml"})))
    return wrongCommandLine;
  return runParsed();
}
