//===- Machine.cpp - Streams, and what runs on them -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"
#include "Graphs.h"

#include <cstdio>

using namespace cudadouble;

Machine &Machine::get() {
  static Machine machine;
  return machine;
}

void Machine::reset(const Options &newOptions) {
  Lock hold = lock();
  options = newOptions;
  runner = nullptr;
  faults.clear();
  failedDevices.clear();
  libraries.clear();
  nccl.reset();
  isSteady = hasEnded = isDeadlocked = faultHappened = false;
  counters = {};
  graphs = 0;
  faultCalls = 0;
  memory = std::make_unique<Memory>(
      [this](std::string fault) { report(std::move(fault)); });
  random.seed(options.seed);
  actors = 0;
  counts.clear();
  ++generation;
  liveThreads = options.hostThreads;
  waiting.clear();
  pollers.clear();
  streams.clear();
  events.clear();
  pending.clear();
}

HostThread &Machine::getThread() {
  thread_local HostThread thread;
  thread_local uint64_t known = 0;
  if (known != generation) {
    known = generation;
    thread = HostThread();
    thread.actor = actors++;
  }
  return thread;
}

void Machine::endThread() {
  Lock hold = lock();
  --liveThreads;
  // Those that wait for it may now wait for ever.
  if (!waiting.empty() && isStuck())
    describePending();
  changed.notify_all();
}

void Machine::report(std::string fault) {
  if (std::find(faults.begin(), faults.end(), fault) != faults.end())
    return;
  if (options.runsProgram)
    fprintf(stderr, "double: fault: %s\n", fault.c_str());
  faults.push_back(std::move(fault));
}

void Machine::beginSteps() {
  isSteady |= options.runsProgram && !hasEnded && getThread().hasCopiedIn;
}

void Machine::endSteps() {
  if (!options.runsProgram)
    return;
  isSteady = false;
  hasEnded = true;
}

bool Machine::goesWrong(FaultKind kind, int device) {
  const SeededFault &fault = options.fault;
  if (!isSteady || fault.kind != kind || fault.device != device ||
      faultCalls++ != fault.number)
    return false;
  return faultHappened = true;
}

