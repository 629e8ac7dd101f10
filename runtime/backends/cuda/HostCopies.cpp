//===- HostCopies.cpp - What a step copies from and to the host -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostCopies.h"

#include <algorithm>
#include <cstring>

using namespace pprt::cuda;

HostCopies::~HostCopies() {
  if (stream)
    cudaStreamDestroy(stream);
  for (uint8_t *memory : {arrivals, gathered})
    if (memory)
      cudaFree(memory);
}

void HostCopies::start(const StagedBytes &bytes, uint64_t count,
                       uint64_t arrivalBytes) {
  staging.allocate(std::max<uint64_t>(bytes.sum, HostMemory::align(1)));
  numberBytes = count * sizeof(double);
  numbers.allocate(numberBytes);
  check(cudaMalloc(reinterpret_cast<void **>(&gathered), numberBytes),
        "cannot allocate what the host reads");
  if (bytes.sum == 0)
    return;
  halfBytes = std::max(std::min(bytes.sum, arrivalBytes), bytes.largest);
  check(cudaMalloc(reinterpret_cast<void **>(&arrivals), 2 * halfBytes),
        "cannot allocate what the host writes");
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
        "cannot create a stream");
}

void HostCopies::beginStep() {
  resetStage();
  isForked = false;
}

uint8_t *HostCopies::stage(uint64_t bytes) {
  return staged = staging.take(bytes);
}

void HostCopies::resetStage() {
  staging.reset();
  usedBytes = 0;
  half = 0;
  lastReads = {noEvent, noEvent};
}

/// Memory that nothing reads any more once the stream comes to what follows.
uint8_t *HostCopies::takeArrival(uint64_t bytes) {
  bytes = HostMemory::align(bytes);
  if (bytes > halfBytes - usedBytes) {
    lastReads[half] = events.record(compute.stream);
    half = 1 - half;
    usedBytes = 0;
    if (lastReads[half] != noEvent)
      events.wait(stream, lastReads[half]);
  }
  uint8_t *taken = arrivals + half * halfBytes + usedBytes;
  usedBytes += bytes;
  return taken;
}

void HostCopies::commit(void *data, uint64_t bytes) {
  // A step that is recorded has what it forks.
  if (!isForked)
    events.wait(stream, events.record(compute.stream));
  isForked = true;
  uint8_t *arrival = takeArrival(bytes);
  check(cudaMemcpyAsync(arrival, staged, bytes, cudaMemcpyHostToDevice, stream),
        "cannot write to the device");
  events.wait(compute.stream, events.record(stream));
  check(cudaMemcpyAsync(data, arrival, bytes, cudaMemcpyDeviceToDevice,
                        compute.stream),
        "cannot write to the device");
}

bool HostCopies::readLater(void *host, const void *data, uint64_t bytes,
                           bool isRecorded) {
  if (bytes > numberBytes - readBytes)
    return false;
  // One after the other without a gap: they are copied as a whole.
  readings.push_back({host, numbers.get() + readBytes, bytes});
  if (isRecorded)
    fetchedBytes += bytes;
  else
    check(cudaMemcpyAsync(gathered + readBytes, data, bytes,
                          cudaMemcpyDeviceToDevice, compute.stream),
          "cannot read from the device");
  readBytes += bytes;
  return true;
}

void HostCopies::fetch() {
  if (readBytes == fetchedBytes)
    return;
  check(cudaMemcpyAsync(numbers.get() + fetchedBytes, gathered + fetchedBytes,
                        readBytes - fetchedBytes, cudaMemcpyDeviceToHost,
                        compute.stream),
        "cannot read from the device");
  fetchedBytes = readBytes;
}

void HostCopies::finishReadings() {
  for (const Reading &reading : readings)
    memcpy(reading.host, reading.pinned, reading.bytes);
  readings.clear();
  readBytes = fetchedBytes = 0;
}
