//===- DryRun.h - Runs ranks' tasks, and places messages --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithms behind the simulator and the order of messages. They are
// written once for a plain schedule, of which nothing is copied, and for the
// tasks of rank programs. A source of tasks has
//
//   int64_t getRanks(), getValues()
//   size_t getItems(rank)              the length of the rank's list
//   bool isTask(rank, index)           other items are passed over
//   double getDuration(rank, index)
//   void forEachUse(rank, index, f)    f(value, whether another rank makes it)
//   void forEachMake(rank, index, f)   f(value, whether another rank uses it)
//   void send(value, end)              a value for another rank is made
//   double getArrival(value, end)      when the other rank has it
//
// A value is used by one other rank at most. All costs are linear in the number
// of tasks: arrays are indexed by value or by rank.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_SCHEDULE_DRYRUN_H
#define PIPEWRIGHT_LIB_SCHEDULE_DRYRUN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace pipewright {

/// When values were made, and which ranks wait for those that were not.
class ValueTimes {
public:
  ValueTimes(int64_t values, int64_t ranks)
      : ends(values, nobodyWaits), nextWaiter(ranks, -1) {}

  /// Below 0 as long as \p value is not made.
  double getEnd(int64_t value) const { return ends[value]; }

  /// As long as a value is not made, its place in `ends` names the last rank
  /// that came to wait for it, from which a chain leads to the others.
  void wait(int64_t rank, int64_t value) {
    nextWaiter[rank] = getWaiter(value);
    ends[value] = nobodyWaits - 1 - rank;
  }

  /// Calls \p wake with each rank that waits for \p value.
  template <typename WakeT>
  void make(int64_t value, double end, WakeT wake) {
    if (ends[value] < nobodyWaits)
      for (int64_t rank = getWaiter(value); rank >= 0; rank = nextWaiter[rank])
        wake(rank);
    ends[value] = end;
  }

private:
  static constexpr double nobodyWaits = -1;

  int64_t getWaiter(int64_t value) const {
    return static_cast<int64_t>(nobodyWaits - 1 - ends[value]);
  }

  std::vector<double> ends;
  std::vector<int64_t> nextWaiter;
};

/// Runs each rank's tasks as early as their order and their values allow: a
/// rank until it misses a value, and on when that is made.
template <typename SourceT>
class DryRun {
public:
  explicit DryRun(SourceT &source)
      : source(source), values(source.getValues(), source.getRanks()),
        next(source.getRanks(), 0), missing(source.getRanks(), -1),
        clocks(source.getRanks(), 0) {}

  /// Calls \p observe with the rank, the index, the start and the end of each
  /// task, in an order in which each comes after what it needs.
  template <typename ObserverT>
  void run(ObserverT observe) {
    for (int64_t rank = source.getRanks(); rank-- > 0;)
      ready.push_back(rank);
    while (!ready.empty()) {
      int64_t rank = ready.pop_back_val();
      missing[rank] = -1;
      for (size_t items = source.getItems(rank); next[rank] < items;
           ++next[rank])
        if (source.isTask(rank, next[rank]) && !runTask(rank, observe))
          break;
    }
  }

  /// The same in the order of the tasks' ends: messages of several ranks that
  /// share a link are sent in the order in which they are made.
  template <typename ObserverT>
  void runInOrder(ObserverT observe) {
    std::priority_queue<Ending> endings;
    for (int64_t rank = source.getRanks(); rank-- > 0;)
      ready.push_back(rank);
    while (true) {
      while (!ready.empty())
        begin(ready.pop_back_val(), endings);
      if (endings.empty())
        return;
      Ending ending = endings.top();
      endings.pop();
      int64_t rank = ending.rank;
      double start = clocks[rank];
      clocks[rank] = ending.end;
      observe(rank, next[rank], start, ending.end);
      finishTask(rank, next[rank]++, ending.end);
      ready.push_back(rank);
    }
  }

  /// The value that \p rank waits for in vain, or -1 if it reached its end.
  int64_t getMissing(int64_t rank) const { return missing[rank]; }
  /// The item at which \p rank stands.
  size_t getPosition(int64_t rank) const { return next[rank]; }
  bool isComplete() const {
    return llvm::all_of(missing, [](int64_t value) { return value < 0; });
  }
  double getMakespan() const {
    return *std::max_element(clocks.begin(), clocks.end());
  }
  /// When \p value was made.
  double getEnd(int64_t value) const { return values.getEnd(value); }

private:
  /// A task that is running. The earliest comes first; the rank decides a tie.
  struct Ending {
    double end;
    int64_t rank;
    bool operator<(const Ending &other) const {
      return std::tie(end, rank) > std::tie(other.end, other.rank);
    }
  };

