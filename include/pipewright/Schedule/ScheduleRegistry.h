//===- ScheduleRegistry.h - The schedules known by name ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each file of lib/Schedule/Generators is one entry. The command line, the
// documentation and the tests walk the registry, so nothing else knows a
// schedule by name.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_SCHEDULEREGISTRY_H
#define PIPEWRIGHT_SCHEDULE_SCHEDULEREGISTRY_H

#include "pipewright/Schedule/Simulator.h"

#include "llvm/Support/Error.h"

namespace pipewright {

/// What a search makes as small as it can.
enum class Objective : uint8_t {
  /// The end of the last rank: the time of a step after which all ranks wait
  /// for each other.
  Makespan,
  /// The longest time of a rank from its first start to its last end, which is
  /// what the zero-bubble papers count: the time of a step if a rank that is
  /// done goes on with the next step.
  Span
};

/// What a generator is asked for. Most follow a rule of the shape alone.
struct ScheduleRequest {
  ScheduleRequest(const ScheduleShape &shape) : shape(shape) {}
  ScheduleRequest(int64_t ranks, int64_t microbatches, int64_t chunks)
      : shape{ranks, microbatches, chunks} {}

  /// Chunks of 0 stand for as many as the stage costs are for or, without
  /// these, for as many as the schedule usually has.
  ScheduleShape shape;
  ShareCosts costs;
  /// Most activations a rank may hold, in the unit of
  /// Metrics::peakActivations. A generator that can trade time for memory keeps
  /// it; the others leave it to the checker.
  std::optional<double> memoryLimit;
  /// Micro-batches that an interleaved schedule runs on one chunk before it
  /// turns to the next. 0 stands for groups of one per rank, or of a few more
  /// where that makes them equal.
  int64_t group = 0;
  /// Whether stages recompute what they did not keep, as an action R of their
  /// own. Generators need not care: it is added to what they make.
  bool recompute = false;
  /// The rest is for searches.
  Objective objective = Objective::Makespan;
  /// Most copies of the parameters. Schedules of two directions have two.
  int64_t parameterCopies = 1;
  /// The rank that holds each stage; empty: the search chooses. With one, all
  /// schedules have one direction, and the shape says its number of chunks.
  std::vector<int64_t> placement = {};
};

struct ScheduleInfo {
  /// As published, in lower case: what users type.
  llvm::StringRef name;
  llvm::StringRef summary;
  /// Where the schedule was published.
  llvm::StringRef source;
  /// Refuses, with the rule, the numbers given and the nearest that work, a
  /// request that the schedule cannot serve: "needs 1 chunk per rank, not 2;
  /// use 1". All numbers of the shape are at least 1.
  llvm::Expected<Schedule> (*build)(const ScheduleRequest &request);
  /// Stages per rank where nobody asks for a number of them; 0: the generator
  /// chooses.
  int64_t chunks = 1;
  /// Whether ScheduleRequest::group means anything to it.
  bool hasGroups = false;
  /// Takes seconds, and chooses among the schedules that are not searches.
  bool isSearch = false;
};

class ScheduleRegistry {
public:
  /// The registry of all entries, sorted by name.
  static const ScheduleRegistry &get();

  void add(const ScheduleInfo &info) { entries.push_back(info); }
  llvm::ArrayRef<ScheduleInfo> getEntries() const { return entries; }
  const ScheduleInfo *lookup(llvm::StringRef name) const;

private:
  std::vector<ScheduleInfo> entries;
};

/// Whether \p name is that of a search.
bool isSearch(llvm::StringRef name);

/// The numbers of chunks that schedules usually have, in order.
std::vector<int64_t> listUsualChunks();

/// Builds the schedule called \p name; refuses unknown names and numbers
/// below 1.
llvm::Expected<Schedule> buildSchedule(llvm::StringRef name,
                                       ScheduleRequest request);

//===----------------------------------------------------------------------===//
// The refusals of generators
//===----------------------------------------------------------------------===//

/// "needs RULE, not GIVEN; use A or B": \p nearest are the numbers closest to
/// \p given that follow the rule, below it and above; those below 1 are left
/// out.
llvm::Error refuseNumber(const llvm::Twine &rule, int64_t given,
                         llvm::ArrayRef<int64_t> nearest);

/// Refuses a number of chunks per rank other than \p chunks.
llvm::Error checkChunks(const ScheduleShape &shape, int64_t chunks);

/// Refuses a number \p count of \p what, such as "ranks", that is no multiple
/// of \p factor.
llvm::Error checkMultiple(llvm::StringRef what, int64_t count, int64_t factor);

/// Refuses a shape that is too large to generate.
llvm::Error checkTractable(const ScheduleShape &shape);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SCHEDULEREGISTRY_H
