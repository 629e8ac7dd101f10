//===- Profile.cpp - Times the layers of a model --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each stage of the descriptor is one layer, with copies of its buffers for as
// many micro-batches as it has slots. A round runs all forwards in order and
// then, in reverse order, the gradients, as a rank does with one micro-batch:
// so the caches hold what they hold in a run.
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "Half.h"
#include "Options.h"
#include "Random.h"
#include "launch/Collectives.h"
#include "launch/Progress.h"
#include "launch/Transport.h"
#include "log/Message.h"
#include "pprt/Descriptor.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

using namespace pprt;

static constexpr int warmUpRounds = 2;

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

namespace {
/// What inputs are filled with: numbers that layers compute with in training.
class Filler {
public:
  Filler(const PprtInput &input, uint64_t seed) : input(input), seed(seed) {
    const PprtTensor &tensor = input.tensor;
    for (uint32_t i = 0; i < tensor.rank; ++i) {
      count *= tensor.shape[i];
      largest = std::max(largest, tensor.shape[i]);
    }
    // Weights are small, so that products are of the size of activations.
    bool isWeight = input.axis < 0 && tensor.rank > 1;
    amplitude = isWeight ? std::sqrt(3.0 / largest) : 1;
  }

  void fill(uint8_t *data) {
    switch (input.tensor.dtype) {
    case PPRT_F32:
      return fillWith<float>(data, [this] { return nextReal(); });
    case PPRT_F64:
      return fillWith<double>(data, [this] { return nextReal(); });
    case PPRT_BF16:
      return fillWith<BFloat16>(data, [this] { return nextShort<BFloat16>(); });
    case PPRT_F16:
      return fillWith<Float16>(data, [this] { return nextShort<Float16>(); });
    case PPRT_I8:
      return fillWith<int8_t>(data, [this] { return nextIndex(); });
    case PPRT_I16:
      return fillWith<int16_t>(data, [this] { return nextIndex(); });
    case PPRT_I32:
      return fillWith<int32_t>(data, [this] { return nextIndex(); });
    case PPRT_I64:
      return fillWith<int64_t>(data, [this] { return nextIndex(); });
    case PPRT_BOOL:
      // Nothing is masked out.
      return fillWith<uint8_t>(data, [] { return 1; });
    }
  }

private:
  template <typename T, typename Next>
  void fillWith(uint8_t *data, Next next) {
    T *values = reinterpret_cast<T *>(data);
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<T>(next());
  }

  uint64_t next() { return mix(seed, position++); }
  /// In [-amplitude, amplitude).
  double nextReal() {
    return amplitude * (std::ldexp(static_cast<double>(next() >> 11), -52) - 1);
  }
  /// A class or an index that is in range; 0 where no range is known.
  int64_t nextIndex() {
    int64_t limit = input.labelClasses ? input.labelClasses : input.indexLimit;
    return limit > 0 ? static_cast<int64_t>(next() % limit) : 0;
  }
  /// So much smaller that rounding does not reach the amplitude.
  template <typename ShortTy>
  ShortTy nextShort() {
    ShortTy value;
    fromFloat(static_cast<float>(0.99 * nextReal()), value);
    return value;
  }

  const PprtInput &input;
  uint64_t seed;
  uint64_t position = 0;
  int64_t count = 1;
  int64_t largest = 1;
  double amplitude;
};
} // namespace

/// Fills memory of the device with what an input has.
static Status fillInput(Device &device, const PprtInput &input, uint64_t seed,
                        uint64_t offset) {
  std::vector<uint8_t> bytes(input.tensor.bytes);
  Filler(input, seed).fill(bytes.data());
  return device.load(device.at(offset), bytes.size(),
                     [&](uint8_t *host, uint64_t begin, uint64_t count) {
                       memcpy(host, bytes.data() + begin, count);
                       return Status();
                     });
}

