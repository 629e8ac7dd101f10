//===- Harness.cpp - Rank programs on the stand-in ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Is part of a libpprt-cuda.so that has the stand-in in place of CUDA, NCCL,
// cuBLASLt and cuDNN: executables of ranks load it where LD_LIBRARY_PATH says
// so, and run as they are, with `--transport threads` or `local`.
// PIPEWRIGHT_DOUBLE says how:
//
//   ranks=N          as many threads call CUDA
//   seed=N           of the order in which operations run; default 0
//   fault=KIND:D:N   the Nth call of that kind on device D, from 0, goes wrong:
//                    wait, receive, communicator or device
//
// What goes wrong is printed, and the process ends with status 99 if anything
// did, unless it ended with another before.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

using namespace cudadouble;

static constexpr int faultStatus = 99;

[[noreturn]] static void refuse(const std::string &setting) {
  fprintf(stderr, "PIPEWRIGHT_DOUBLE: cannot be '%s'\n", setting.c_str());
  _exit(2);
}

static FaultKind parseFaultKind(const std::string &name) {
  if (name == "wait")
    return FaultKind::MissingWait;
  if (name == "receive")
    return FaultKind::HalfReceive;
  if (name == "communicator")
    return FaultKind::WrongCommunicator;
  if (name == "device")
    return FaultKind::LostDevice;
  refuse(name);
}

static Options parseOptions(const char *text) {
  Options options;
  options.runsProgram = true;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    size_t equals = word.find('=');
    std::string name = word.substr(0, equals);
    std::string value =
        equals == std::string::npos ? "" : word.substr(equals + 1);
    char kind[32];
    SeededFault &fault = options.fault;
    if (name == "ranks")
      options.hostThreads = atoi(value.c_str());
    else if (name == "seed")
      options.seed = strtoull(value.c_str(), nullptr, 10);
    else if (name == "fault" && sscanf(value.c_str(), "%31[a-z]:%d:%d", kind,
                                       &fault.device, &fault.number) == 3)
      fault.kind = parseFaultKind(kind);
    else
      refuse(word);
  }
  return options;
}

static void printOutcome() {
  std::vector<std::string> leaks = getLeaks();
  for (const std::string &leak : leaks)
    fprintf(stderr, "double: leak: %s\n", leak.c_str());
  const Machine &machine = Machine::get();
  const auto &[launches, products, convolutions, poolings, attentions, messages,
               graphs] = machine.counters;
  fprintf(stderr,
          "double: %ld launches, %ld products, %ld convolutions, "
          "%ld poolings, %ld attentions, %ld messages, %ld graphs\n",
          launches, products, convolutions, poolings, attentions, messages,
          graphs);
  bool isMissing =
      machine.options.fault.kind != FaultKind::None && !machine.faultHappened;
  if (isMissing)
    fprintf(stderr, "double: the seeded fault did not happen\n");
  if (getFaults().empty() && leaks.empty() && !isMissing)
    return;
  fflush(nullptr);
  _exit(faultStatus);
}

__attribute__((constructor)) static void begin() {
  const char *settings = getenv("PIPEWRIGHT_DOUBLE");
  reset(parseOptions(settings ? settings : ""));
  setKernelRunner(makePtxRunner());
  // Before the machine, which is older, is taken down.
  atexit(printOutcome);
}
