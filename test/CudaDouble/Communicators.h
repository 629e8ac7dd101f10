//===- Communicators.h - Ranks that send to each other ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_COMMUNICATORS_H
#define CUDADOUBLE_COMMUNICATORS_H

#include "Machine.h"

#include <deque>
#include <nccl.h>
#include <optional>

namespace cudadouble {

struct Clique;

/// What ncclComm_t points to: one rank of a clique.
struct Communicator {
  std::shared_ptr<Clique> clique; ///< null until a split is complete
  int rank = 0, device = 0;
  bool isBlocking = true, isAborted = false;
  /// Operations follow each other, whatever their streams.
  OperationPtr last;
  int splits = 0, registrations = 0;

  std::string describe() const;
};

/// A send, a receive or a rank's part of a collective operation, of a group
/// that is an operation.
struct Part {
  enum Kind { Send, Recv, AllReduce, Broadcast, AllGather, ReduceScatter };
  Kind kind;
  const void *source;
  void *target;
  size_t count; ///< elements, of what each rank gives
  ncclDataType_t type;
  ncclRedOp_t reduction = ncclSum;
  int peer = 0; ///< or the root
};

/// A part that has started and waits for its peers.
struct StartedPart {
  Part part;
  OperationPtr operation;
  /// How many parts of its group are not done.
  std::shared_ptr<size_t> remaining;
};

/// The ranks of one communicator.
struct Clique {
  explicit Clique(std::string name, size_t size)
      : name(std::move(name)), devices(size, -1), collectives(size) {}

  std::string name;
  std::vector<int> devices;   ///< of the ranks; -1: has not come yet
  bool hasDuplicates = false; ///< two ranks on one device
  /// By source and target.
  std::map<std::pair<int, int>, std::deque<StartedPart>> sends, receives;
  /// The collectives that each rank has started and others have not.
  std::vector<std::deque<StartedPart>> collectives;
  /// Ranks that called split for the n-th time, with color and key.
  struct Splitter {
    int color, key;
    Communicator *made;
  };
  std::vector<std::map<int, Splitter>> splits;

  bool isComplete() const {
    return std::all_of(devices.begin(), devices.end(),
                       [](int device) { return device >= 0; });
  }
  /// Starts \p part of \p rank, and completes what then can be.
  void start(int rank, const StartedPart &part);
  /// Ends all that \p rank has started.
  void cancel(int rank);

private:
  void match(std::pair<int, int> pair);
  void matchCollectives();
};

struct NcclWorld {
  int ids = 0;
  std::map<int, std::shared_ptr<Clique>> cliques; ///< by unique id
  std::vector<std::unique_ptr<Communicator>> communicators;
};

size_t getBytes(ncclDataType_t type);
/// How many elements a rank of \p ranks gives and gets.
std::pair<size_t, size_t> getCounts(const Part &part, size_t ranks);

} // namespace cudadouble

#endif // CUDADOUBLE_COMMUNICATORS_H
