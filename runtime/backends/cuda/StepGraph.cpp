//===- StepGraph.cpp - A step's work as one graph -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"

using namespace pprt::cuda;

StepGraph::~StepGraph() {
  if (executable)
    cudaGraphExecDestroy(executable);
  if (graph)
    cudaGraphDestroy(graph);
}

void StepGraph::begin(cudaStream_t stream) {
  if (executable) {
    state = State::Recorded;
    return;
  }
  // Other threads may do as they like.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
        "cannot record a step");
  state = State::Recording;
}

void StepGraph::finish(cudaStream_t stream) {
  if (state == State::Recording) {
    check(cudaStreamEndCapture(stream, &graph), "cannot record a step");
    check(cudaGraphInstantiate(&executable, graph, 0),
          "cannot make a graph of a step");
  }
  state = State::Closed;
  check(cudaGraphLaunch(executable, stream), "cannot launch a step");
}