void Machine::refuseInStep(const char *what) {
  if (isSteady)
    report(std::string(what) + " is called in a step");
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

Stream *Machine::createStream(int device) {
  int number = 0;
  for (const std::unique_ptr<Stream> &stream : streams)
    number += stream->device == device;
  streams.push_back(
      std::make_unique<Stream>(Stream{device, number, actors++, nullptr}));
  return streams.back().get();
}

Stream *Machine::find(void *stream, const char *what) {
  for (const std::unique_ptr<Stream> &known : streams)
    if (known.get() == stream)
      return known.get();
  report(std::string(what) + (stream ? " is given a stream that is not there"
                                     : " uses the default stream"));
  return nullptr;
}

void Machine::destroyStream(Stream *stream) {
  eraseIf(streams, [=](const auto &known) { return known.get() == stream; });
}

Event *Machine::createEvent() {
  events.push_back(std::make_unique<Event>());
  return events.back().get();
}

void Machine::destroyEvent(Event *event) {
  eraseIf(events, [=](const auto &known) { return known.get() == event; });
}

void Machine::record(Event &event, Stream &stream) {
  // What the thread did before comes before the event, too.
  auto operation = std::make_shared<Operation>();
  operation->text = "event on " + stream.describe();
  enqueue(operation, {&stream});
  event = {true, operation};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Machine::enqueue(const OperationPtr &operation,
                      const std::vector<Stream *> &on) {
  if (Capture *capture = findCapture(on))
    return capture->add(operation, on);
  operation->actor = on.front()->actor;
  for (Stream *stream : on) {
    if (stream->last)
      operation->after.push_back(stream->last);
    stream->last = operation;
  }
  enqueueCopy(operation);
}

void Machine::enqueueCopy(const OperationPtr &operation) {
  operation->clock = getThread().clock;
  if (operation->onEnqueue)
    operation->onEnqueue(operation);
  pending.push_back(operation);
  ++progress;
  pump();
  changed.notify_all();
}

void Machine::access(const Operation &operation, const Access &access) {
  memory->access(access, {operation.moment, &operation.clock, operation.text});
}

void Machine::finish(Operation &operation) {
  operation.done = true;
  operation.after.clear();
  operation.time = ++progress;
}

/// One of the operations that can start, or null.
OperationPtr Machine::drawReady() {
  std::vector<OperationPtr> ready;
  for (const OperationPtr &operation : pending)
    if (!operation->started &&
        std::all_of(operation->after.begin(), operation->after.end(),
                    [](const OperationPtr &before) { return before->done; }))
      ready.push_back(operation);
  if (ready.empty())
    return nullptr;
  return ready[random() % ready.size()];
}

void Machine::begin(const OperationPtr &operation) {
  for (const OperationPtr &before : operation->after)
    operation->clock.join(before->clock);
  if (counts.size() <= operation->actor)
    counts.resize(operation->actor + 1);
  operation->moment = {operation->actor, ++counts[operation->actor]};
  operation->clock.set(operation->moment);
  operation->started = true;
  ++progress;
  if (operation->run) {
    Effects effects = operation->run();
    if (!effects.fault.empty())
      report(operation->text + ": " + effects.fault);
    for (const Access &used : effects.accesses)
      access(*operation, used);
  }
  if (!operation->start || operation->start(operation))
    finish(*operation);
}

void Machine::pump() {
  while (OperationPtr operation = drawReady())
    begin(operation);
  eraseIf(pending,
          [](const OperationPtr &operation) { return operation->done; });
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

bool Machine::isStuck() {
  pump();
  // One that may go on just has not woken up.
  for (const std::function<bool()> *isDone : waiting)
    if ((*isDone)())
      return false;
  // A thread that has asked once or twice may be about to do something.
  constexpr int mostTimes = 1000;
  int count = static_cast<int>(waiting.size());
  for (const auto &[actor, poller] : pollers)
    count += poller.progress == progress && poller.times > mostTimes;
  return count >= liveThreads;
}

void Machine::describePending() {
  if (isDeadlocked)
    return;
  isDeadlocked = true;
  std::string text = "deadlock: all threads wait, and nothing can run:";
  for (const OperationPtr &operation : pending)
    text += "\n  " + operation->text +
            (operation->started ? " has begun" : " waits");
  report(text);
}

bool Machine::wait(Lock &hold, const std::function<bool()> &isDone) {
  pump();
  auto self = waiting.insert(waiting.end(), &isDone);
  while (!isDone() && !isDeadlocked) {
    if (isStuck())
      describePending();
    else
      changed.wait(hold);
  }
  waiting.erase(self);
  changed.notify_all();
  return isDone();
}

bool Machine::poll() {
  pump();
  Poller &poller = pollers[getThread().actor];
  if (poller.progress != progress)
    poller = {progress, 0};
  ++poller.times;
  if (isStuck()) {
    describePending();
    changed.notify_all();
  }
  return !isDeadlocked;
}

void Machine::join(const OperationPtr &operation) {
  HostThread &thread = getThread();
  pollers.erase(thread.actor);
  if (operation)
    thread.clock.join(operation->clock);
}

void Machine::join(int device) {
  for (const std::unique_ptr<Stream> &stream : streams)
    if (stream->device == device)
      join(stream->last);
}

bool Machine::isDone(int device) const {
  return std::all_of(streams.begin(), streams.end(), [=](const auto &stream) {
    return stream->device != device || !stream->last || stream->last->done;
  });
}

std::vector<std::string> Machine::describeLeaks() const {
  std::vector<std::string> leaks = memory->describeLeaks();
  for (const std::unique_ptr<Stream> &stream : streams)
    leaks.push_back(stream->describe() + " is not destroyed");
  if (!events.empty())
    leaks.push_back(std::to_string(events.size()) +
                    " events are not destroyed");
  if (!libraries.empty())
    leaks.push_back(std::to_string(libraries.size()) +
                    " libraries of kernels are not unloaded");
  if (graphs != 0)
    leaks.push_back(std::to_string(graphs) + " graphs are not destroyed");
  if (nccl)
    for (std::string &leak : cudadouble::describeLeaks(*nccl))
      leaks.push_back(std::move(leak));
  return leaks;
}

//===----------------------------------------------------------------------===//
// What tests call
//===----------------------------------------------------------------------===//

void cudadouble::reset(const Options &options) {
  Machine::get().reset(options);
}

void cudadouble::setKernelRunner(KernelRunner runner) {
  Machine::Lock hold = Machine::get().lock();
  Machine::get().runner = std::move(runner);
}

void cudadouble::setKernelLimits(KernelLimits limits) {
  Machine::Lock hold = Machine::get().lock();
  Machine::get().limits = std::move(limits);
}

void cudadouble::endHostThread() { Machine::get().endThread(); }

void cudadouble::beginSteadyState() {
  Machine::Lock hold = Machine::get().lock();
  Machine::get().isSteady = true;
}

void cudadouble::endSteadyState() {
  Machine::Lock hold = Machine::get().lock();
  Machine::get().isSteady = false;
}

void cudadouble::failDevice(int device) {
  Machine::Lock hold = Machine::get().lock();
  Machine::get().failedDevices.insert(device);
  ++Machine::get().progress;
}

std::vector<std::string> cudadouble::getFaults() {
  Machine::Lock hold = Machine::get().lock();
  return Machine::get().faults;
}

std::vector<std::string> cudadouble::getLeaks() {
  Machine::Lock hold = Machine::get().lock();
  return Machine::get().describeLeaks();
}
