//===- Events.h - What streams wait for -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_EVENTS_H
#define PPRT_BACKENDS_CUDA_EVENTS_H

#include "Stream.h"

#include <vector>

namespace pprt::cuda {

/// Events by number, each recorded once in a step.
class Events {
public:
  /// \p timed: they know when they happened.
  explicit Events(bool timed) : timed(timed) {}
  ~Events();
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;

  /// Makes as many as a step is expected to need; others are made in it.
  void reserve(size_t count);
  /// Records one on \p stream and returns its number.
  uint32_t record(cudaStream_t stream);
  cudaEvent_t get(uint32_t event) const { return events[event]; }
  /// Has what comes later on \p stream wait for it.
  void wait(cudaStream_t stream, uint32_t event) const;
  bool isOver(uint32_t event) const;
  /// How many have been recorded.
  uint32_t getCount() const { return used; }
  /// All may be recorded again.
  void reset() { used = 0; }

private:
  bool timed;
  std::vector<cudaEvent_t> events;
  size_t used = 0;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_EVENTS_H
