//===- Build.cpp - pipewright build
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuildPlan.h"
#include "ConfigFile.h"
#include "CostOptions.h"
#include "Diagnostics.h"
#include "ExpertOptions.h"
#include "ModelOptions.h"
#include "Progress.h"
#include "Subcommands.h"

#include "pipewright/Codegen/Target.h"
#include "pipewright/Driver/Compiler.h"
#include "pipewright/Driver/Phases.h"
#include "pipewright/Driver/RematOption.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

static cl::SubCommand command("build",
                              "Compile a model into one executable per rank");
static cl::OptionCategory category("Options");
static ModelOptions modelOptions(command, category);
static CostOptions costOptions(command, category);
static TopologyOption topologyOption(command, category);
static ExpertOptions expertOptions(command, category);

#define PIPEWRIGHT_OPTION cl::sub(command), cl::cat(category)

static cl::opt<std::string> output("o", cl::value_desc("DIR"), cl::Required,
                                   PIPEWRIGHT_OPTION,
                                   cl::desc("The directory to make"));
static cl::opt<bool> force("force", PIPEWRIGHT_OPTION,
                           cl::desc("Replace DIR if it exists"));
static cl::opt<std::string>
    config("config", cl::value_desc("FILE"), PIPEWRIGHT_OPTION,
           cl::desc("Read options from a .toml or .json file; the command line "
                    "comes first"));
static cl::opt<int64_t> ranks("ranks", cl::value_desc("N"), PIPEWRIGHT_OPTION,
                              cl::desc("Pipeline ranks (default 1)"));
static cl::opt<int64_t>
    replicas("dp", cl::value_desc("D"), cl::init(1), PIPEWRIGHT_OPTION,
             cl::desc("Pipelines that train on other samples and add up their "
                      "gradients (default 1)"));
static cl::opt<int64_t> chunks("chunks", cl::value_desc("V"), PIPEWRIGHT_OPTION,
                               cl::desc("Stages per rank (default: what the "
                                        "schedule usually has)"));
static cl::opt<int64_t> microbatches("microbatches", cl::value_desc("M"),
                                     PIPEWRIGHT_OPTION,
                                     cl::desc("Micro-batches of a pipeline in "
                                              "a step (default 8)"));
static cl::opt<int64_t>
    globalBatch("global-batch", cl::value_desc("G"), PIPEWRIGHT_OPTION,
                cl::desc("Samples in a step, in place of --microbatch-size"));
static cl::opt<std::string>
    schedule("schedule", cl::value_desc("NAME|FILE"), cl::init("1f1b"),
             PIPEWRIGHT_OPTION,
             cl::desc("Who computes what, when (default 1f1b): a name that "
                      "'pipewright schedule --help' lists, or a .csv or .json "
                      "file, which also tells ranks and micro-batches"));
static cl::opt<std::string>
    balance("balance", cl::value_desc("time|params|flops|uniform|hints"),
            PIPEWRIGHT_OPTION,
            cl::desc("What is spread evenly over the stages, or that the "
                     "model's own hints are followed (default: the hints if "
                     "they fit, else time)"));
static cl::list<std::string>
    splitAt("split-at", cl::CommaSeparated, cl::value_desc("NODE,..."),
            PIPEWRIGHT_OPTION,
            cl::desc("Layers or ONNX nodes at which a stage begins"));
static cl::opt<std::string>
    layout("layout", cl::value_desc("LAYOUT"), PIPEWRIGHT_OPTION,
           cl::desc("Megatron's pipeline layout, such as Et*3|(t*4|)*2,t*3L: "
                    "a letter per layer that 'pipewright inspect' lists, in "
                    "place of a balance"));
static cl::opt<std::string>
    remat("remat", cl::value_desc("none|selective|full|auto|LIST"),
          cl::init("none"), PIPEWRIGHT_OPTION,
          cl::desc("What backward recomputes instead of keeping (default "
                   "none); auto: as little as the memory allows; or the "
                   "policies of all layers, such as none*3,full*2"));