  /// Sets \p start to when the task at \p index of \p rank can begin; false,
  /// and the rank waits, if a value is not made yet.
  bool findStart(int64_t rank, size_t index, double &start) {
    start = clocks[rank];
    int64_t missed = -1;
    source.forEachUse(rank, index, [&](int64_t value, bool isRemote) {
      double end = values.getEnd(value);
      if (end < 0)
        missed = missed < 0 ? value : missed;
      else
        start = std::max(start, isRemote ? source.getArrival(value, end) : end);
    });
    if (missed < 0)
      return true;
    missing[rank] = missed;
    values.wait(rank, missed);
    return false;
  }

  void finishTask(int64_t rank, size_t index, double end) {
    source.forEachMake(rank, index, [&](int64_t value, bool isRemote) {
      values.make(value, end, [&](int64_t waiter) { ready.push_back(waiter); });
      if (isRemote)
        source.send(value, end);
    });
  }

  template <typename ObserverT>
  bool runTask(int64_t rank, ObserverT &observe) {
    size_t index = next[rank];
    double start;
    if (!findStart(rank, index, start))
      return false;
    double end = start + source.getDuration(rank, index);
    clocks[rank] = end;
    observe(rank, index, start, end);
    finishTask(rank, index, end);
    return true;
  }

  /// Lets \p rank run its next task if it has one that can begin. Until that
  /// ends, the rank's clock tells when it began.
  void begin(int64_t rank, std::priority_queue<Ending> &endings) {
    missing[rank] = -1;
    size_t items = source.getItems(rank);
    while (next[rank] < items && !source.isTask(rank, next[rank]))
      ++next[rank];
    double start;
    if (next[rank] == items || !findStart(rank, next[rank], start))
      return;
    clocks[rank] = start;
    endings.push({start + source.getDuration(rank, next[rank]), rank});
  }

  SourceT &source;
  ValueTimes values;
  std::vector<size_t> next;
  std::vector<int64_t> missing;
  std::vector<double> clocks;
  llvm::SmallVector<int64_t> ready;
};

/// When a rank issues a receive, as far as the order of messages allows.
enum class ReceiveTime {
  /// Right before the task that uses the value: the rank waits for it.
  Used,
  /// Before the task during which the value is made: the receive is posted, and
  /// the message arrives while the rank computes.
  Made
};

/// Orders all messages once, by the end of the tasks that make them in a dry
/// run, and has every rank issue its sends and receives in that order. No
/// transport can deadlock that: whatever a rank waits for is made earlier in
/// the dry run than what the rank makes next.
template <typename SourceT>
class MessagePlacer {
public:
  explicit MessagePlacer(SourceT &source, ReceiveTime receives)
      : source(source), run(source), makers(source.getValues()) {
    std::vector<LastTask> last(source.getRanks());
    if (receives == ReceiveTime::Made)
      ends.resize(source.getRanks());
    run.run([&](int64_t rank, size_t index, double start, double end) {
      if (!ends.empty()) {
        ends[rank].resize(index + 1);
        ends[rank][index] = end;
      }
      uint32_t depth = start < end ? 0 : getDepth(rank, index, end, last[rank]);
      last[rank] = {end, depth};
      source.forEachMake(rank, index, [&](int64_t value, bool) {
        makers[value] = rank;
        if (depth > 0)
          setDepth(value, depth);
      });
    });
  }

  /// Whether all ranks reach their ends; otherwise there is no order.
  bool isComplete() const { return run.isComplete(); }

  class Scratch;

  /// Calls \p addTask with the index of each task of \p rank, and \p addMessage
  /// with a value and whether it is sent, in order. Threads may place different
  /// ranks at once, each with a \p scratch of its own.
  template <typename TaskT, typename MessageT>
  void place(int64_t rank, Scratch &scratch, TaskT addTask,
             MessageT addMessage) const {
    llvm::ArrayRef<Message> messages = collect(rank, scratch);
    auto issueWhile = [&](auto isDue) {
      for (; !messages.empty() && isDue(messages.front());
           messages = messages.drop_front())
        addMessage(messages.front().value, messages.front().isSend);
    };
    auto issueUntil = [&](int64_t value, bool isRemote) {
      if (!isRemote)
        return;
      Message last = getMessage(value, /*isSend=*/false);
      issueWhile([&](const Message &message) { return !(last < message); });
    };
    for (size_t index = 0; index < source.getItems(rank); ++index) {
      if (!source.isTask(rank, index))
        continue;
      // What arrives while the task runs. Of what is made when it ends, nothing
      // may come before it: the other rank may wait for this one's.
      if (!ends.empty())
        issueWhile([end = ends[rank][index]](const Message &message) {
          return message.end < end;
        });
      source.forEachUse(rank, index, issueUntil);
      addTask(index);
      source.forEachMake(rank, index, issueUntil);
    }
  }

private:
  /// Tells values that are made at the same time apart: causes come before
  /// effects, and what does not depend on each other in the order of ranks. As
  /// nothing here counts tasks, a schedule that repeats has messages that do.
  struct Tie {
    /// The longest chain of tasks that led here in no time.
    uint32_t depth;
    uint32_t rank;
    bool operator<(const Tie &other) const {
      return depth != other.depth ? depth < other.depth : rank < other.rank;
    }
    bool operator!=(const Tie &other) const {
      return depth != other.depth || rank != other.rank;
    }
  };
  struct LastTask {
    double end = -1;
    uint32_t depth = 0;
  };

