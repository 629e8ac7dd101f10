//===- Main.cpp - The main function of a rank executable ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Environment: the launcher tells MPI what it needs to know. The runtime reads
// OMPI_COMM_WORLD_SIZE and PMI_SIZE, to refuse a build for one rank started as
// several, and sets OMPI_MCA_mpi_yield_when_idle=1 where it is unset. With
// OpenMPI, `mpirun` as root needs --allow-run-as-root; more ranks than cores
// need --oversubscribe; and --bind-to none keeps two runs on one machine from
// sharing a core. PIPEWRIGHT_FUZZ_DELAY is read with the options.
//
//===----------------------------------------------------------------------===//

#include "Loop.h"
#include "Threads.h"
#include "launch/Handshake.h"
#include "launch/Monitor.h"
#include "log/Message.h"

#include <cstdlib>

using namespace pprt;

/// Reports a failure; returns the exit status.
static int finish(const Status &status, uint32_t rank) {
  if (!status.getMessage().empty())
    printMessage(rank, "error: " + status.getMessage());
  return static_cast<int>(status.getCode());
}

static Status createTransport(const PprtDescriptor &descriptor,
                              std::unique_ptr<Transport> &transport) {
  if (descriptor.ranks != 1)
    return createMpiTransport(transport);
  for (const char *variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *size = getenv(variable); size && atoi(size) > 1)
      return Status::error(ExitCode::Mismatch,
                           "built for 1 rank, but started with " +
                               std::string(size) +
                               "; start as many processes as there are ranks");
  transport = createSelfTransport();
  return Status();
}

/// Runs the rank that \p transport is of.
static Status runRank(const PprtDescriptor &descriptor,
                      const RankOptions &options, Transport &transport) {
  if (Status status = shakeHands(transport, descriptor); status.failed())
    return status;
  Progress progress;
  Monitor monitor(descriptor, progress, options.timeoutSeconds);
  monitor.start(transport);
  PprtContext context(descriptor, options, transport, progress);
  Status status = runSteps(context);
  monitor.stop();
  return status;
}

static int run(const PprtDescriptor &descriptor, const RankOptions &options) {
  // Before MPI or others start their threads: they inherit what is blocked.
  Monitor::reserveSignals();
  if (options.transport == TransportKind::Processes) {
    std::unique_ptr<Transport> transport;
    Status status = createTransport(descriptor, transport);
    if (!status.failed())
      status = runRank(descriptor, options, *transport);
    return finish(status, descriptor.rank);
  }
  ExitCode code = ExitCode::Done;
  Status status = runThreads(
      descriptor,
      [&](const PprtDescriptor &rank, Transport &transport) {
        return ExitCode(finish(runRank(rank, options, transport), rank.rank));
      },
      code);
  return status.failed() ? finish(status, descriptor.rank)
                         : static_cast<int>(code);
}

int pprtMain(int argc, char **argv, const PprtDescriptor *descriptor) {
  // All ranks parse the same command line: one of them speaks of it.
  bool speaks = descriptor->rank == 0;
  CommandLine commandLine;
  Status parsed = parseOptions(
      argc, argv, static_cast<PprtOptimizer>(descriptor->optimizer),
      commandLine);
  if (parsed.failed())
    return speaks ? finish(parsed, 0) : static_cast<int>(parsed.getCode());
  if (commandLine.help) {
    if (speaks)
      fputs(getHelp(argv[0]).c_str(), stdout);
    return 0;
  }
  if (descriptor->abiVersion != PPRT_ABI_VERSION)
    return finish(
        Status::error(ExitCode::Mismatch,
                      "built for version " +
                          std::to_string(descriptor->abiVersion) +
                          " of the runtime's interface, but libpprt has "
                          "version " +
                          std::to_string(PPRT_ABI_VERSION)),
        descriptor->rank);
  return run(*descriptor, commandLine.options);
}