static cl::opt<std::string>
    memory("memory", cl::value_desc("BYTES"), PIPEWRIGHT_OPTION,
           cl::desc("Refuse a plan in which a rank needs more, such as 24GiB"));
static cl::opt<std::string> optimizer("optimizer", cl::value_desc("sgd|adamw"),
                                      cl::init("adamw"), PIPEWRIGHT_OPTION,
                                      cl::desc("Update rule (default adamw)"));
static cl::opt<std::string> target("target", cl::value_desc("NAME"),
                                   cl::init("cpu"), PIPEWRIGHT_OPTION,
                                   cl::desc("What to compile for: cpu or "
                                            "cuda (default cpu)"));
static cl::opt<std::string>
    arch("arch", cl::value_desc("NAME"), cl::init("native"), PIPEWRIGHT_OPTION,
         cl::desc("Processor of the target, such as x86-64-v3 (default: this "
                  "machine's), or devices, such as sm_80,sm_90 (default: "
                  "those that are common)"));
static cl::opt<std::string> convolutions(
    "convolutions", cl::value_desc("library|kernels"), PIPEWRIGHT_OPTION,
    cl::desc("What computes convolutions and pooling: the target's library "
             "(cuda: cuDNN), "
             "or generated code (default: the library if this build of "
             "Pipewright knows it)"));
static cl::opt<std::string> attention(
    "attention", cl::value_desc("library|kernels"), PIPEWRIGHT_OPTION,
    cl::desc("What computes attention of bf16 and f16: the target's library "
             "(cuda: cuDNN) where it has it, or generated code (default: "
             "kernels)"),
    cl::init("kernels"));
static cl::opt<std::string>
    emitIr("emit-ir", cl::value_desc("DIR"), PIPEWRIGHT_OPTION,
           cl::desc("Write the IR after each phase into DIR"));

static bool checkOptions() {
  SmallVector<StringRef> targets;
  for (const auto &entry : TargetRegistry::get().getTargets())
    targets.push_back(entry->getName());
  return isCount(ranks, mostRanks) && isCount(replicas, mostRanks) &&
         isAtLeastOne(chunks) && isAtLeastOne(microbatches) &&
         isCount(globalBatch, mostSamples) &&
         (balance.empty() ||
          isKnown("balance", balance,
                  {"time", "params", "flops", "uniform", "hints"})) &&
         isKnown("optimizer", optimizer, {"sgd", "adamw"}) &&
         isKnown("target", target, targets) &&
         isKnown("attention", attention, {"library", "kernels"}) &&
         (convolutions.empty() ||
          isKnown("convolutions", convolutions, {"library", "kernels"}));
}

/// The options of a build; nothing, with a message, if they make no sense.
static std::optional<BuildOptions> makeBuildOptions() {
  BuildOptions options;
  if (!checkOptions() || !modelOptions.apply(options) ||
      !costOptions.apply(options) ||
      !topologyOption.apply(costOptions, options) ||
      !expertOptions.apply(options))
    return std::nullopt;
  options.output = output;
  options.force = force;
  options.ranks = ranks;
  options.replicas = replicas.getNumOccurrences() ? replicas : options.peers;
  if (options.replicas % options.peers != 0) {
    refuse("--dp is " + Twine(options.replicas) +
           ", but must be a multiple of --ep " + Twine(options.peers));
    return std::nullopt;
  }
  options.chunks = chunks;
  options.microbatches = microbatches;
  if (globalBatch.getNumOccurrences())
    options.globalBatch = globalBatch;
  options.schedule = schedule;
  options.balance = balance;
  options.splitAt.assign(splitAt.begin(), splitAt.end());
  options.layout = layout;
  if (Error error = parseRemat(remat, options)) {
    refuse(toString(std::move(error)));
    return std::nullopt;
  }
  options.optimizer = optimizer;
  options.target = target;
  options.processor = arch;
  options.libraryAttention = attention == "library";
  if (!convolutions.empty())
    options.libraryConvolutions = convolutions == "library";
  if (!costOptions.hasDevice() && options.topology.empty())
    options.device = TargetRegistry::get()
                         .find(target)
                         ->getDevice(TargetOptions{arch})
                         .str();
  options.emitIr = emitIr;
  if (memory.getNumOccurrences()) {
    std::optional<int64_t> bytes = readBytes(memory);
    if (!bytes)
      return std::nullopt;
    options.memory = *bytes;
  }
  return options;
}

