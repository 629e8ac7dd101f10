//===- Main.cpp - The main function of a rank executable ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Environment: the launcher tells MPI what it needs to know. The runtime reads
// OMPI_COMM_WORLD_SIZE and PMI_SIZE, to refuse a build for one rank started as
// several, and sets OMPI_MCA_mpi_yield_when_idle=1 where it is unset. Without
// MPI, RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say where ranks meet. With
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

static bool isSet(const char *variable) { return getenv(variable) != nullptr; }

/// Without MPI, launchers such as torchrun tell each process where to meet.
static bool findMeeting(TcpMeeting &meeting) {
  for (const char *variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (isSet(variable))
      return false;
  for (const char *variable :
       {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"})
    if (!isSet(variable))
      return false;
  meeting.rank = atoi(getenv("RANK"));
  meeting.size = atoi(getenv("WORLD_SIZE"));
  meeting.address = getenv("MASTER_ADDR");
  meeting.port = getenv("MASTER_PORT");
  return meeting.rank < meeting.size;
}

static Status createTransport(const PprtDescriptor &descriptor,
                              std::unique_ptr<Transport> &transport) {
  TcpMeeting meeting;
  bool meets = findMeeting(meeting);
  if (descriptor.ranks * descriptor.dataParallel != 1)
    return meets ? createTcpTransport(meeting, transport)
                 : createMpiTransport(transport);
  for (const char *variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const char *size = getenv(variable))
      meeting.size = atoi(size);
  if (meeting.size > 1)
    return Status::error(ExitCode::Mismatch,
                         "built for 1 rank, but started with " +
                             std::to_string(meeting.size) +
                             "; start as many processes as there are ranks");
  transport = createSelfTransport();
  return Status();
}

/// Runs the rank that \p transport is of.
static Status runRank(const PprtDescriptor &descriptor,
                      const RankOptions &options, Transport &transport) {
  if (Status status = shakeHands(transport, descriptor); status.failed())
    return status;
  if (Status status = checkGroups(descriptor, transport); status.failed())
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
    return finish(status, transport ? transport->getRank() : descriptor.rank);
  }
  ExitCode code = ExitCode::Done;
  Status status = runThreads(
      descriptor,
      [&](const PprtDescriptor &rank, Transport &transport) {
        return ExitCode(
            finish(runRank(rank, options, transport), transport.getRank()));
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
