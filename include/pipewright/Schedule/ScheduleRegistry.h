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
};

struct ScheduleInfo {
  /// As published, in lower case: what users type.
  llvm::StringRef name;
  llvm::StringRef summary;
  /// Where the schedule was published.
  llvm::StringRef source;
  /// Refuses, with the rule, the numbers given and the nearest that work, a
  /// request that the schedule cannot serve. All numbers are at least 1.
  llvm::Expected<Schedule> (*build)(const ScheduleRequest &request);
  /// Stages per rank where nobody asks for a number of them.
  int64_t chunks = 1;
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

/// Builds the schedule called \p name; refuses unknown names and numbers
/// below 1.
llvm::Expected<Schedule> buildSchedule(llvm::StringRef name,
                                       ScheduleRequest request);

/// The refusal of a generator that has one stage per rank.
llvm::Error checkOneChunk(llvm::StringRef name, const ScheduleShape &shape);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_SCHEDULEREGISTRY_H
