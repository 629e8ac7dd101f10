//===- CudaDevice.cpp - Tasks on a GPU ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks, and all else that touches the arena, are on one stream in the order of
// the program; the messages of each lane are on another, and inputs come over
// one more. A message is after what was given to the device before it, and
// before what waits for it; a task is after its inputs: these are the only
// events. The host waits once before the update, for the losses,
// and once at the end of the step.
//
//===----------------------------------------------------------------------===//

#include "CudnnHandle.h"
#include "Events.h"
#include "HostCopies.h"
#include "Messages.h"
#include "StepGraph.h"
#include "StepNeeds.h"
#include "Updates.h"
#include "core/Options.h"
#include "launch/Pause.h"

#include <cstdlib>
#include <cstring>
#include <nccl.h>

using namespace pprt;
using namespace pprt::cuda;

/// What cuBLASLt is recommended to have on current devices.
static constexpr uint64_t productBytes = uint64_t(32) << 20;
/// Of a part of what is loaded before the first step.
static constexpr uint64_t loadBytes = uint64_t(16) << 20;

namespace {
class CudaDevice : public Device {
public:
  explicit CudaDevice(const DeviceSetup &setup);
  ~CudaDevice() override;

  Status start() override;
  Status connect() override { return transfers->connect(); }

  Status load(void *data, uint64_t bytes, const Producer &produce) override;
  const uint8_t *view(const void *data, uint64_t bytes) override;

  void beginStep() override;
  void zero(void *data, uint64_t bytes) override;
  uint8_t *stage(void *data, uint64_t bytes) override;
  void commitStage(void *data, uint64_t bytes) override;
  void readLater(void *host, const void *data, uint64_t bytes) override;

  void run(uint32_t task, uint32_t microbatch, void *const *pointers) override;
  StartedMessage startSend(const DeviceMessage &message) override;
  StartedMessage startRecv(const DeviceMessage &message) override;
  std::vector<StartedMessage>
  startExchange(const BlockExchange &exchange) override;
  void wait(const StartedMessage &started) override;
  bool waitBefore(const StartedMessage &started, Activity next,
                  uint32_t index) override;
  void synchronize() override;

  std::optional<StartedMessage> startAllReduce(const std::vector<Reals> &sums,
                                               Sharing sharing) override;
  void add(const Reals &target, const void *addend) override {
    cuda::add(target, addend);
  }
  void sumSquares(const std::vector<Reals> &values, double *sums) override;
  void update(const UpdateRule &rule,
              const std::vector<ParameterUpdate> &parameters) override {
    cuda::update(rule, parameters, updateMemory);
  }

private:
  /// An action whose end is seen by an event.
  struct Action {
    Activity activity;
    uint32_t index, microbatch;
    uint32_t begin, end; ///< events; `begin` is of use only when tracing
  };

  Status checkOptions() const;
  Status chooseDevice();
  Status allocateArena();
  void allocateRest();
  void prepareTasks();
  /// Has \p put give something to a lane's stream, after what the device has.
  template <typename PutT>
  StartedMessage startMessage(const DeviceMessage &message, PutT put);
  /// Blocks until the compute stream has come here. Messages may still be on
  /// their way: what their peers wait for may be yet to come.
  void drain();
  /// Has the work of the step up to here done as a graph.
  void finishGraph();
  /// Whether the message is part of a graph, which waits for it by itself.
  bool isInGraph(uint32_t request) const {
    return request == recordedRequest || request < graphEvents;
  }
  void waitFor(uint32_t last, bool forActions);
  void addToTrace();

  const PprtDescriptor &descriptor;
  const RankOptions &options;
  Progress &progress;
  Trace &trace;
  ComputeStream &compute; ///< this thread's
  std::array<cudaStream_t, laneCount> streams = {};
  Events events;
  std::unique_ptr<Messages> transfers;
  HostCopies copies;
  HostMemory loading, updateStaging;
  UpdateMemory updateMemory;
  std::vector<uint8_t> viewed;

