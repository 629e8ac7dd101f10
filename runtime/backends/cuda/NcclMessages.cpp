//===- NcclMessages.cpp - Messages over NCCL ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operations of one communicator follow each other in the order in which they
// are called, on whatever streams they are: so each lane has its own, which
// shares nothing with another. All are made before the first step, by all ranks
// in one order, and each connection is used once: what NCCL does at first use
// may wait for what the devices do.
//
// No call blocks. Each is asked for its outcome until it has one, so that the
// monitor of the rank sees what it waits for.
//
//===----------------------------------------------------------------------===//

#include "Messages.h"
#include "Stream.h"
#include "launch/Collectives.h"
#include "launch/Pause.h"

#include <algorithm>
#include <nccl.h>
#include <set>

using namespace pprt;
using namespace pprt::cuda;

/// NCCL has room for so many operations at a time.
static constexpr uint32_t mostOfGroup = 128;
static const char *const unreachable = "cannot reach a peer";

namespace {
class NcclMessages : public Messages {
public:
  explicit NcclMessages(const DeviceSetup &setup)
      : descriptor(setup.descriptor), transport(setup.transport),
        replica(transport.getRank() / descriptor.ranks),
        used(findLanes(descriptor)) {}
  ~NcclMessages() override;

  Status connect() override;
  void send(const DeviceMessage &message, Lane lane,
            cudaStream_t stream) override;
  void receive(const DeviceMessage &message, Lane lane,
               cudaStream_t stream) override;
  void exchange(const BlockExchange &exchange, cudaStream_t stream) override;
  bool addsUp() const override { return true; }
  void allReduce(const std::vector<Reals> &sums, Lane lane,
                 cudaStream_t stream) override;
  Status poll() override;

private:
  Status checkVersions();
  Status checkDevices();
  Status createWorld();
  Status createLanes();
  /// Those of one color, which is not negative, share a communicator for
  /// \p lane.
  int getColor(Lane lane) const;
  Status createLane(Lane lane);
  Status warmUp(Lane lane);
  Status warmUpChannels(Lane lane);
  Status warmUpExchanges();
  Status warmUpSums(Lane lane);
  /// Waits until \p communicator has done what it was asked to.
  Status settle(ncclComm_t communicator, ncclResult_t result, const char *what);
  Status exchangeBlocks(const BlockExchange &exchange, cudaStream_t stream,
                        const char *what);
  void finish(Lane lane, ncclResult_t result, const char *what);
  void disconnect(ncclComm_t communicator);

  const PprtDescriptor &descriptor;
  Transport &transport;
  uint32_t replica; ///< number of the pipeline
  std::array<bool, laneCount> used;
  ncclComm_t world = nullptr;
  std::array<ncclComm_t, laneCount> lanes = {};
};
} // namespace

//===----------------------------------------------------------------------===//
// Do the ranks fit together?
//===----------------------------------------------------------------------===//

