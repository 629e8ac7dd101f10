//===- HostCopies.h - What a step copies from and to the host ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs come over a stream of their own, long before they are needed: the host
// gives work faster than the device does it. The arena has no place for them so
// early, which is why they arrive beside it; the compute stream copies them
// from there, at the speed of the device. What the host wants to know is
// gathered beside the arena too, and comes to the host in one copy.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_HOSTCOPIES_H
#define PPRT_BACKENDS_CUDA_HOSTCOPIES_H

#include "Events.h"
#include "HostMemory.h"

#include <array>
#include <vector>

namespace pprt::cuda {

/// How much a step copies from the host.
struct StagedBytes {
  uint64_t sum = 0;
  uint64_t largest = 0; ///< of one buffer
  uint64_t count = 0;   ///< of copies
};

class HostCopies {
public:
  HostCopies(const ComputeStream &compute, Events &events)
      : compute(compute), events(events) {}
  ~HostCopies();
  HostCopies(const HostCopies &) = delete;
  HostCopies &operator=(const HostCopies &) = delete;

  /// Allocates memory for \p staged and for \p numbers of at most 8 bytes. On
  /// the device all of it has room if twice \p arrivalBytes are enough.
  void start(const StagedBytes &staged, uint64_t numbers,
             uint64_t arrivalBytes = uint64_t(32) << 20);

  /// Nothing is under way any more.
  void beginStep();

  /// Host memory for \p bytes, or null until `resetStage`.
  uint8_t *stage(uint64_t bytes);
  /// All that was staged has arrived.
  void resetStage();
  /// Copies what was last staged to \p data before what is given to the compute
  /// stream from here on.
  void commit(void *data, uint64_t bytes);

  /// Has a number that lies at \p data by now copied to \p host in the end.
  /// With \p isRecorded the device knows already. False if there are too many.
  bool readLater(void *host, const void *data, uint64_t bytes, bool isRecorded);
  /// Copies the numbers, on the compute stream, to memory of the host.
  void fetch();
  /// They have come: gives them to who wanted them.
  void finishReadings();

private:
  struct Reading {
    void *host;
    const uint8_t *pinned;
    uint64_t bytes;
  };
  static constexpr uint32_t noEvent = UINT32_MAX;

  uint8_t *takeArrival(uint64_t bytes);

  const ComputeStream &compute;
  Events &events;
  cudaStream_t stream = nullptr;

  HostMemory staging;
  uint8_t *staged = nullptr; ///< by the last `stage`
  /// Where it arrives, in two halves: one is filled while the other is read.
  uint8_t *arrivals = nullptr;
  uint64_t halfBytes = 0;
  uint64_t usedBytes = 0; ///< of the current half
  uint32_t half = 0;
  std::array<uint32_t, 2> lastReads = {noEvent, noEvent};
  bool isForked = false; ///< the stream has work of this step

  HostMemory numbers;
  uint8_t *gathered = nullptr; ///< on the device, as in `numbers`
  uint64_t numberBytes = 0;    ///< of both
  uint64_t readBytes = 0, fetchedBytes = 0;
  std::vector<Reading> readings;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_HOSTCOPIES_H