static Status fillInputs(const PprtDescriptor &descriptor, Device &device) {
  for (uint32_t i = 0; i < descriptor.bufferCount; ++i) {
    const PprtBuffer &buffer = descriptor.buffers[i];
    if (buffer.kind != PPRT_BUFFER_INPUT)
      continue;
    for (uint32_t slot = 0; slot < buffer.slots; ++slot)
      if (Status status = fillInput(device, descriptor.inputs[buffer.index],
                                    mix(i, slot), buffer.offsets[slot]);
          status.failed())
        return status;
  }
  return Status();
}

namespace {
/// A device alone, with a transport of its own.
struct LoneDevice {
  LoneDevice(const PprtDescriptor &descriptor, Transport &transport)
      : device(
            createDevice({descriptor, options, transport, progress, trace})) {}

  RankOptions options;
  Progress progress;
  Trace trace;
  std::unique_ptr<Device> device;
};
} // namespace

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

namespace {
/// A task on one copy of its layer's buffers.
struct Call {
  const PprtTask *task;
  uint32_t index; ///< of the task
  uint32_t copy;
  std::vector<void *> pointers;
};
} // namespace

static Call makeCall(const PprtDescriptor &descriptor, Device &device,
                     uint32_t index, uint32_t copy) {
  const PprtTask &task = descriptor.tasks[index];
  Call call{&task, index, copy, {}};
  for (uint32_t i = 0; i < task.bindingCount; ++i) {
    const PprtBinding &binding = task.bindings[i];
    uint64_t offset = binding.offset;
    if (binding.kind == PPRT_BIND_BUFFER)
      offset = descriptor.buffers[binding.index].offsets[copy];
    call.pointers.push_back(device.at(offset));
  }
  return call;
}

/// All copies of a layer have as many slots as its first buffer.
static uint32_t countCopies(const PprtDescriptor &descriptor,
                            const PprtTask &task) {
  for (uint32_t i = 0; i < task.bindingCount; ++i) {
    if (task.bindings[i].kind != PPRT_BIND_BUFFER)
      continue;
    const PprtBuffer &buffer = descriptor.buffers[task.bindings[i].index];
    if (buffer.kind != PPRT_BUFFER_WORKSPACE)
      return buffer.slots;
  }
  return 1;
}

/// The calls of a round: tasks are in the order of the stages, F before B, W
/// and R of each.
static std::vector<Call> listCalls(const PprtDescriptor &descriptor,
                                   Device &device) {
  std::vector<Call> calls;
  auto add = [&](uint32_t task, uint32_t copy) {
    calls.push_back(makeCall(descriptor, device, task, copy));
  };
  auto getStageEnd = [&](uint32_t begin) {
    uint32_t end = begin;
    while (end < descriptor.taskCount &&
           descriptor.tasks[end].stage == descriptor.tasks[begin].stage)
      ++end;
    return end;
  };
  std::vector<uint32_t> begins;
  for (uint32_t i = 0; i < descriptor.taskCount; i = getStageEnd(i)) {
    begins.push_back(i);
    for (uint32_t copy = 0; copy < countCopies(descriptor, descriptor.tasks[i]);
         ++copy)
      add(i, copy);
  }
  std::reverse(begins.begin(), begins.end());
  for (uint32_t begin : begins)
    for (uint32_t copy = countCopies(descriptor, descriptor.tasks[begin]);
         copy-- > 0;)
      for (uint32_t i = begin + 1; i < getStageEnd(begin); ++i)
        add(i, copy);
  return calls;
}

/// In nanoseconds, by call.
using RoundTimes = std::vector<int64_t>;

static RoundTimes runRound(Device &device, const std::vector<Call> &calls) {
  RoundTimes times;
  for (const Call &call : calls) {
    int64_t begin = getMonotonicTime();
    device.run(call.index, call.copy, call.pointers.data());
    device.synchronize();
    times.push_back(getMonotonicTime() - begin);
  }
  return times;
}

/// On rank 0, the times of the rank that took longest for the round: in a step
/// the others wait for it, and it is not always the same one.
static RoundTimes findSlowest(Transport &transport, const RoundTimes &mine) {
  RoundTimes all(mine.size() * transport.getSize());
  gather(transport, mine.data(), mine.size() * sizeof(int64_t), all.data());
  RoundTimes slowest;
  for (auto begin = all.begin(); begin != all.end(); begin += mine.size()) {
    RoundTimes times(begin, begin + mine.size());
    auto sum = [](const RoundTimes &list) {
      return std::accumulate(list.begin(), list.end(), int64_t(0));
    };
    if (sum(times) >= sum(slowest))
      slowest = std::move(times);
  }
  return slowest;
}