static std::string formatVersion(int version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Status NcclMessages::checkVersions() {
  int mine = 0;
  ncclGetVersion(&mine);
  std::vector<int> all(transport.getSize());
  gather(transport, &mine, sizeof mine, all.data());
  Status status;
  for (uint32_t rank = 1; rank < all.size() && !status.failed(); ++rank)
    if (transport.getRank() == 0 && all[rank] != all[0])
      status = Status::error(ExitCode::Mismatch,
                             "rank 0 has NCCL " + formatVersion(all[0]) +
                                 " and rank " + std::to_string(rank) + " has " +
                                 formatVersion(all[rank]) +
                                 "; install one version on all machines");
  return agree(transport, status);
}

/// Names this rank's device in the whole cluster.
static std::string nameDevice(Transport &transport) {
  int device = 0;
  char bus[32] = "";
  check(cudaGetDevice(&device), "cannot tell which device is in use");
  check(cudaDeviceGetPCIBusId(bus, sizeof bus, device),
        "cannot tell where a device is");
  return std::string(bus) + " of " + transport.getHost();
}

Status NcclMessages::checkDevices() {
  std::vector<std::string> devices =
      gatherText(transport, nameDevice(transport));
  Status status;
  for (uint32_t rank = 0; rank < devices.size() && !status.failed(); ++rank) {
    auto first =
        std::find(devices.begin(), devices.begin() + rank, devices[rank]) -
        devices.begin();
    if (uint32_t(first) != rank)
      status = Status::error(
          ExitCode::Mismatch,
          "ranks " + std::to_string(first) + " and " + std::to_string(rank) +
              " have the same device, " + devices[rank] +
              ", which NCCL refuses; start no more ranks on a machine than it "
              "has devices, or use '--transport local'");
  }
  return agree(transport, status);
}

//===----------------------------------------------------------------------===//
// Communicators
//===----------------------------------------------------------------------===//

static std::string describe(ncclComm_t communicator, ncclResult_t result,
                            const char *what) {
  std::string text =
      std::string(what) + ": NCCL: " + ncclGetErrorString(result);
  const char *more = ncclGetLastError(communicator);
  return more && *more ? text + " (" + more + ")" : text;
}

Status NcclMessages::settle(ncclComm_t communicator, ncclResult_t result,
                            const char *what) {
  Pause pause;
  while (result == ncclInProgress) {
    if (ncclResult_t asked = ncclCommGetAsyncError(communicator, &result);
        asked != ncclSuccess)
      result = asked;
    if (result == ncclInProgress)
      pause();
  }
  if (result == ncclSuccess)
    return Status();
  return Status::error(result == ncclRemoteError ? ExitCode::PeerLost
                                                 : ExitCode::Mismatch,
                       describe(communicator, result, what));
}

static ncclConfig_t makeConfig() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  config.splitShare = 0;
  return config;
}

Status NcclMessages::createWorld() {
  ncclUniqueId id = {};
  Status status;
  if (transport.getRank() == 0)
    if (ncclResult_t result = ncclGetUniqueId(&id); result != ncclSuccess)
      status = Status::error(
          ExitCode::Mismatch,
          describe(nullptr, result, "cannot begin to connect devices"));
  if (status = agree(transport, status); status.failed())
    return status;
  broadcast(transport, &id, sizeof id);
  ncclConfig_t config = makeConfig();
  ncclResult_t result = ncclCommInitRankConfig(&world, transport.getSize(), id,
                                               transport.getRank(), &config);
  return settle(world, result, "cannot connect the devices of all ranks");
}

int NcclMessages::getColor(Lane lane) const {
  if (!isOfReplicas(lane))
    return replica;
  // Each communicator takes memory of the device.
  if (!used[lane])
    return NCCL_SPLIT_NOCOLOR;
  uint32_t place = replica % descriptor.expertParallel;
  uint32_t group = replica / descriptor.expertParallel;
  uint32_t number = lane == ShardGradients ? place
                    : lane == Exchanges    ? group
                                           : 0;
  return number * descriptor.ranks + descriptor.rank;
}

/// Ranks of a pipeline are numbered as in it, replicas in their order.
Status NcclMessages::createLane(Lane lane) {
  ncclConfig_t config = makeConfig();
  ncclComm_t &made = lanes[lane];
  ncclResult_t result =
      ncclCommSplit(world, getColor(lane), transport.getRank(), &made, &config);
  // The new one is there when the old one has done it.
  for (ncclComm_t *communicator : {&world, &made})
    if (*communicator)
      if (Status status =
              settle(*communicator, result, "cannot connect a lane");
          status.failed())
        return status;
  return Status();
}

/// All ranks take part for each lane that one of them uses.
Status NcclMessages::createLanes() {
  std::array<bool, laneCount> anywhere = used;
  std::vector<std::array<bool, laneCount>> all(transport.getSize());
  gather(transport, used.data(), sizeof used, all.data());
  for (const std::array<bool, laneCount> &other : all)
    for (uint32_t lane = 0; lane < laneCount; ++lane)
      anywhere[lane] |= other[lane];
  broadcast(transport, anywhere.data(), sizeof anywhere);
  for (uint32_t lane = 0; lane < laneCount; ++lane)
    if (anywhere[lane])
      if (Status status = createLane(static_cast<Lane>(lane)); status.failed())
        return status;
  return Status();
}

