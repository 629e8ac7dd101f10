//===- FaultLog.h - The faults of a launch ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_PTX_FAULTLOG_H
#define PIPEWRIGHT_TEST_PTX_FAULTLOG_H

#include "Ptx/Machine.h"

#include <set>
#include <utility>

namespace pipewright::ptx {

/// Keeps the first fault of each kind and line.
class FaultLog {
public:
  bool isNew(FaultKind kind, int64_t line) const {
    return !seen.count({kind, line});
  }

  void add(FaultKind kind, int64_t line, std::string message) {
    if (seen.insert({kind, line}).second)
      faults.push_back({kind, line, std::move(message)});
    if (!canGoOn(kind))
      stopped = true;
  }

  /// Whether the launch is over.
  bool isStopped() const { return stopped; }
  std::vector<Fault> take() { return std::move(faults); }

private:
  /// What a thread reads is wrong after these, but there is something to read.
  static bool canGoOn(FaultKind kind) {
    return kind == FaultKind::Race || kind == FaultKind::BlockRace ||
           kind == FaultKind::Uninitialized || kind == FaultKind::Undefined;
  }

  std::set<std::pair<FaultKind, int64_t>> seen;
  std::vector<Fault> faults;
  bool stopped = false;
};

} // namespace pipewright::ptx

#endif // PIPEWRIGHT_TEST_PTX_FAULTLOG_H
