//===- StepGraph.h - A step's work as one graph -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All steps give a device the same work up to the update: the same kernels on
// the same memory, the same messages in the same order. It is recorded once,
// and launched as a whole from then on, without the host's time for each
// kernel. All ranks do so in the same steps: NCCL wants both ends of a message
// in a graph or none.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_STEPGRAPH_H
#define PPRT_BACKENDS_CUDA_STEPGRAPH_H

#include "Stream.h"

namespace pprt::cuda {

class StepGraph {
public:
  StepGraph() = default;
  ~StepGraph();
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;

  /// Records what is put onto \p stream from here on, and onto others that wait
  /// for it; nothing runs. Once it has been recorded, only says so.
  void begin(cudaStream_t stream);
  /// Launches the recorded work on \p stream, which must have come to wait for
  /// the others.
  void finish(cudaStream_t stream);

  /// Is the work that the host gives being recorded?
  bool isRecording() const { return state == State::Recording; }
  /// Is it there already?
  bool isRecorded() const { return state == State::Recorded; }
  /// Between begin and finish.
  bool isOpen() const { return state != State::Closed; }

private:
  enum class State { Closed, Recording, Recorded };
  State state = State::Closed;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
};

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_STEPGRAPH_H