//===----------------------------------------------------------------------===//
// The config file
//===----------------------------------------------------------------------===//

/// The value of `--config` in \p arguments, if it is given.
static std::optional<StringRef> findConfig(ArrayRef<const char *> arguments) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = StringRef(arguments[i]).ltrim('-');
    if (argument == "config" && i + 1 < arguments.size())
      return StringRef(arguments[i + 1]);
    if (argument.consume_front("config="))
      return argument;
  }
  return std::nullopt;
}

static bool isGiven(ArrayRef<const char *> arguments, StringRef name) {
  return any_of(arguments, [&](StringRef argument) {
    return argument.starts_with("-") &&
           argument.ltrim('-').split('=').first == name;
  });
}

/// Adds the options of the config file that the command line does not give.
static bool addConfig(ArrayRef<const char *> given,
                      std::vector<std::string> &added) {
  std::optional<StringRef> path = findConfig(given);
  if (!path)
    return true;
  Expected<std::vector<ConfigEntry>> entries = readConfigFile(*path);
  if (!entries) {
    refuse(toString(entries.takeError()));
    return false;
  }
  auto &known = cl::getRegisteredOptions(command);
  for (const auto &[name, value] : *entries) {
    auto option = known.find(name);
    if (option == known.end() || name == "config" ||
        !is_contained(option->second->Categories, &category)) {
      refuse(*path + ": there is no option '" + name + "'");
      return false;
    }
    std::string dashes = name.size() == 1 ? "-" : "--";
    if (!isGiven(given, name))
      added.push_back(dashes + name + (value.empty() ? "" : "=" + value));
  }
  return true;
}

static bool parseBuildArguments(ArrayRef<const char *> given,
                                StringRef moreHelp, int &status) {
  std::vector<const char *> arguments(given);
  std::vector<std::string> added;
  status = refused;
  if (!addConfig(arguments, added))
    return false;
  for (const std::string &argument : added)
    arguments.push_back(argument.c_str());
  status = wrongCommandLine;
  return parseArguments(arguments, command, category, moreHelp);
}

std::optional<BuildOptions> pipewright::readPlan(const std::string &path,
                                                 const std::string &model) {
  // A build of the plan, which is not going to be made.
  const char *arguments[] = {"build",      model.c_str(), "--config",
                             path.c_str(), "-o",          "none"};
  int status;
  if (!parseBuildArguments(arguments, /*moreHelp=*/"", status))
    return std::nullopt;
  return makeBuildOptions();
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static int runParsed() {
  std::optional<BuildOptions> options = makeBuildOptions();
  if (!options)
    return refused;
  CommandContext commandContext;
  mlir::MLIRContext &context = commandContext.context;

  mlir::FailureOr<BuildResult> result = mlir::failure();
  {
    Progress progress(getPhases().size() + 2);
    result = build(*options, context,
                   [&](StringRef phase) { progress.advance(phase); });
  }
  if (mlir::failed(result))
    return refused;
  printPlan(result->plan, result->step, outs());
  outs() << "\nwrote " << options->output << "; start it with 'pipewright run "
         << options->output << " --data FILE --steps N'\n";
  return done;
}

int pipewright::runBuild(int argc, char **argv) {
  std::vector<const char *> arguments(argv, argv + argc);
  int status;
  if (!parseBuildArguments(
          arguments,
          formatExamples({"pipewright build gpt.onnx --ranks 4 "
                          "--microbatches 8 --microbatch-size 2 --loss "
                          "cross-entropy:logits,labels -o out",
                          "pipewright build mixtral.onnx --ranks 2 --ep 4 "
                          "--microbatch-size 2 --loss "
                          "cross-entropy:logits,labels -o out"}),
          status))
    return status;
  return runParsed();
}