  std::vector<Action> actions; ///< of this step, without those it waited for
  int64_t stepBegin = 0;       ///< of the clock, when event 0 was recorded

  StepGraph graph;
  int64_t steps = 0; ///< that have begun
  static constexpr uint32_t recordedRequest = UINT32_MAX;
  uint32_t graphEvents = 0; ///< events of this step that a graph has recorded
};
} // namespace

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

CudaDevice::CudaDevice(const DeviceSetup &setup)
    : descriptor(setup.descriptor), options(setup.options),
      progress(setup.progress), trace(setup.trace), compute(getComputeStream()),
      events(/*timed=*/!setup.options.traceFile.empty()),
      transfers(setup.options.transport == TransportKind::Local
                    ? createLocalMessages(setup)
                    : createNcclMessages(setup)),
      copies(compute, events) {
  compute = ComputeStream();
  compute.rank = setup.transport.getRank();
}

/// The number of rank \p rank among those of its machine, as launchers tell it.
static uint32_t getLocalRank(uint32_t rank) {
  for (const char *variable : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                               "PMI_LOCAL_RANK", "SLURM_LOCALID", "LOCAL_RANK"})
    if (const char *value = getenv(variable))
      return atoi(value);
  return rank;
}

Status CudaDevice::checkOptions() const {
  if (!getWantedEpilogues())
    return Status::error(ExitCode::Usage,
                         std::string("PIPEWRIGHT_EPILOGUES is '") +
                             getenv("PIPEWRIGHT_EPILOGUES") +
                             "'; it can be 'measure', 'library' or 'kernels'");
  if (!options.cudaGraph)
    return Status();
  const char *other = nullptr;
  if (options.transport == TransportKind::Local)
    other = "--transport local";
  else if (!options.traceFile.empty())
    other = "--trace";
  else if (!options.saveOutputs.empty())
    other = "--save-outputs";
  if (!other)
    return Status();
  return Status::error(ExitCode::Usage,
                       std::string("option '--cuda-graph' cannot be with '") +
                           other +
                           "': the host does not see what happens in a "
                           "graph");
}

Status CudaDevice::chooseDevice() {
  const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
  if (blocking && !strcmp(blocking, "1") &&
      descriptor.ranks * descriptor.dataParallel > 1)
    return Status::dataError("CUDA_LAUNCH_BLOCKING=1 has each launch wait, and "
                             "ranks would wait for each other for ever");
  int count = 0;
  if (cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess)
    return Status::dataError(std::string("cannot find a CUDA device: ") +
                             cudaGetErrorString(error));
  if (count == 0)
    return Status::dataError("this machine has no CUDA device");
  bool isShared = options.transport == TransportKind::Local;
  bool isThread = options.transport == TransportKind::Threads;
  uint32_t place = isThread ? compute.rank : getLocalRank(compute.rank);
  int device = isShared ? 0 : static_cast<int>(place % count);
  check(cudaSetDevice(device), "cannot use a device");
  int major = 0, minor = 0;
  check(
      cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
      "cannot ask a device for its kind");
  check(
      cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
      "cannot ask a device for its kind");
  compute.chip = 10 * major + minor;
  return Status();
}

static Status failToAllocate(uint64_t bytes, const char *why) {
  return Status::dataError("cannot allocate an arena of " +
                           std::to_string(bytes) + " bytes: " + why);
}

/// What is sent and received lies in memory that networks reach by themselves.
Status CudaDevice::allocateArena() {
  messagesBegin = descriptor.arenaBytes - descriptor.messageBytes;
  if (messagesBegin > 0)
    if (cudaError_t error =
            cudaMalloc(reinterpret_cast<void **>(&arena), messagesBegin);
        error != cudaSuccess)
      return failToAllocate(messagesBegin, cudaGetErrorString(error));
  if (descriptor.messageBytes > 0)
    if (ncclResult_t error = ncclMemAlloc(reinterpret_cast<void **>(&messages),
                                          descriptor.messageBytes);
        error != ncclSuccess)
      return failToAllocate(descriptor.messageBytes, ncclGetErrorString(error));
  for (auto [memory, bytes] : {std::pair(arena, messagesBegin),
                               std::pair(messages, descriptor.messageBytes)})
    if (bytes > 0)
      zero(memory, bytes);
  return Status();
}

