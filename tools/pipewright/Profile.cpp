//===- Profile.cpp - pipewright profile
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "ModelOptions.h"
#include "Progress.h"
#include "Subcommands.h"

#include "pipewright/Cost/MeasuredTopology.h"
#include "pipewright/Driver/ProfileModel.h"
#include "pipewright/Package/PlanSummary.h"
#include "pipewright/Support/TextFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

static cl::SubCommand command("profile", "Measure how long layers and messages "
                                         "take on this machine");
static cl::OptionCategory category("Options");
static ModelOptions modelOptions(command, category);

static cl::opt<std::string> output("o", cl::value_desc("FILE"), cl::Required,
                                   cl::sub(command), cl::cat(category),
                                   cl::desc("The .json file to write"));
static cl::opt<int64_t>
    ranks("ranks", cl::value_desc("N"), cl::init(ProfileLimits().ranks),
          cl::sub(command), cl::cat(category),
          cl::desc("Ranks that will share this machine: so many time the "
                   "layers at once, and messages between each two of them, or "
                   "of two (default 1)"));
static cl::opt<std::string>
    hostfile("hostfile", cl::value_desc("FILE"), cl::sub(command),
             cl::cat(category),
             cl::desc("Have mpirun start the ranks on the hosts of this file; "
                      "the folder of -o has to be on all of them"));
static cl::opt<std::string> topologyOutput(
    "topology-output", cl::value_desc("FILE"), cl::sub(command),
    cl::cat(category),
    cl::desc("Also write what was measured between the ranks as a .json file "
             "for '--topology'"));
static cl::opt<int64_t>
    rounds("rounds", cl::value_desc("N"), cl::init(ProfileLimits().rounds),
           cl::sub(command), cl::cat(category),
           cl::desc("Time each layer at least so often (default 10)"));
static cl::opt<double>
    seconds("seconds", cl::value_desc("S"), cl::init(ProfileLimits().seconds),
            cl::sub(command), cl::cat(category),
            cl::desc("Go on for at least so many seconds (default 5)"));

/// "-" for a role that a layer has not.
static std::string formatTime(const std::optional<Measurement> &time) {
  return time ? formatSeconds(time->seconds) : "-";
}

static void printProfile(const Profile &profile) {
  constexpr const char *row = "{0,-28}{1,7}{2,14}{3,14}{4,14}\n";
  outs() << formatv(row, "layer", "times", "forward", "b. input", "b. weight");
  for (const MeasuredLayer &layer : profile.layers)
    outs() << formatv(row, layer.layers.front(), layer.layers.size(),
                      formatTime(layer.forward),
                      formatTime(layer.backwardInput),
                      formatTime(layer.backwardWeight));
  outs() << '\n';
  for (const MeasuredUpdate &update : profile.updates)
    outs() << formatv("{0}: {1} for a million parameters\n", update.optimizer,
                      formatSeconds(update.getSeconds(1000000)));
  for (const MeasuredLink &link : profile.links)
    outs() << formatv("between ranks {0} and {1}: {2} and {3:F2} GB/s\n",
                      link.ranks[0], link.ranks[1],
                      formatSeconds(link.latencySeconds),
                      link.bytesPerSecond * 1e-9);
}

static Error writeJson(const json::Value &value, StringRef path) {
  return writeTextFile(
      path, [&](raw_ostream &os) { os << formatv("{0:2}", value) << '\n'; });
}

/// \p topologyFile may be empty.
static Error writeFiles(const Profile &profile, const BuildOptions &options,
                        StringRef topologyFile) {
  if (Error error = writeJson(toJSON(profile), options.output))
    return error;
  if (topologyFile.empty())
    return Error::success();
  return writeJson(makeTopologyTable(profile, options.device), topologyFile);
}

static int runParsed() {
  BuildOptions options;
  if (!modelOptions.apply(options))
    return refused;
  if (ranks < 1 || ranks > 4096)
    return refuse("--ranks must be from 1 to 4096");
  if (rounds < 1 || !(seconds >= 0 && seconds <= 86400))
    return refuse("--rounds must be at least 1, and --seconds from 0 to 86400");
  if (!hostfile.empty() && !sys::fs::exists(hostfile))
    return refuse("--hostfile: '" + hostfile +
                  "' cannot be read: No such file or directory");
  // The linker is a library with options of its own: to run it resets ours.
  options.output = output;
  std::string topologyFile = topologyOutput;
  ProfileLimits limits{ranks, rounds, seconds, hostfile};
  CommandContext commandContext;
  mlir::MLIRContext &context = commandContext.context;

  mlir::FailureOr<Profile> profile = mlir::failure();
  {
    // Reading, three phases, code, layers, updates, links.
    Progress progress(8);
    profile = profileModel(options, limits, context,
                           [&](StringRef step) { progress.advance(step); });
  }
  if (mlir::failed(profile))
    return refused;
  if (Error error = writeFiles(*profile, options, topologyFile))
    return refuse(toString(std::move(error)));
  printProfile(*profile);
  outs() << "\nwrote " << options.output << "; use it with '--profile "
         << options.output << "'\n";
  return done;
}

int pipewright::runProfile(int argc, char **argv) {
  std::vector<const char *> arguments(argv, argv + argc);
  if (!parseArguments(arguments, command, category,
                      formatExamples({"pipewright profile gpt.onnx "
                                      "--microbatch-size 2 --loss "
                                      "cross-entropy:logits,labels -o "
                                      "gpt.profile.json"})))
    return wrongCommandLine;
  return runParsed();
}
