//===- ScheduleSpeed.cpp - How fast the schedule engine is
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ScheduleSpeed [NAME RANKS MICROBATCHES]: generates the schedule, places its
// messages, checks and simulates it, and prints the time of each step and how
// many actions that is per second. The same for twice as many micro-batches
// shows how the time grows: a ratio of 2 is linear. Without arguments, sizes
// that users meet are measured.
//
// Each time is that of all cores together, on which other work on the machine
// matters little, and after a slash the one that passed. Both are about equal
// under `taskset --cpu-list 0`.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <sys/resource.h>

using namespace llvm;
using namespace pipewright;

namespace {
/// How long something took: on all cores together, and for who waited.
struct Seconds {
  double cpu = 0;
  double wall = 0;

  Seconds operator+(const Seconds &other) const {
    return {cpu + other.cpu, wall + other.wall};
  }
  Seconds operator-(const Seconds &other) const {
    return {cpu - other.cpu, wall - other.wall};
  }
};
} // namespace

static double read(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static Seconds now() {
  return {read(CLOCK_PROCESS_CPUTIME_ID), read(CLOCK_MONOTONIC)};
}

static raw_ostream &operator<<(raw_ostream &os, const Seconds &seconds) {
  return os << format("%.3f/%.3f s", seconds.cpu, seconds.wall);
}

/// The most memory that the process has had so far.
static int64_t getPeakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

static int64_t countActions(const Schedule &schedule) {
  int64_t actions = 0;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    actions += schedule.getActions(rank).size();
  return actions;
}

namespace {
/// The time of each step.
struct Times {
  Seconds generate, simulate, place, check;
  int64_t actions = 0;
  Seconds total() const { return generate + place + check; }
};
} // namespace

static Expected<Times> measure(StringRef name, const ScheduleShape &shape) {
  Times times;
  auto timed = [](Seconds &seconds, auto &&step) {
    Seconds start = now();
    step();
    seconds = now() - start;
  };
  std::optional<Expected<Schedule>> built;
  timed(times.generate, [&] { built.emplace(buildSchedule(name, shape)); });
  if (!*built)
    return built->takeError();
  Schedule schedule = std::move(**built);
  CostModel costs = makeUniformCosts(schedule, {});
  timed(times.simulate, [&] { simulate(schedule, costs); });
  timed(times.place,
        [&] { schedule = addCommunication(std::move(schedule), costs); });
  times.actions = countActions(schedule);
  std::vector<Violation> violations;
  timed(times.check, [&] { violations = checkSchedule(schedule); });
  if (!violations.empty())
    return createStringError("the schedule is not valid\n" +
                             toString(violations));
  return times;
}

static Error report(StringRef name, int64_t ranks, int64_t microbatches) {
  double once = 0;
  for (int64_t m : {microbatches, 2 * microbatches}) {
    if (!isTractable(ranks, m))
      continue;
    Expected<Times> times = measure(name, {ranks, m, /*chunks=*/0});
    if (!times)
      return times.takeError();
    Seconds total = times->total();
    outs() << format("%-16s %5lld ranks %5lld micro-batches %9lld actions  ",
                     name.str().c_str(), (long long)ranks, (long long)m,
                     (long long)times->actions)
           << "generate " << times->generate << "  place " << times->place
           << "  check " << times->check << "  total " << total
           << format("  %.1f M actions/s", 1e-6 * times->actions / total.cpu)
           << "  (simulate " << times->simulate << ')'
           << format("  peak %.0f MB", 1e-6 * getPeakBytes());
    if (once > 0)
      outs() << format("  ratio %.2f", total.cpu / once);
    outs() << '\n';
    once = total.cpu;
  }
  return Error::success();
}

static Error reportAll() {
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries())
    if (!info.isSearch)
      if (Error error = report(info.name, 64, 512))
        return error;
  // The largest comes last: the peak of memory is that of the whole process.
  return report("1f1b", 4096, 2048);
}

int main(int argc, char **argv) {
  int64_t ranks, microbatches;
  bool hasShape = argc == 4 && !StringRef(argv[2]).getAsInteger(10, ranks) &&
                  !StringRef(argv[3]).getAsInteger(10, microbatches);
  if (argc != 1 && !hasShape) {
    errs() << "usage: ScheduleSpeed [NAME RANKS MICROBATCHES]\n";
    return 2;
  }
  Error error = hasShape ? report(argv[1], ranks, microbatches) : reportAll();
  if (!error)
    return 0;
  errs() << "ScheduleSpeed: error: " << toString(std::move(error)) << '\n';
  return 1;
}
