//===- GraphTests.cpp - Work that is recorded and launched as a whole -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Faults.h"

#include "CudaDouble/Double.h"

#include <cuda_runtime_api.h>

using namespace cudadouble;

static constexpr size_t bytes = 64;
static constexpr uint64_t seeds = 30;

namespace {
/// Two streams, of which the first is recorded, and memory.
struct Recorder {
  cudaStream_t origin, other;
  cudaEvent_t event;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  unsigned char *memory, *host;

  explicit Recorder(uint64_t seed) {
    reset({/*hostThreads=*/1, /*devices=*/1, seed});
    for (cudaStream_t *stream : {&origin, &other})
      cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaMalloc(reinterpret_cast<void **>(&memory), bytes);
    cudaMallocHost(reinterpret_cast<void **>(&host), bytes);
  }

  ~Recorder() {
    cudaStreamSynchronize(origin);
    if (executable)
      cudaGraphExecDestroy(executable);
    if (graph)
      cudaGraphDestroy(graph);
    cudaFree(memory);
    cudaFreeHost(host);
    cudaEventDestroy(event);
    cudaStreamDestroy(origin);
    cudaStreamDestroy(other);
  }

  void begin() {
    EXPECT_EQ(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal),
              cudaSuccess);
  }
  cudaError_t end() { return cudaStreamEndCapture(origin, &graph); }
  void order(cudaStream_t earlier, cudaStream_t later) {
    cudaEventRecord(event, earlier);
    cudaStreamWaitEvent(later, event, 0);
  }
  void launch() {
    if (!executable) {
      EXPECT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
    }
    EXPECT_EQ(cudaGraphLaunch(executable, origin), cudaSuccess);
  }
  /// Writes on one stream and reads on the other, which has waited if \p
  /// orders.
  void record(bool orders) {
    begin();
    order(origin, other);
    cudaMemsetAsync(memory, 7, bytes, origin);
    if (orders)
      order(origin, other);
    cudaMemcpyAsync(host, memory, bytes, cudaMemcpyDeviceToHost, other);
    order(other, origin);
    EXPECT_EQ(end(), cudaSuccess);
  }
};
} // namespace

TEST(Graphs, RunAtEachLaunchAndNotBefore) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    {
      Recorder recorder(seed);
      recorder.host[0] = 1;
      recorder.record(/*orders=*/true);
      EXPECT_EQ(recorder.host[0], 1);
      for (int i = 0; i < 2; ++i) {
        recorder.host[0] = 1;
        recorder.launch();
        EXPECT_EQ(cudaStreamSynchronize(recorder.origin), cudaSuccess);
        EXPECT_EQ(recorder.host[0], 7);
      }
    }
    EXPECT_EQ(getFaults(), Faults());
    EXPECT_EQ(getLeaks(), Faults());
  }
}

TEST(Graphs, HaveTheirRacesFound) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Recorder recorder(seed);
    recorder.record(/*orders=*/false);
    recorder.launch();
    EXPECT_TRUE(has(getFaults(), "without an order between them"));
  }
}

// What is on the stream already comes before a launch, and what follows after.
TEST(Graphs, AreInTheOrderOfTheirStream) {
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    Recorder recorder(seed);
    recorder.record(/*orders=*/true);
    cudaMemsetAsync(recorder.memory, 1, bytes, recorder.origin);
    recorder.launch();
    cudaMemsetAsync(recorder.memory, 2, bytes, recorder.origin);
    EXPECT_EQ(cudaStreamSynchronize(recorder.origin), cudaSuccess);
    EXPECT_EQ(recorder.host[0], 7);
    EXPECT_EQ(getFaults(), Faults());
  }
}

TEST(Graphs, ComeBackToTheStreamThatIsRecorded) {
  Recorder recorder(0);
  recorder.begin();
  recorder.order(recorder.origin, recorder.other);
  cudaMemsetAsync(recorder.memory, 7, bytes, recorder.other);
  EXPECT_EQ(recorder.end(), cudaErrorStreamCaptureUnjoined);
  EXPECT_TRUE(has(getFaults(), "does not wait for stream 1"));
}

TEST(Graphs, WaitForNothingOutside) {
  Recorder recorder(0);
  cudaEventRecord(recorder.event, recorder.other);
  recorder.begin();
  EXPECT_EQ(cudaStreamWaitEvent(recorder.origin, recorder.event, 0),
            cudaErrorStreamCaptureIsolation);
  recorder.end();
  EXPECT_TRUE(has(getFaults(), "waits for an event of another capture"));
}

TEST(Graphs, AreNotWaitedForByEventsInside) {
  Recorder recorder(0);
  recorder.begin();
  cudaEventRecord(recorder.event, recorder.origin);
  EXPECT_EQ(cudaEventQuery(recorder.event), cudaErrorCapturedEvent);
  recorder.end();
  EXPECT_TRUE(has(getFaults(), "is asked whether it is over"));
  EXPECT_NE(cudaStreamWaitEvent(recorder.other, recorder.event, 0),
            cudaSuccess);
}
