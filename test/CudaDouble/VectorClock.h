//===- VectorClock.h - What happened before what ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mattern, Virtual Time and Global States of Distributed Systems, 1989. An
// actor is a stream or a host thread; its moments are counted from 1. A moment
// happened before all whose clocks count it, whatever ran first by chance.
//
//===----------------------------------------------------------------------===//

#ifndef CUDADOUBLE_VECTORCLOCK_H
#define CUDADOUBLE_VECTORCLOCK_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cudadouble {

/// One moment of an actor.
struct Moment {
  size_t actor = 0;
  uint64_t count = 0;
};

class VectorClock {
public:
  uint64_t get(size_t actor) const {
    return actor < counts.size() ? counts[actor] : 0;
  }
  bool includes(const Moment &moment) const {
    return get(moment.actor) >= moment.count;
  }
  void join(const VectorClock &other) {
    if (counts.size() < other.counts.size())
      counts.resize(other.counts.size());
    for (size_t i = 0; i < other.counts.size(); ++i)
      counts[i] = std::max(counts[i], other.counts[i]);
  }
  void set(const Moment &moment) {
    if (counts.size() <= moment.actor)
      counts.resize(moment.actor + 1);
    counts[moment.actor] = moment.count;
  }

private:
  std::vector<uint64_t> counts;
};

} // namespace cudadouble

#endif // CUDADOUBLE_VECTORCLOCK_H