Status NcclMessages::connect() {
  if (transport.getSize() == 1)
    return Status();
  for (auto step : {&NcclMessages::checkVersions, &NcclMessages::checkDevices,
                    &NcclMessages::createWorld, &NcclMessages::createLanes})
    if (Status status = (this->*step)(); status.failed())
      return status;
  for (uint32_t lane = 0; lane < laneCount; ++lane)
    if (lanes[lane])
      if (Status status = warmUp(static_cast<Lane>(lane)); status.failed())
        return status;
  return Status();
}

/// The ranks that this one sends to and receives from on \p lane.
static void findPeers(const PprtDescriptor &descriptor, Lane lane,
                      std::set<uint32_t> &targets,
                      std::set<uint32_t> &sources) {
  for (uint32_t i = 0; i < descriptor.channelCount; ++i) {
    const PprtChannel &channel = descriptor.channels[i];
    if (channel.source == channel.target || getLane(descriptor, i) != lane)
      continue;
    if (channel.source == descriptor.rank)
      targets.insert(channel.target);
    else
      sources.insert(channel.source);
  }
}

/// Connects replicas by a sum of nothing in particular.
Status NcclMessages::warmUpSums(Lane lane) {
  const ComputeStream &compute = getComputeStream();
  check(cudaMemsetAsync(compute.workspace, 0, sizeof(float), compute.stream),
        "cannot clear device memory");
  ncclResult_t result =
      ncclAllReduce(compute.workspace, compute.workspace, 1, ncclFloat32,
                    ncclSum, lanes[lane], compute.stream);
  return settle(lanes[lane], result, unreachable);
}

/// Connects replicas by an exchange of a byte with each.
Status NcclMessages::warmUpExchanges() {
  const ComputeStream &compute = getComputeStream();
  uint32_t count = descriptor.expertParallel;
  BlockExchange bytes = {};
  bytes.place = replica % count;
  bytes.peers.resize(count);
  bytes.sent = static_cast<uint8_t *>(compute.workspace);
  bytes.received = bytes.sent + count;
  bytes.blockBytes = 1;
  check(cudaMemsetAsync(bytes.sent, 0, count, compute.stream),
        "cannot clear device memory");
  return exchangeBlocks(bytes, compute.stream, unreachable);
}

/// Sends a byte over each connection of the channels of \p lane. Gradients of
/// tied parameters pass only when all ranks have come to the end of the step.
Status NcclMessages::warmUpChannels(Lane lane) {
  std::set<uint32_t> targets, sources;
  findPeers(descriptor, lane, targets, sources);
  if (targets.empty() && sources.empty())
    return Status();
  const ComputeStream &compute = getComputeStream();
  auto *bytes = static_cast<uint8_t *>(compute.workspace);
  // Bytes that are received must not be those that are sent.
  uint32_t place = 0;
  check(cudaMemsetAsync(bytes, 0, targets.size() + sources.size(),
                        compute.stream),
        "cannot clear device memory");
  ncclGroupStart();
  for (uint32_t peer : targets)
    ncclSend(bytes + place++, 1, ncclUint8, peer, lanes[lane], compute.stream);
  for (uint32_t peer : sources)
    ncclRecv(bytes + place++, 1, ncclUint8, peer, lanes[lane], compute.stream);
  return settle(lanes[lane], ncclGroupEnd(), unreachable);
}

Status NcclMessages::warmUp(Lane lane) {
  Status status = !isOfReplicas(lane) ? warmUpChannels(lane)
                  : lane == Exchanges ? warmUpExchanges()
                                      : warmUpSums(lane);
  if (!status.failed())
    check(cudaStreamSynchronize(getComputeStream().stream), unreachable);
  return status;
}

