//===- Machine.h - Streams, and what runs on them ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One machine serves all threads of the process, under one lock. An operation
// starts when all operations that it comes after are done; one that has
// transfers is done when these are.
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_MACHINE_H
#define CUDADOUBLE_MACHINE_H

#include "Double.h"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <random>
#include <set>

namespace cudadouble {

template <typename T, typename PredicateT>
void eraseIf(std::vector<T> &list, PredicateT predicate) {
  list.erase(std::remove_if(list.begin(), list.end(), predicate), list.end());
}

class Capture;
struct Operation;
using OperationPtr = std::shared_ptr<Operation>;

struct Operation {
  /// "copy on stream 2 of device 0".
  std::string text;
  size_t actor = 0;
  std::vector<OperationPtr> after;
  /// At its start, once it has started.
  VectorClock clock;
  Moment moment;
  /// What it does at its start, and what it accesses.
  std::function<Effects()> run;
  /// Starts transfers and returns whether it is done, which it may be later:
  /// then whoever completes them says so.
  std::function<bool(const OperationPtr &)> start;
  /// Is called when it is put among what is to run.
  std::function<void(const OperationPtr &)> onEnqueue;
  std::weak_ptr<Capture> capture; ///< of a graph that it is part of
  bool started = false, done = false;
  uint64_t time = 0; ///< of its end, by what had happened until then
};

/// What cudaStream_t points to.
struct Stream {
  int device = 0;
  int number = 0;
  size_t actor = 0;
  /// The last operation on it; null: none.
  OperationPtr last = nullptr;
  /// While it is captured.
  std::shared_ptr<Capture> capture = nullptr;
  OperationPtr lastCaptured = nullptr;

  std::string describe() const {
    return "stream " + std::to_string(number) + " of device " +
           std::to_string(device);
  }
};

/// What cudaEvent_t points to.
struct Event {
  bool isRecorded = false;
  OperationPtr recorded; ///< null: the stream was empty
};

/// What cudaKernel_t and cudaLibrary_t point to.
struct Kernel {
  const void *image;
  std::string name;
};
struct Library {
  const void *image;
  std::vector<std::unique_ptr<Kernel>> kernels;
};

/// All communicators (NcclApi.cpp).
struct NcclWorld;
std::vector<std::string> describeLeaks(const NcclWorld &world);

/// What a thread of the program has.
struct HostThread {
  int device = 0;
  size_t actor = 0;
  VectorClock clock;
  bool hasCopiedIn = false; ///< something from the host
};

class Machine {
public:
  using Lock = std::unique_lock<std::mutex>;

  static Machine &get();
  void reset(const Options &options);

  Lock lock() { return Lock(mutex); }
  HostThread &getThread();
  void endThread();

  /// All below are called under the lock.

  void report(std::string fault);
  /// A launch: there are steps from here on, if they are to be found.
  void beginSteps();
  void endSteps();
  /// Does this call on \p device, of what can go wrong as \p kind, do so?
  bool goesWrong(FaultKind kind, int device);
  /// Reports \p what if a step is running.
  void refuseInStep(const char *what);

  Stream *createStream(int device);
  /// The stream, or null with a fault if it is the default one or unknown.
  Stream *find(void *stream, const char *what);
  void destroyStream(Stream *stream);
  Event *createEvent();
  void destroyEvent(Event *event);
  void record(Event &event, Stream &stream);

  /// Puts \p operation on all \p streams, after what is on them.
  void enqueue(const OperationPtr &operation,
               const std::vector<Stream *> &streams);
  /// Puts an operation of a graph, whose order is known, among what runs.
  void enqueueCopy(const OperationPtr &operation);
  size_t createActor() { return actors++; }
  /// Says that what \p operation started is done.
  void finish(Operation &operation);
  /// Checks an access of \p operation, which has started.
  void access(const Operation &operation, const Access &access);

  /// Runs what can run until \p isDone. False, after a report, if that can
  /// never be.
  bool wait(Lock &lock, const std::function<bool()> &isDone);
  /// Runs what can run. Who asks often while nothing moves waits, too: false,
  /// after a report, if that can never end.
  bool poll();
  /// \p operation has been waited for: the thread goes on after it.
  void join(const OperationPtr &operation);
  void join(int device);
  bool isDone(int device) const;

  Options options;
  KernelRunner runner;
  KernelLimits limits;
  std::unique_ptr<Memory> memory;
  std::vector<std::string> faults;
  std::set<int> failedDevices;
  std::vector<std::unique_ptr<Library>> libraries;
  std::shared_ptr<NcclWorld> nccl; ///< null: not used yet
  bool isSteady = false;
  bool hasEnded = false; ///< the steps that it has found
  struct {
    long launches = 0, products = 0, convolutions = 0, poolings = 0,
         attentions = 0, messages = 0, graphLaunches = 0;
  } counters;
  bool faultHappened = false;
  int graphs = 0; ///< that are not destroyed
  /// Counts all that happens: who sees it unchanged sees nothing move.
  uint64_t progress = 0;
  std::vector<std::string> describeLeaks() const;

private:
  void pump();
  OperationPtr drawReady();
  void begin(const OperationPtr &operation);
  bool isStuck();
  void describePending();

  std::mutex mutex;
  std::condition_variable changed;
  std::mt19937_64 random;
  int faultCalls = 0; ///< that might have gone wrong
  size_t actors = 0;
  uint64_t generation = 0; ///< of resets
  int liveThreads = 0;
  /// What each waiting thread waits for.
  std::list<const std::function<bool()> *> waiting;
  /// What a thread that polls has seen.
  struct Poller {
    uint64_t progress = 0;
    int times = 0; ///< since that changed
  };
  std::map<size_t, Poller> pollers; ///< by actor
  bool isDeadlocked = false;
  std::vector<uint64_t> counts; ///< of the moments of each actor
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  std::vector<OperationPtr> pending;
};

} // namespace cudadouble

#endif // CUDADOUBLE_MACHINE_H