/// At least \p rounds rounds, and more until \p seconds are over. Rank 0 prints
/// a line for each call, `LAYER ROLE NANOSECONDS`.
static void timeCalls(Transport &transport, Device &device,
                      const std::vector<Call> &calls, int rounds,
                      double seconds) {
  int64_t end = getMonotonicTime() + static_cast<int64_t>(seconds * 1e9);
  uint8_t goesOn = 1;
  for (int round = -warmUpRounds; goesOn; ++round) {
    device.beginStep();
    RoundTimes times = findSlowest(transport, runRound(device, calls));
    for (size_t i = 0;
         round >= 0 && transport.getRank() == 0 && i < calls.size(); ++i)
      printf("%u %u %" PRId64 "\n", calls[i].task->stage, calls[i].task->role,
             times[i]);
    goesOn = round + 1 < rounds || getMonotonicTime() < end;
    broadcast(transport, &goesOn, sizeof goesOn);
  }
}

/// Times the layers on \p ranks processes at once, which share the machine as
/// the ranks of a run do.
static Status timeLayers(const PprtDescriptor &descriptor, int rounds,
                         double seconds, int ranks) {
  std::unique_ptr<Transport> transport = createSelfTransport();
  if (ranks > 1)
    if (Status status = createMpiTransport(transport); status.failed())
      return status;
  LoneDevice lone(descriptor, *transport);
  Device &device = *lone.device;
  if (Status status = device.start(); status.failed())
    return status;
  if (Status status = fillInputs(descriptor, device); status.failed())
    return status;
  std::vector<Call> calls = listCalls(descriptor, device);
  barrier(*transport); // All begin at once.
  timeCalls(*transport, device, calls, rounds, seconds);
  return Status();
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// What a step does with \p parameter beside running layers: zeroes its
/// gradient, adds its squares up, and updates by \p rule.
static int64_t timeUpdate(Device &device, const ParameterUpdate &parameter,
                          const UpdateRule &rule) {
  Reals gradient = parameter.value;
  gradient.data = const_cast<void *>(parameter.gradient);
  int64_t begin = getMonotonicTime();
  device.zero(gradient.data, gradient.count * sizeof(float));
  double squares;
  device.sumSquares({gradient}, &squares);
  device.update(rule, {parameter});
  device.synchronize();
  return getMonotonicTime() - begin;
}

static UpdateRule getRule(PprtOptimizer optimizer) {
  return {optimizer,           /*learningRate=*/1e-3,
          /*gradientScale=*/1, /*momentum=*/0.9,
          /*beta1=*/0.9,       /*beta2=*/0.999,
          /*epsilon=*/1e-8,    /*step=*/1};
}

/// Prints a line for each update, `OPTIMIZER PARAMETERS NANOSECONDS`. They are
/// too many for a cache.
static Status timeUpdates(int rounds) {
  constexpr int64_t count = 4 << 20;
  constexpr uint64_t bytes = count * sizeof(float);
  PprtDescriptor descriptor = {};
  descriptor.ranks = 1;
  descriptor.dataParallel = 1;
  descriptor.expertParallel = 1;
  descriptor.arenaBytes = 4 * bytes;
  descriptor.parameterCount = 1;
  PprtParameter parameter = {};
  parameter.shards = 1;
  descriptor.parameters = &parameter;
  std::unique_ptr<Transport> transport = createSelfTransport();
  LoneDevice lone(descriptor, *transport);
  Device &device = *lone.device;
  if (Status status = device.start(); status.failed())
    return status;
  ParameterUpdate update = {{device.at(0), count, /*isWide=*/false},
                            device.at(bytes),
                            {device.at(2 * bytes), device.at(3 * bytes)},
                            /*weightDecay=*/0.01};
  for (int round = -warmUpRounds; round < rounds; ++round) {
    device.beginStep();
    int64_t times[2];
    for (PprtOptimizer optimizer : {PPRT_SGD, PPRT_ADAMW})
      times[optimizer] = timeUpdate(device, update, getRule(optimizer));
    for (PprtOptimizer optimizer : {PPRT_SGD, PPRT_ADAMW})
      if (round >= 0)
        printf("%d %" PRId64 " %" PRId64 "\n", optimizer, count,
               times[optimizer]);
  }
  return Status();
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

/// In bytes: 8, 64, 512 and so on.
static constexpr uint64_t smallestMessage = 8, largestMessage = 16 << 20;

/// The nanoseconds in which \p bytes go to \p peer and come back.
static int64_t timeRoundTrip(Transport &transport, uint32_t peer, uint8_t *data,
                             uint64_t bytes) {
  int64_t begin = getMonotonicTime();
  if (transport.getRank() < peer) {
    transport.send(peer, CollectiveTag, data, bytes);
    transport.recv(peer, CollectiveTag, data, bytes);
  } else {
    transport.recv(peer, CollectiveTag, data, bytes);
    transport.send(peer, CollectiveTag, data, bytes);
  }
  return getMonotonicTime() - begin;
}

/// So many times of messages of \p bytes between ranks \p a and \p b, which
/// all ranks get.
static std::vector<int64_t> timePair(Transport &transport, uint32_t a,
                                     uint32_t b, uint8_t *data, uint64_t bytes,
                                     int rounds) {
  std::vector<int64_t> times(rounds);
  uint32_t rank = transport.getRank();
  for (int round = -warmUpRounds; round < rounds && (rank == a || rank == b);
       ++round) {
    int64_t time = timeRoundTrip(transport, a + b - rank, data, bytes);
    if (round >= 0)
      times[round] = time / 2;
  }
  broadcast(transport, times.data(), times.size() * sizeof(int64_t), a);
  return times;
}

/// Prints on rank 0 a line for each message, `RANK RANK BYTES NANOSECONDS`.
/// Pairs of ranks take turns.
static Status timeLinks(int rounds) {
  std::unique_ptr<Transport> transport;
  if (Status status = createMpiTransport(transport); status.failed())
    return status;
  std::vector<uint8_t> memory(largestMessage);
  for (uint32_t a = 0; a < transport->getSize(); ++a)
    for (uint32_t b = a + 1; b < transport->getSize(); ++b)
      for (uint64_t bytes = smallestMessage; bytes <= largestMessage;
           bytes *= 8)
        for (int64_t time :
             timePair(*transport, a, b, memory.data(), bytes, rounds))
          if (transport->getRank() == 0)
            printf("%u %u %" PRIu64 " %" PRId64 "\n", a, b, bytes, time);
  return Status();
}

/// Prints on rank 0 a line for each rank: its host.
static Status printHosts() {
  std::unique_ptr<Transport> transport;
  if (Status status = createMpiTransport(transport); status.failed())
    return status;
  for (const std::string &host : gatherText(*transport, transport->getHost()))
    printf("%s\n", host.c_str());
  return Status();
}

int pprtProfileMain(int argc, char **argv, const PprtDescriptor *descriptor) {
  auto asks = [=](const char *what, int words) {
    return argc == words && !strcmp(argv[1], what);
  };
  Status status;
  if (asks("layers", 5)) {
    status =
        timeLayers(*descriptor, atoi(argv[2]), atof(argv[3]), atoi(argv[4]));
  } else if (asks("updates", 3)) {
    status = timeUpdates(atoi(argv[2]));
  } else if (asks("links", 3)) {
    status = timeLinks(atoi(argv[2]));
  } else if (asks("hosts", 2)) {
    status = printHosts();
  } else {
    fprintf(stderr,
            "usage: %s layers ROUNDS SECONDS RANKS | updates ROUNDS | links "
            "ROUNDS | hosts\n",
            argv[0]);
    return static_cast<int>(ExitCode::Usage);
  }
  if (status.failed())
    printMessage(descriptor->rank, "error: " + status.getMessage());
  return static_cast<int>(status.getCode());
}
