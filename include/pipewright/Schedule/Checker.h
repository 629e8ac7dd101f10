//===- Checker.h - Can a schedule be trusted? -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules, by the labels that documentation, diagnostics and tests use:
//
//   S1  each stage meets each micro-batch of each direction exactly once: one
//       F and one backward, which is BW, or one B and one W
//   S2  each action is on the rank that holds its stage
//   S3  an action comes after what it needs: F before R before B before W of
//       the same stage and micro-batch; a value is received or computed before
//       it is used, and computed before it is sent
//   S4  every receive has its send, and a pair of ranks sends and receives in
//       the same order
//   S5  the ranks, side by side, each in its own order, with sends that block,
//       reach the end
//   S6  no rank holds more activations than the limit
//   S7  the weight gradients of a stage are added in the order of micro-batches
//       and are complete before its update, which is the rank's last action
//   S8  every output, loss and gradient of the programs is the model's; this
//       needs a model, so `--pp-check-equivalence` decides it
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_CHECKER_H
#define PIPEWRIGHT_SCHEDULE_CHECKER_H

#include "pipewright/Schedule/Schedule.h"
#include "pipewright/Schedule/Transport.h"

namespace pipewright {

enum class Rule : uint8_t { S1, S2, S3, S4, S5, S6, S7, S8 };
llvm::StringRef getName(Rule rule);

struct Violation {
  Rule rule;
  int64_t rank;
  /// Position in the rank's actions; -1 if what is wrong is that one is
  /// missing.
  int64_t action;
  std::string message;
  /// Where else to look: the other ranks of a deadlock, the first of two
  /// equal actions.
  struct Note {
    int64_t rank;
    int64_t action;
    std::string message;
  };
  std::vector<Note> notes = {};
};

struct CheckOptions {
  /// Most activations a rank may hold (S6), in the unit of
  /// Metrics::peakActivations.
  std::optional<double> memoryLimit;
  /// What each stage has to run for each micro-batch. Empty: F, and either BW
  /// or both B and W.
  std::vector<std::vector<ActionKind>> roles = {};
  /// Messages of one queue, from one rank to another, that may be under way,
  /// sent but not yet asked for, before a send blocks. 0: a send waits for its
  /// receive.
  int64_t credits = 0;
  /// How the schedule's transfers are carried out (S4, S5).
  Transport transport = Transport::Blocking;
};

/// Everything that is wrong with \p schedule; nothing if it can be trusted. If
/// it has no transfers, S4 has nothing to say and S5 only asks that the ranks'
/// orders agree. Rules that build on broken ones are not tried.
std::vector<Violation> checkSchedule(const Schedule &schedule,
                                     const CheckOptions &options = {});

/// "S3: rank 1, action 4: ...", one line per violation and note.
std::string toString(llvm::ArrayRef<Violation> violations);

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_CHECKER_H
