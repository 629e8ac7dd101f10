//===- Run.cpp - pipewright run: trains what was built, on this machine
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks the options and the data once, before any process starts, and then
// becomes the MPI launcher. On a cluster the same options are given to
// DIR/launch by the launcher there.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "Subcommands.h"

#include "pipewright/Driver/Launcher.h"
#include "pipewright/Support/Json.h"

#include "core/Options.h"
#include "pprt/Data.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using pipewright::parseJson;
using pipewright::refuse;

namespace {

/// What the manifest says that a run needs.
struct Build {
  int64_t ranks = 1;
  bool forwardOnly = false;
  PprtOptimizer optimizer = PPRT_SGD;
  pprt::BatchShape batch;
  std::vector<pprt::InputSpec> inputs;
};

} // namespace

//===----------------------------------------------------------------------===//
// The manifest
//===----------------------------------------------------------------------===//

// Found by argument: where the types are.
namespace pprt {
static bool fromJSON(const json::Value &value, InputSpec &input,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  std::string dtype;
  if (!mapper || !mapper.map("name", input.name) ||
      !mapper.map("dtype", dtype) || !mapper.map("shape", input.shape) ||
      !mapper.map("axis", input.axis) ||
      !mapper.mapOptional("label_classes", input.labelClasses) ||
      !mapper.mapOptional("ignore_index", input.ignoreIndex) ||
      !mapper.mapOptional("index_limit", input.indexLimit))
    return false;
  std::optional<PprtDtype> parsed = pprt::parseFormatName(dtype);
  if (!parsed) {
    path.field("dtype").report("unknown element type");
    return false;
  }
  input.dtype = *parsed;
  // An input that no rank reads needs no data.
  std::vector<int64_t> ranks;
  if (!mapper.map("ranks", ranks))
    return false;
  input.read = !ranks.empty();
  return true;
}

static bool fromJSON(const json::Value &value, BatchShape &batch,
                     json::Path path) {
  json::ObjectMapper mapper(value, path);
  return mapper && mapper.map("microbatches", batch.microbatches) &&
         mapper.map("microbatch_size", batch.microbatchSize);
}

} // namespace pprt

/// Whether \p number can be one of ranks or samples in a manifest.
static bool isCount(int64_t number) { return number >= 1 && number <= 1 << 24; }

namespace {
bool fromJSON(const json::Value &value, Build &build, json::Path path) {
  json::ObjectMapper mapper(value, path);
  int64_t version = 0;
  if (!mapper || !mapper.map("format_version", version))
    return false;
  if (version != 1) {
    path.field("format_version").report("is not a version that I know");
    return false;
  }
  std::string optimizer;
  const json::Object *mesh = value.getAsObject()->getObject("mesh");
  std::optional<int64_t> ranks =
      mesh ? mesh->getInteger("pp") : std::optional<int64_t>();
  if (!ranks) {
    path.field("mesh").report("has no 'pp'");
    return false;
  }
  // As in builds before there were several pipelines.
  int64_t replicas = mesh->getInteger("dp").value_or(1);
  if (!isCount(*ranks) || !isCount(replicas)) {
    path.field("mesh").report("has sizes that no build has");
    return false;
  }
  build.ranks = *ranks * replicas;
  if (!mapper.map("schedule", build.batch) ||
      !mapper.map("inputs", build.inputs) ||
      !mapper.map("forward_only", build.forwardOnly) ||
      !mapper.mapOptional("optimizer", optimizer))
    return false;
  if (!isCount(build.batch.microbatches) ||
      !isCount(build.batch.microbatchSize)) {
    path.field("schedule").report("has sizes that no build has");
    return false;
  }
  build.batch.microbatches *= replicas;
  build.optimizer = optimizer == "adamw" ? PPRT_ADAMW : PPRT_SGD;
  return true;
}
} // namespace

static Expected<Build> readBuild(StringRef directory) {
  std::string path = (directory + "/manifest.json").str();
  auto file = MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("'" + directory +
                             "' is not a build directory: cannot read '" +
                             path + "': " + file.getError().message());
  Expected<json::Value> manifest = parseJson((*file)->getBuffer());
  if (!manifest)
    return createStringError(path + ": " + toString(manifest.takeError()));
  Build build;
  json::Path::Root root(path);
  if (!fromJSON(*manifest, build, root))
    return root.getError();
  return build;
}

//===----------------------------------------------------------------------===//
// The launch
//===----------------------------------------------------------------------===//

static pid_t child;