  uint32_t getDepth(int64_t value) const {
    return depths.empty() ? 0 : depths[value];
  }
  void setDepth(int64_t value, uint32_t depth) {
    if (depths.empty())
      depths.resize(source.getValues());
    depths[value] = depth;
  }

  /// The Tie::depth of a task that takes no time and ends at \p end.
  uint32_t getDepth(int64_t rank, size_t index, double end,
                    const LastTask &last) {
    uint32_t depth = last.end == end ? last.depth + 1 : 0;
    source.forEachUse(rank, index, [&](int64_t value, bool) {
      if (run.getEnd(value) == end)
        depth = std::max(depth, getDepth(value) + 1);
    });
    return depth;
  }

  /// A message of a rank, by its place in the order of all.
  struct Message {
    double end;
    Tie tie;
    uint64_t isSend : 1;
    uint64_t value : 63;
    bool operator<(const Message &other) const {
      if (end != other.end)
        return end < other.end;
      if (tie != other.tie)
        return tie < other.tie;
      return value < other.value;
    }
    bool operator==(const Message &other) const { return value == other.value; }
  };

  Message getMessage(int64_t value, bool isSend) const {
    return {run.getEnd(value),
            {getDepth(value), makers[value]},
            isSend,
            static_cast<uint64_t>(value)};
  }

  /// The messages of \p rank, in order. What comes from one rank, or goes to
  /// others, comes in order already: so there are few piles to merge.
  llvm::ArrayRef<Message> collect(int64_t rank, Scratch &scratch) const {
    scratch.clear();
    for (size_t index = 0; index < source.getItems(rank); ++index) {
      if (!source.isTask(rank, index))
        continue;
      source.forEachUse(rank, index, [&](int64_t value, bool isRemote) {
        if (isRemote)
          scratch.add(getMessage(value, /*isSend=*/false));
      });
      source.forEachMake(rank, index, [&](int64_t value, bool isRemote) {
        if (isRemote)
          scratch.add(getMessage(value, /*isSend=*/true));
      });
    }
    return scratch.merge();
  }

  SourceT &source;
  DryRun<SourceT> run;
  /// The ends of each rank's tasks, if receives are placed by them.
  std::vector<std::vector<double>> ends;
  /// Per value, the parts of its Tie. Where all tasks take time there are no
  /// depths but 0, and no list of them.
  std::vector<uint32_t> makers, depths;
};

/// Sorts the messages of one rank after the other in the same memory.
template <typename SourceT>
class MessagePlacer<SourceT>::Scratch {
public:
  void clear() {
    for (std::vector<Message> &pile : piles)
      pile.clear();
  }

  /// Puts \p message on the first pile that it continues.
  void add(const Message &message) {
    for (std::vector<Message> &pile : piles)
      if (pile.empty() || !(message < pile.back()))
        return pile.push_back(message);
    piles.emplace_back(1, message);
  }

  llvm::ArrayRef<Message> merge() {
    if (piles.empty())
      return {};
    std::vector<Message> *merged = &piles.front(), *longer = &spare;
    for (const std::vector<Message> &pile : llvm::drop_begin(piles)) {
      if (pile.empty())
        break;
      longer->resize(merged->size() + pile.size());
      std::merge(merged->begin(), merged->end(), pile.begin(), pile.end(),
                 longer->begin());
      std::swap(merged, longer);
    }
    // Several tasks may use what was received once.
    merged->erase(llvm::unique(*merged), merged->end());
    return *merged;
  }

private:
  llvm::SmallVector<std::vector<Message>, 4> piles;
  std::vector<Message> spare;
};

/// A receive right before the first task that uses a value of another rank, and
/// a send right after the task that makes it; calls as in MessagePlacer.
template <typename SourceT, typename TaskT, typename MessageT>
void placeNaively(SourceT &source, std::vector<bool> &isReceived, int64_t rank,
                  TaskT addTask, MessageT addMessage) {
  for (size_t index = 0; index < source.getItems(rank); ++index) {
    if (!source.isTask(rank, index))
      continue;
    source.forEachUse(rank, index, [&](int64_t value, bool isRemote) {
      if (!isRemote || isReceived[value])
        return;
      isReceived[value] = true;
      addMessage(value, /*isSend=*/false);
    });
    addTask(index);
    source.forEachMake(rank, index, [&](int64_t value, bool isRemote) {
      if (isRemote)
        addMessage(value, /*isSend=*/true);
    });
  }
}

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_SCHEDULE_DRYRUN_H