/// Takes leave of the peers. That it fails is no failure of the run.
void NcclMessages::disconnect(ncclComm_t communicator) {
  if (!communicator)
    return;
  ncclResult_t result = ncclCommFinalize(communicator);
  if (settle(communicator, result, "cannot disconnect").failed())
    ncclCommAbort(communicator);
  else
    ncclCommDestroy(communicator);
}

NcclMessages::~NcclMessages() {
  for (ncclComm_t lane : lanes)
    disconnect(lane);
  disconnect(world);
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static void failOn(const Status &status) {
  if (status.failed())
    fail(status.getCode(), status.getMessage());
}

/// What depends on the message may only be given to the stream once NCCL has
/// put it there.
void NcclMessages::finish(Lane lane, ncclResult_t result, const char *what) {
  failOn(settle(lanes[lane], result, what));
}

void NcclMessages::send(const DeviceMessage &message, Lane lane,
                        cudaStream_t stream) {
  finish(lane,
         ncclSend(message.data, message.bytes, ncclUint8,
                  message.peer % descriptor.ranks, lanes[lane], stream),
         "cannot send");
}

void NcclMessages::receive(const DeviceMessage &message, Lane lane,
                           cudaStream_t stream) {
  finish(lane,
         ncclRecv(message.data, message.bytes, ncclUint8,
                  message.peer % descriptor.ranks, lanes[lane], stream),
         "cannot receive");
}

/// In round i each sends to the peer i places behind it and receives from the
/// one i places before it, so that all have the same rounds in a group.
Status NcclMessages::exchangeBlocks(const BlockExchange &exchange,
                                    cudaStream_t stream, const char *what) {
  uint64_t bytes = exchange.blockBytes;
  uint32_t place = exchange.place, count = exchange.peers.size();
  check(cudaMemcpyAsync(exchange.received + place * bytes,
                        exchange.sent + place * bytes, bytes,
                        cudaMemcpyDeviceToDevice, stream),
        what);
  constexpr uint32_t most = mostOfGroup / 2;
  for (uint32_t begin = 1; begin < count; begin += most) {
    ncclGroupStart();
    for (uint32_t i = begin; i < std::min(begin + most, count); ++i) {
      uint32_t target = (place + i) % count;
      uint32_t source = (place + count - i) % count;
      ncclSend(exchange.sent + target * bytes, bytes, ncclUint8, target,
               lanes[Exchanges], stream);
      ncclRecv(exchange.received + source * bytes, bytes, ncclUint8, source,
               lanes[Exchanges], stream);
    }
    Status status = settle(lanes[Exchanges], ncclGroupEnd(), what);
    if (status.failed())
      return status;
  }
  return Status();
}

void NcclMessages::exchange(const BlockExchange &exchange,
                            cudaStream_t stream) {
  failOn(exchangeBlocks(exchange, stream, "cannot exchange rows"));
}

void NcclMessages::allReduce(const std::vector<Reals> &sums, Lane lane,
                             cudaStream_t stream) {
  for (size_t begin = 0; begin < sums.size(); begin += mostOfGroup) {
    ncclGroupStart();
    for (size_t i = begin; i < std::min(begin + mostOfGroup, sums.size()); ++i)
      ncclAllReduce(sums[i].data, sums[i].data, sums[i].count,
                    sums[i].isWide ? ncclFloat64 : ncclFloat32, ncclSum,
                    lanes[lane], stream);
    finish(lane, ncclGroupEnd(), "cannot add gradients");
  }
}

Status NcclMessages::poll() {
  for (ncclComm_t lane : lanes) {
    ncclResult_t result = ncclSuccess;
    if (lane)
      ncclCommGetAsyncError(lane, &result);
    if (result != ncclSuccess && result != ncclInProgress)
      return Status::error(ExitCode::PeerLost,
                           describe(lane, result, "a message failed"));
  }
  return Status();
}

std::unique_ptr<Messages> cuda::createNcclMessages(const DeviceSetup &setup) {
  return std::make_unique<NcclMessages>(setup);
}
