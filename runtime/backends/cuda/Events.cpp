//===- Events.cpp - What streams wait for ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Events.h"

using namespace pprt::cuda;

Events::~Events() {
  for (cudaEvent_t event : events)
    cudaEventDestroy(event);
}

void Events::reserve(size_t count) {
  while (events.size() < count) {
    events.emplace_back();
    check(cudaEventCreateWithFlags(&events.back(),
                                   timed ? cudaEventDefault
                                         : cudaEventDisableTiming),
          "cannot create an event");
  }
}

uint32_t Events::record(cudaStream_t stream) {
  reserve(used + 1);
  check(cudaEventRecord(events[used], stream), "cannot record an event");
  return used++;
}

void Events::wait(cudaStream_t stream, uint32_t event) const {
  check(cudaStreamWaitEvent(stream, events[event], 0),
        "cannot wait for an event");
}

bool Events::isOver(uint32_t event) const {
  cudaError_t state = cudaEventQuery(events[event]);
  if (state == cudaErrorNotReady)
    return false;
  check(state, "the device failed");
  return true;
}