/// Starts \p command; what it prints can be read from \p output. Returns an
/// error number, or 0.
static int start(std::vector<std::string> &command, int &output) {
  std::vector<char *> arguments;
  for (std::string &word : command)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno;
  child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execvp(arguments.front(), arguments.data());
    errs() << "pipewright: error: cannot start '" << command.front()
           << "': " << strerror(errno) << '\n';
    _exit(1);
  }
  int error = child < 0 ? errno : 0;
  close(ends[1]);
  output = ends[0];
  return error;
}

/// Writes all of \p bytes; returns an error number, or 0.
static int writeAll(StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return errno;
    bytes = bytes.drop_front(std::max<ssize_t>(written, 0));
  }
  return 0;
}

/// Passes on what the run prints, to its end. Stops the run when nobody takes
/// it, as behind `| head`: the launcher would crash of that. Returns an error
/// number, or 0.
static int passOn(int output) {
  char buffer[4096];
  int failure = 0;
  for (;;) {
    ssize_t bytes = read(output, buffer, sizeof buffer);
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes <= 0)
      return failure;
    if (failure == 0 && (failure = writeAll({buffer, size_t(bytes)})) != 0)
      kill(child, SIGTERM);
  }
}

/// Runs \p command and returns the exit status of the first rank that failed.
/// Ctrl-C and the signals that stop a run go to the launcher, which passes them
/// on.
static int launch(std::vector<std::string> &command) {
  int output = -1;
  if (int error = start(command, output))
    return refuse("cannot start '" + command.front() +
                  "': " + std::string(strerror(error)));
  for (int signal : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2})
    std::signal(signal, [](int number) { kill(child, number); });
  std::signal(SIGPIPE, SIG_IGN);
  int failure = passOn(output);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (failure != 0)
    return refuse("cannot write to the standard output: " +
                  std::string(strerror(failure)) + "; the run was stopped");
  // The launcher reports a rank that a signal ended as 128 + signal: to the
  // others that is a lost peer.
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return code >= 128 ? static_cast<int>(pprt::ExitCode::PeerLost) : code;
}

/// Checks the rank options and the data as the ranks will; returns the exit
/// status, 0 if all is well.
static int checkOptions(const Build &build, int argc, char **argv,
                        pprt::CommandLine &commandLine) {
  pprt::Status status =
      pprt::parseOptions(argc, argv, build.optimizer, commandLine);
  if (status.failed()) {
    errs() << "pipewright: error: " << status.getMessage() << '\n';
    return 2;
  }
  if (commandLine.help)
    return 0;
  std::unique_ptr<pprt::Dataset> data;
  status = pprt::Dataset::open(commandLine.options.data, build.inputs,
                               build.batch, data);
  if (!status.failed())
    status = data->validate(commandLine.options.steps);
  return status.failed() ? refuse(status.getMessage()) : 0;
}

int pipewright::runRun(int argc, char **argv) {
  if (argc < 2 || StringRef(argv[1]) == "--help") {
    raw_ostream &stream = argc < 2 ? errs() : outs();
    stream << "OVERVIEW: train or evaluate what 'pipewright build' made, on "
              "this machine\n\n"
              "USAGE: pipewright run DIR [rank options]\n\n"
              "EXAMPLE: pipewright run out --data corpus.txt --steps 100\n\n"
           << pprt::getHelp("pipewright run DIR");
    return argc < 2 ? 2 : 0;
  }
  StringRef directory(argv[1]);
  Expected<Build> build = readBuild(directory);
  if (!build)
    return refuse(toString(build.takeError()));

  // argv[1] stands for the program's name from here on.
  pprt::CommandLine commandLine;
  if (int code = checkOptions(*build, argc - 1, argv + 1, commandLine))
    return code;
  if (commandLine.help) {
    outs() << pprt::getHelp("pipewright run " + directory.str());
    return 0;
  }

  // Ranks that are threads need no launcher.
  bool isOneProcess =
      commandLine.options.transport != pprt::TransportKind::Processes;
  std::vector<std::string> program = {
      (directory + (isOneProcess ? "/bin/rank-000" : "/launch")).str()};
  if (!sys::fs::can_execute(program.front()))
    return refuse("cannot run '" + program.front() + "'; build again");
  program.insert(program.end(), argv + 2, argv + argc);
  if (isOneProcess)
    return launch(program);
  Expected<pipewright::Launcher> launcher =
      pipewright::Launcher::create(build->ranks);
  if (!launcher)
    return refuse(toString(launcher.takeError()));
  std::vector<std::string> command = launcher->makeCommand(program);
  return launch(command);
}
