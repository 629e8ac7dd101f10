//===- Plan.cpp - pipewright plan: which split and schedule is fastest
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostOptions.h"
#include "Diagnostics.h"
#include "ExpertOptions.h"
#include "ModelOptions.h"
#include "PlanFile.h"
#include "PlanReport.h"
#include "Progress.h"
#include "Subcommands.h"

#include "pipewright/Cost/Topology.h"
#include "pipewright/Driver/SearchPlans.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("plan", "Search the split and schedule that "
                                      "train a model fastest");
static cl::OptionCategory category("Options");
static ModelOptions modelOptions(command, category);
static CostOptions costOptions(command, category);
static TopologyOption topologyOption(command, category);
static ExpertOptions expertOptions(command, category);

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
static cl::opt<std::string>
    remat("remat", cl::value_desc("none|selective|full|auto"),
          PIPEWRIGHT_OPTION,
          cl::desc("Only this (default auto: for each layer as little as the "
                   "memory allows)"));
static cl::opt<std::string>
    replicas("dp", cl::value_desc("D|auto"), PIPEWRIGHT_OPTION,
             cl::desc("Pipelines that share the ranks and the batch, or auto: "
                      "any number (default auto with --topology, else E)"));
static cl::opt<std::string> optimizer("optimizer", cl::value_desc("sgd|adamw"),
                                      cl::init("adamw"), PIPEWRIGHT_OPTION,
                                      cl::desc("Update rule (default adamw)"));
static cl::opt<int64_t> top("top", cl::value_desc("N"), cl::init(5),
                            PIPEWRIGHT_OPTION,
                            cl::desc("Show so many plans (default 5)"));
static cl::opt<bool>
    explains("explain", PIPEWRIGHT_OPTION,
             cl::desc("Also say where the time of the first plan goes, and "
                      "what would make it faster"));
static cl::opt<bool> asJson("json", PIPEWRIGHT_OPTION, cl::desc("Print JSON"));
static cl::opt<std::string>
    output("o", cl::value_desc("FILE"), PIPEWRIGHT_OPTION,
           cl::desc("Write the first plan as a .toml file for 'build "
                    "--config'"));

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// What each rank has, or 0; nothing, with a message, for an option that is
/// wrong. Device and topology have been read before.
static std::optional<int64_t> getMemory() {
  if (memory.getNumOccurrences())
    return readBytes(memory);
  if (costOptions.hasDevice())
    return cantFail(loadDevice(costOptions.device)).memoryBytes;
  if (topologyOption.topology.empty())
    return 0;
  Topology topology = cantFail(loadTopology(topologyOption.topology));
  auto hasLess = [](const Device &a, const Device &b) {
    return a.memoryBytes < b.memoryBytes;
  };
  return min_element(topology.getKinds(), hasLess)->memoryBytes;
}

static bool checkNumbers() {
  if (!isCount(ranks, mostRanks) || !isCount(globalBatch, mostSamples) ||
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

/// Whether so many pipelines can share ranks and batch.
static bool canShare(int64_t count) {
  return count >= 1 && ranks % count == 0 && globalBatch % count == 0;
}

/// The number of pipelines, of which \p peers make a group; 0 for any, nothing,
/// with a message, if it is wrong.
static std::optional<int64_t> getReplicas(int64_t peers) {
  auto share = " ranks and a global batch of " + std::to_string(globalBatch);
  if (!canShare(peers)) {
    refuse("--ep must divide " + Twine(ranks) + share);
    return std::nullopt;
  }
  if (replicas.empty())
    return topologyOption.topology.empty() ? peers : 0;
  if (replicas == "auto")
    return 0;
  int64_t count = 0;
  if (!StringRef(replicas).getAsInteger(10, count) && canShare(count) &&
      count % peers == 0)
    return count;
  refuse("--dp must be auto or a number that divides " + Twine(ranks) + share +
         (peers > 1 ? " and is a multiple of --ep" : "") + ", not '" +
         replicas + "'");
  return std::nullopt;
}

static std::optional<PlanRequest> makeRequest() {
  PlanRequest request;
  BuildOptions &options = request.options;
  if (!checkNumbers() ||
      (!remat.empty() &&
       !isKnown("remat", remat, {"none", "selective", "full", "auto"})) ||
      !isKnown("optimizer", optimizer, {"sgd", "adamw"}) ||
      !modelOptions.apply(options) || !costOptions.apply(options) ||
      !topologyOption.apply(costOptions, options) ||
      !expertOptions.apply(options))
    return std::nullopt;
  if (options.forwardOnly) {
    refuse("--forward-only: a plan is one to train");
    return std::nullopt;
  }
  std::optional<int64_t> bytes = getMemory();
  std::optional<int64_t> pipelines = getReplicas(options.peers);
  if (!bytes || !pipelines)
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
  request.replicas = *pipelines;
  request.count = top;
  return request;
}

//===----------------------------------------------------------------------===//
// What was found
//===----------------------------------------------------------------------===//

static int report(const PlanSearch &search, const BuildOptions &options) {
  if (search.plans.empty())
    return refuse("no plan fits into " + formatBytes(options.memory) +
                  " a rank; the smallest, " +
                  search.smallest->options.schedule + " with remat " +
                  search.smallest->describeRemat() + ", needs " +
                  formatBytes(search.smallest->peakBytes));
  if (!output.empty())
    if (Error error = writePlanFile(search.plans.front().options, output))
      return refuse(toString(std::move(error)));
  if (asJson) {
    printPlansAsJson(search, options);
    return done;
  }
  printPlans(search, options, explains);
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
    Progress progress(request->count + 5);
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