void CudaDevice::allocateRest() {
  compute.workspaceBytes = productBytes;
  check(cudaMalloc(&compute.workspace, productBytes),
        "cannot allocate what products need");
  copies.start(getStagedBytes(descriptor),
               /*numbers=*/2 * descriptor.microbatches);
  loading.allocate(loadBytes);
  updateMemory.bytes = getUpdateBytes(descriptor.parameterCount);
  updateStaging.allocate(updateMemory.bytes);
  updateMemory.host = updateStaging.get();
  check(cudaMalloc(reinterpret_cast<void **>(&updateMemory.device),
                   updateMemory.bytes),
        "cannot allocate what updates need");
  events.reserve(countEvents(descriptor));
}

namespace {
/// Set before `main`, while there is one thread: others read the environment at
/// any time. What is loaded at its first use waits for the device, which may
/// wait for a peer; streams that share a queue do too.
const struct Environment {
  Environment() {
    setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  }
} environment;
} // namespace

Status CudaDevice::start() {
  if (Status status = checkOptions(); status.failed())
    return status;
  if (Status status = chooseDevice(); status.failed())
    return status;
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest),
        "cannot ask for the priorities of streams");
  check(cudaStreamCreateWithPriority(&compute.stream, cudaStreamNonBlocking,
                                     least),
        "cannot create a stream");
  // A message that can go goes: what it waits for is on another device.
  std::array<bool, laneCount> used = findLanes(descriptor);
  for (uint32_t lane = 0; lane < laneCount; ++lane)
    if (used[lane])
      check(cudaStreamCreateWithPriority(&streams[lane], cudaStreamNonBlocking,
                                         greatest),
            "cannot create a stream");
  check(cublasLtCreate(&compute.library), "cannot start cuBLASLt");
  if (Status status = allocateArena(); status.failed())
    return status;
  allocateRest();
  prepareTasks();
  return Status();
}

void CudaDevice::prepareTasks() {
  prepareUpdates();
  compute.preparing = true;
  std::vector<void *> pointers;
  for (uint32_t i = 0; i < descriptor.taskCount; ++i) {
    const PprtTask &task = descriptor.tasks[i];
    pointers.clear();
    for (uint32_t j = 0; j < task.bindingCount; ++j) {
      const PprtBinding &binding = task.bindings[j];
      uint64_t offset = binding.offset;
      if (binding.kind == PPRT_BIND_PARAMETER)
        offset = descriptor.parameters[binding.index].offset;
      if (binding.kind == PPRT_BIND_BUFFER)
        offset = descriptor.buffers[binding.index].offsets[0];
      pointers.push_back(at(offset));
    }
    task.function(pointers.data());
  }
  compute.preparing = false;
  check(cudaStreamSynchronize(compute.stream), "the device failed");
}

