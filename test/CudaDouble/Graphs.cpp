//===- Graphs.cpp - Work that is recorded and launched as a whole ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is put onto a stream that is captured is kept instead of run, and so is
// what is put onto others that wait for it. A launch runs a copy of all of it,
// in any order that the waits among it allow.
//
//===----------------------------------------------------------------------===//

#include "Graphs.h"

#include <cuda_runtime_api.h>

using namespace cudadouble;

static Machine &machine() { return Machine::get(); }

Capture *cudadouble::findCapture(const std::vector<Stream *> &streams) {
  for (Stream *stream : streams)
    if (stream->capture)
      return stream->capture.get();
  return nullptr;
}

void Capture::add(const OperationPtr &operation,
                  const std::vector<Stream *> &on) {
  operation->capture = shared_from_this();
  for (Stream *stream : on) {
    if (!stream->capture)
      join(*stream);
    else if (stream->capture.get() != this)
      machine().report(stream->describe() + " is in another capture than " +
                       operation->text);
    if (stream->lastCaptured)
      operation->after.push_back(stream->lastCaptured);
    stream->lastCaptured = operation;
  }
  operation->actor = actors[on.front()];
  operations.push_back(operation);
}

void Capture::join(Stream &stream) {
  stream.capture = shared_from_this();
  stream.lastCaptured = nullptr;
  actors[&stream] = machine().createActor();
  streams.push_back(&stream);
}

/// Whether \p first is among what \p last comes after, or is it.
static bool comesAfter(const OperationPtr &last, const OperationPtr &first) {
  std::set<const Operation *> seen;
  std::vector<OperationPtr> pending = {last};
  while (!pending.empty()) {
    OperationPtr next = pending.back();
    pending.pop_back();
    if (next == first)
      return true;
    if (next && seen.insert(next.get()).second)
      pending.insert(pending.end(), next->after.begin(), next->after.end());
  }
  return false;
}

bool Capture::end(Stream &origin) {
  bool joined = true;
  for (Stream *stream : streams) {
    if (stream->lastCaptured &&
        !comesAfter(origin.lastCaptured, stream->lastCaptured)) {
      machine().report("a capture ends, and " + origin.describe() +
                       " does not wait for " + stream->describe());
      joined = false;
    }
  }
  for (Stream *stream : streams) {
    stream->capture.reset();
    stream->lastCaptured.reset();
  }
  isOver = true;
  return joined;
}

void Capture::launch(Stream &stream) const {
  // In the order of the capture: each comes after what was before it.
  std::map<const Operation *, OperationPtr> copies;
  OperationPtr before = stream.last;
  auto all = std::make_shared<Operation>();
  all->text = "graph on " + stream.describe();
  for (const OperationPtr &original : operations) {
    auto copy = std::make_shared<Operation>();
    copy->text = original->text + " (graph)";
    copy->actor = original->actor;
    copy->run = original->run;
    copy->start = original->start;
    copy->onEnqueue = original->onEnqueue;
    for (const OperationPtr &earlier : original->after)
      copy->after.push_back(copies.at(earlier.get()));
    if (copy->after.empty() && before)
      copy->after.push_back(before);
    copies[original.get()] = copy;
    all->after.push_back(copy);
    machine().enqueueCopy(copy);
  }
  machine().enqueue(all, {&stream});
}

//===----------------------------------------------------------------------===//
// The functions of the CUDA runtime
//===----------------------------------------------------------------------===//

static std::shared_ptr<Capture> *get(void *graph) {
  return static_cast<std::shared_ptr<Capture> *>(graph);
}

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  Machine::Lock hold = machine().lock();
  Stream *on = machine().find(stream, "cudaStreamBeginCapture");
  if (!on || on->capture)
    return cudaErrorIllegalState;
  std::make_shared<Capture>()->join(*on);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  Machine::Lock hold = machine().lock();
  Stream *on = machine().find(stream, "cudaStreamEndCapture");
  if (!on || !on->capture)
    return cudaErrorIllegalState;
  std::shared_ptr<Capture> capture = on->capture;
  if (!capture->end(*on))
    return cudaErrorStreamCaptureUnjoined;
  *graph = reinterpret_cast<cudaGraph_t>(new std::shared_ptr<Capture>(capture));
  ++machine().graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *made, cudaGraph_t graph,
                                 unsigned long long) {
  Machine::Lock hold = machine().lock();
  *made = reinterpret_cast<cudaGraphExec_t>(
      new std::shared_ptr<Capture>(*get(graph)));
  ++machine().graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  Machine::Lock hold = machine().lock();
  Stream *on = machine().find(stream, "cudaGraphLaunch");
  if (!on)
    return cudaErrorInvalidResourceHandle;
  ++machine().counters.graphLaunches;
  (*get(graph))->launch(*on);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  Machine::Lock hold = machine().lock();
  delete get(graph);
  --machine().graphs;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  Machine::Lock hold = machine().lock();
  delete get(graph);
  --machine().graphs;
  return cudaSuccess;
}

} // extern "C"
