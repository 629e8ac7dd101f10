//===- CpuDevice.cpp - Tasks on the calling thread ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Messages are under way while the thread computes; all else is done when a
// call comes back.
//
//===----------------------------------------------------------------------===//

#include "Backend.h"
#include "core/Arena.h"
#include "core/Device.h"
#include "core/Optimizers.h"
#include "core/Options.h"
#include "launch/Collectives.h"

#include <algorithm>
#include <cstring>
#include <string>

using namespace pprt;

/// Calls \p visit with the numbers, by their type.
template <typename VisitT>
static void visitReals(const Reals &reals, VisitT visit) {
  if (reals.isWide)
    visit(static_cast<double *>(reals.data));
  else
    visit(static_cast<float *>(reals.data));
}

template <typename RealTy>
static void updateOne(const UpdateRule &rule, const ParameterUpdate &parameter,
                      RealTy *value) {
  int64_t count = parameter.value.count;
  auto *gradient = static_cast<const RealTy *>(parameter.gradient);
  auto *first = static_cast<RealTy *>(parameter.state[0]);
  auto *second = static_cast<RealTy *>(parameter.state[1]);
  if (rule.optimizer == PPRT_ADAMW) {
    AdamW<RealTy>(rule.learningRate, rule.beta1, rule.beta2, rule.epsilon,
                  parameter.weightDecay, rule.gradientScale, rule.step)
        .update(value, gradient, first, second, count);
    return;
  }
  Sgd<RealTy>{RealTy(rule.learningRate), RealTy(rule.momentum),
              RealTy(parameter.weightDecay), RealTy(rule.gradientScale)}
      .update(value, gradient, first, count);
}

namespace {
class CpuDevice : public Device {
public:
  explicit CpuDevice(const DeviceSetup &setup)
      : descriptor(setup.descriptor), options(setup.options),
        transport(setup.transport), trace(setup.trace) {}

  Status start() override;
  Status connect() override { return Status(); }

  Status load(void *data, uint64_t bytes, const Producer &produce) override {
    return produce(static_cast<uint8_t *>(data), 0, bytes);
  }
  const uint8_t *view(const void *data, uint64_t) override {
    return static_cast<const uint8_t *>(data);
  }

  void beginStep() override {}
  void zero(void *data, uint64_t bytes) override { memset(data, 0, bytes); }
  uint8_t *stage(void *data, uint64_t) override {
    return static_cast<uint8_t *>(data);
  }
  void commitStage(void *, uint64_t) override {}
  void readLater(void *host, const void *data, uint64_t bytes) override {
    memcpy(host, data, bytes);
  }

  void run(uint32_t task, uint32_t microbatch, void *const *pointers) override {
    TraceScope scope(trace, Activity::Run, task, microbatch);
    descriptor.tasks[task].function(pointers);
  }

  StartedMessage startSend(const DeviceMessage &message) override;
  StartedMessage startRecv(const DeviceMessage &message) override;
  std::vector<StartedMessage>
  startExchange(const BlockExchange &exchange) override;
  void wait(const StartedMessage &started) override;
  bool waitBefore(const StartedMessage &started, Activity, uint32_t) override {
    wait(started);
    return true;
  }
  void synchronize() override {}

  std::optional<StartedMessage> startAllReduce(const std::vector<Reals> &,
                                               Sharing) override {
    return std::nullopt;
  }
  void add(const Reals &target, const void *addend) override {
    visitReals(target, [&](auto *values) {
      addTo(values, static_cast<decltype(values)>(const_cast<void *>(addend)),
            target.count);
    });
  }
  void sumSquares(const std::vector<Reals> &values, double *sums) override {
    for (const Reals &reals : values)
      visitReals(reals, [&](auto *numbers) {
        *sums++ = pprt::sumSquares(numbers, reals.count);
      });
  }
  void update(const UpdateRule &rule,
              const std::vector<ParameterUpdate> &parameters) override {
    for (const ParameterUpdate &parameter : parameters)
      visitReals(parameter.value,
                 [&](auto *values) { updateOne(rule, parameter, values); });
  }

private:
  Status checkMessages() const;

  const PprtDescriptor &descriptor;
  const RankOptions &options;
  Transport &transport;
  Trace &trace;
  Arena memory;
};
} // namespace