CudaDevice::~CudaDevice() {
  transfers.reset();
  for (cudaStream_t stream : streams)
    if (stream)
      cudaStreamDestroy(stream);
  for (void *memory : {static_cast<void *>(arena), compute.workspace,
                       static_cast<void *>(updateMemory.device)})
    if (memory)
      cudaFree(memory);
  if (messages)
    ncclMemFree(messages);
  closeCudnn();
  if (compute.library)
    cublasLtDestroy(compute.library);
  if (compute.stream)
    cudaStreamDestroy(compute.stream);
  release();
  compute = ComputeStream();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Status CudaDevice::load(void *data, uint64_t bytes, const Producer &produce) {
  for (uint64_t done = 0; done < bytes; done += loadBytes) {
    uint64_t part = std::min(loadBytes, bytes - done);
    if (Status status = produce(loading.get(), done, part); status.failed())
      return status;
    check(cudaMemcpyAsync(static_cast<uint8_t *>(data) + done, loading.get(),
                          part, cudaMemcpyHostToDevice, compute.stream),
          "cannot write to the device");
    check(cudaStreamSynchronize(compute.stream), "the device failed");
  }
  return Status();
}

const uint8_t *CudaDevice::view(const void *data, uint64_t bytes) {
  viewed.resize(bytes);
  for (uint64_t done = 0; done < bytes; done += loadBytes) {
    uint64_t part = std::min(loadBytes, bytes - done);
    check(cudaMemcpyAsync(loading.get(),
                          static_cast<const uint8_t *>(data) + done, part,
                          cudaMemcpyDeviceToHost, compute.stream),
          "cannot read from the device");
    drain();
    memcpy(viewed.data() + done, loading.get(), part);
  }
  return viewed.data();
}

void CudaDevice::zero(void *data, uint64_t bytes) {
  if (graph.isRecorded())
    return;
  check(cudaMemsetAsync(data, 0, bytes, compute.stream),
        "cannot clear device memory");
}

uint8_t *CudaDevice::stage(void *, uint64_t bytes) {
  if (uint8_t *staged = copies.stage(bytes))
    return staged;
  if (graph.isOpen())
    fail(ExitCode::Data, "a step needs more from the host than can be recorded "
                         "at once; run without '--cuda-graph'");
  drain();
  copies.resetStage();
  return copies.stage(bytes);
}

void CudaDevice::commitStage(void *data, uint64_t bytes) {
  // The graph copies from where the bytes were when it was recorded: steps take
  // staging memory in the same order.
  if (!graph.isRecorded())
    copies.commit(data, bytes);
}

void CudaDevice::readLater(void *host, const void *data, uint64_t bytes) {
  if (copies.readLater(host, data, bytes, graph.isRecorded()))
    return;
  drain();
  copies.readLater(host, data, bytes, graph.isRecorded());
}

void CudaDevice::sumSquares(const std::vector<Reals> &values, double *sums) {
  if (values.empty())
    return;
  cuda::sumSquares(values, updateMemory);
  uint64_t bytes = values.size() * sizeof(double);
  memcpy(sums, view(updateMemory.device, bytes), bytes);
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

void CudaDevice::beginStep() {
  // All of the last step is done.
  events.reset();
  copies.beginStep();
  stepBegin = getMonotonicTime();
  if (trace.isEnabled())
    events.record(compute.stream);
  graphEvents = 0;
  // Some of what the first step does is only done once.
  if (options.cudaGraph && ++steps > 1)
    graph.begin(compute.stream);
}

void CudaDevice::finishGraph() {
  if (!graph.isOpen())
    return;
  if (graph.isRecording()) {
    for (const Action &action : actions)
      events.wait(compute.stream, action.end);
    actions.clear();
    copies.fetch();
    graphEvents = events.getCount();
  }
  graph.finish(compute.stream);
}

void CudaDevice::run(uint32_t task, uint32_t microbatch,
                     void *const *pointers) {
  if (graph.isRecorded())
    return;
  bool timed = trace.isEnabled();
  uint32_t begin = timed ? events.record(compute.stream) : 0;
  descriptor.tasks[task].function(pointers);
  if (timed)
    actions.push_back({Activity::Run, task, microbatch, begin,
                       events.record(compute.stream)});
}

template <typename PutT>
StartedMessage CudaDevice::startMessage(const DeviceMessage &message,
                                        PutT put) {
  if (graph.isRecorded())
    return {message, recordedRequest};
  Lane lane = getLane(descriptor, message);
  cudaStream_t stream = streams[lane];
  uint32_t ready = events.record(compute.stream);
  events.wait(stream, ready);
  uint32_t begin = trace.isEnabled() ? events.record(stream) : ready;
  put(lane, stream);
  uint32_t end = events.record(stream);
  bool isTied = message.channel == DeviceMessage::noChannel;
  actions.push_back({message.activity, isTied ? 0 : message.channel,
                     message.microbatch, begin, end});
  return {message, end};
}

StartedMessage CudaDevice::startSend(const DeviceMessage &message) {
  return startMessage(message, [&](Lane lane, cudaStream_t stream) {
    transfers->send(message, lane, stream);
  });
}

StartedMessage CudaDevice::startRecv(const DeviceMessage &message) {
  return startMessage(message, [&](Lane lane, cudaStream_t stream) {
    transfers->receive(message, lane, stream);
  });
}

/// What is sent leaves and what is received arrives at one time.
std::vector<StartedMessage>
CudaDevice::startExchange(const BlockExchange &exchange) {
  DeviceMessage message = {Activity::RecvRows,
                           exchange.index,
                           exchange.microbatch,
                           exchange.peers[exchange.place],
                           exchange.tag,
                           exchange.received,
                           exchange.peers.size() * exchange.blockBytes};
  StartedMessage received =
      startMessage(message, [&](Lane, cudaStream_t stream) {
        transfers->exchange(exchange, stream);
      });
  StartedMessage sent = received;
  sent.message.activity = Activity::SendRows;
  sent.message.data = exchange.sent;
  return {sent, received};
}

std::optional<StartedMessage>
CudaDevice::startAllReduce(const std::vector<Reals> &sums, Sharing sharing) {
  if (!transfers->addsUp())
    return std::nullopt;
  DeviceMessage sum = {};
  sum.activity = sharing == Sharing::All ? Activity::ReplicaGradient
                                         : Activity::ShardGradient;
  sum.channel = DeviceMessage::noChannel;
  return startMessage(sum, [&](Lane lane, cudaStream_t stream) {
    transfers->allReduce(sums, lane, stream);
  });
}

void CudaDevice::wait(const StartedMessage &started) {
  if (isInGraph(started.request))
    return;
  events.wait(compute.stream, started.request);
}

bool CudaDevice::waitBefore(const StartedMessage &started, Activity next,
                            uint32_t index) {
  if (isInGraph(started.request))
    return true;
  DeviceMessage message = {};
  message.activity = next;
  message.channel = index;
  events.wait(streams[getLane(descriptor, message)], started.request);
  // Others that use the memory have yet to wait.
  return false;
}

/// Waits for event \p last, and perhaps for all actions; the monitor is told of
/// the first of them that is not done.
void CudaDevice::waitFor(uint32_t last, bool forActions) {
  Pause pause;
  size_t known = SIZE_MAX;
  for (size_t next = 0;; pause()) {
    while (next < actions.size() && events.isOver(actions[next].end))
      ++next;
    if ((next == actions.size() || !forActions) && events.isOver(last))
      return;
    if (next != known && next < actions.size())
      progress.begin(actions[next].activity, actions[next].index,
                     actions[next].microbatch);
    known = next;
    if (Status status = transfers->poll(); status.failed())
      fail(status.getCode(), status.getMessage());
  }
}

void CudaDevice::drain() {
  copies.fetch();
  waitFor(events.record(compute.stream), /*forActions=*/false);
  copies.finishReadings();
}

static bool isTraced(Activity activity) {
  return activity == Activity::Run || activity == Activity::Send ||
         activity == Activity::Recv || activity == Activity::RecvRows;
}

void CudaDevice::addToTrace() {
  auto getTime = [&](uint32_t event) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, events.get(0), events.get(event)),
          "cannot tell when an event was");
    return stepBegin + static_cast<int64_t>(double(milliseconds) * 1e6);
  };
  for (const Action &action : actions)
    if (isTraced(action.activity))
      trace.add({action.activity, action.index, action.microbatch,
                 getTime(action.begin), getTime(action.end)});
}

void CudaDevice::synchronize() {
  finishGraph();
  copies.fetch();
  waitFor(events.record(compute.stream), /*forActions=*/true);
  copies.finishReadings();
  if (trace.isEnabled())
    addToTrace();
  actions.clear();
}

std::unique_ptr<Device> pprt::createDevice(const DeviceSetup &setup) {
  return std::make_unique<CudaDevice>(setup);
}
