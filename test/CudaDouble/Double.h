//===- Double.h - A stand-in for CUDA and NCCL ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The library defines the functions of the CUDA runtime and of NCCL that rank
// programs call, with the types of the real headers, for machines without a
// GPU. Programs link with it in place of both; each rank is a thread.
//
// What is on a stream runs when what it waits for has run, in an order that is
// drawn at random among those that CUDA allows. Vector clocks tell whether two
// accesses of the same bytes have an order at all, so that a missing event is
// found in every run. Transfers meet as in NCCL without buffers: a group ends
// when all its peers have come to theirs, and operations of one communicator
// follow each other, on whatever streams they are.
//
// What cannot be seen: accesses of host code to pinned memory.
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_DOUBLE_H
#define CUDADOUBLE_DOUBLE_H

#include "Memory.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cudadouble {

/// What can be made to go wrong in a program that is right.
enum class FaultKind {
  None,
  MissingWait,       ///< a stream does not wait for an event
  HalfReceive,       ///< a receive is of half the bytes
  WrongCommunicator, ///< a message is given to another communicator
  LostDevice,        ///< with a message, the device is lost to its peers
};
struct SeededFault {
  FaultKind kind = FaultKind::None;
  int device = 0; ///< of whose calls one goes wrong
  int number = 0; ///< of the call among those of its kind in steps, from 0
};

struct Options {
  /// Host threads that call CUDA: when all of them wait and nothing can run,
  /// that is a deadlock.
  int hostThreads = 1;
  int devices = 8;
  /// Of the order in which operations run.
  uint64_t seed = 0;
  /// What runs knows nothing of this: the steady state begins with the first
  /// launch of a kernel after the same thread copied something from the host,
  /// as its parameters are, and ends when the first stream is destroyed; faults
  /// are printed when they are found.
  bool runsProgram = false;
  SeededFault fault = {};
};

/// A launch, as a kernel's own code sees it.
struct KernelLaunch {
  std::string name;
  /// What the library was loaded from.
  const void *image;
  unsigned grid[3], block[3];
  size_t sharedBytes;
  void *const *arguments;
};

/// What an operation did.
struct Effects {
  std::vector<Access> accesses;
  std::string fault = {}; ///< empty: none
};

/// Takes the arguments of a launch, which are there only now, and returns what
/// computes it when its turn comes.
using KernelRunner =
    std::function<std::function<Effects()>(const KernelLaunch &)>;

/// Runs kernels of libraries that were loaded from PTX text, which ends in a
/// zero, in the interpreter of test/Ptx, with all that it checks.
KernelRunner makePtxRunner();

/// How many threads a block of a kernel may have at most.
using KernelLimits =
    std::function<int(const void *image, const std::string &name)>;

/// Reads them in such text.
KernelLimits makePtxLimits();

/// Forgets all that was there.
void reset(const Options &options);
void setKernelRunner(KernelRunner runner);
/// Without, every kernel allows 1024 threads.
void setKernelLimits(KernelLimits limits);

/// The calling thread calls CUDA no more.
void endHostThread();
/// From here on, what allocates, frees, loads, chooses algorithms or
/// synchronizes a whole device is a fault: a step must not do it.
void beginSteadyState();
void endSteadyState();
/// The communicators' peers on \p device answer no more.
void failDevice(int device);

/// What went wrong so far, each once, in the order in which it was found.
std::vector<std::string> getFaults();
/// What has not been given back.
std::vector<std::string> getLeaks();

} // namespace cudadouble

#endif // CUDADOUBLE_DOUBLE_H