/// Whether the transport can carry the messages of channels and exchanges.
Status CpuDevice::checkMessages() const {
  uint64_t lastTag = FirstChannelTag;
  auto addTags = [&](uint32_t id) {
    lastTag = std::max(lastTag, FirstChannelTag + (uint64_t(id) + 1) *
                                                      descriptor.microbatches);
  };
  for (uint32_t i = 0; i < descriptor.channelCount; ++i) {
    const PprtChannel &channel = descriptor.channels[i];
    addTags(channel.id);
    if (channel.source != channel.target &&
        descriptor.buffers[channel.buffer].bytes > Transport::messageLimit)
      return Status::dataError("channel '" + std::string(channel.name) +
                               "' moves more than 1 GiB at a time; build with "
                               "a smaller --microbatch-size");
  }
  for (uint32_t i = 0; i < descriptor.exchangeCount; ++i) {
    const PprtExchange &exchange = descriptor.exchanges[i];
    addTags(exchange.id);
    if (exchange.blockBytes > Transport::messageLimit)
      return Status::dataError("exchange '" + std::string(exchange.name) +
                               "' moves more than 1 GiB to a peer at a time; "
                               "build with a smaller --microbatch-size");
  }
  if (lastTag > transport.getTagLimit())
    return Status::dataError(
        "this MPI has " + std::to_string(transport.getTagLimit()) +
        " tags, and the program needs " + std::to_string(lastTag));
  return Status();
}

Status CpuDevice::start() {
  if (options.cudaGraph)
    return Status::error(ExitCode::Usage, "option '--cuda-graph' is of builds "
                                          "for CUDA devices");
  startCpuBackend();
  if (Status status = checkMessages(); status.failed())
    return status;
  Status status = memory.allocate(descriptor.arenaBytes);
  arena = memory.at(0);
  return status;
}

StartedMessage CpuDevice::startSend(const DeviceMessage &message) {
  // A gradient may be larger than a message.
  if (message.channel == DeviceMessage::noChannel) {
    transport.send(message.peer, message.tag, message.data, message.bytes);
    return {message, Transport::noRequest};
  }
  TraceScope scope(trace, Activity::Send, message.channel, message.microbatch);
  return {message, transport.startSend(message.peer, message.tag, message.data,
                                       message.bytes)};
}

StartedMessage CpuDevice::startRecv(const DeviceMessage &message) {
  if (message.channel == DeviceMessage::noChannel) {
    transport.recv(message.peer, message.tag, message.data, message.bytes);
    return {message, Transport::noRequest};
  }
  return {message, transport.startRecv(message.peer, message.tag, message.data,
                                       message.bytes)};
}

std::vector<StartedMessage>
CpuDevice::startExchange(const BlockExchange &exchange) {
  TraceScope scope(trace, Activity::SendRows, exchange.index,
                   exchange.microbatch);
  std::vector<StartedMessage> started;
  uint64_t bytes = exchange.blockBytes;
  for (bool sends : {false, true})
    for (uint32_t place = 0; place < exchange.peers.size(); ++place) {
      uint8_t *block =
          (sends ? exchange.sent : exchange.received) + place * bytes;
      if (place == exchange.place) {
        if (sends)
          memcpy(exchange.received + place * bytes, block, bytes);
        continue;
      }
      uint32_t peer = exchange.peers[place];
      DeviceMessage message = {sends ? Activity::SendRows : Activity::RecvRows,
                               exchange.index,
                               exchange.microbatch,
                               peer,
                               exchange.tag,
                               block,
                               bytes};
      started.push_back(
          {message,
           sends ? transport.startSend(peer, exchange.tag, block, bytes)
                 : transport.startRecv(peer, exchange.tag, block, bytes)});
    }
  return started;
}

void CpuDevice::wait(const StartedMessage &started) {
  if (started.request == Transport::noRequest)
    return;
  const DeviceMessage &message = started.message;
  if (message.activity == Activity::Send ||
      message.activity == Activity::SendRows) {
    transport.wait(started.request);
    return;
  }
  TraceScope scope(trace, message.activity, message.channel,
                   message.microbatch);
  transport.wait(started.request);
}

std::unique_ptr<Device> pprt::createDevice(const DeviceSetup &setup) {
  return std::make_unique<CpuDevice>(setup);
}
