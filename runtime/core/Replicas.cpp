//===- Replicas.cpp - Several pipelines train one model -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Replicas.h"
#include "Context.h"
#include "launch/Collectives.h"

#include <algorithm>

using namespace pprt;

RankGroups::RankGroups(const PprtDescriptor &descriptor, Transport &all)
    : all(all), self(descriptor.rank), ranks(descriptor.ranks),
      count(descriptor.dataParallel), groupSize(descriptor.expertParallel),
      replica(all.getRank() / ranks) {
  pipeline = createGroupTransport(all, getPeer(0), /*stride=*/1, ranks);
  twins = createGroupTransport(all, getTwin(0), /*stride=*/ranks, count);
  uint32_t groupRanks = groupSize * ranks;
  group = createGroupTransport(all, getGroup() * groupRanks, /*stride=*/1,
                               groupRanks);
  members =
      createGroupTransport(all, getMember(0), /*stride=*/ranks, groupSize);
  sharers = createGroupTransport(all, getTwin(getPlace()),
                                 /*stride=*/groupRanks, count / groupSize);
}

/// What is wrong with the groups or the shards, or "".
static std::string findBrokenGroup(const PprtDescriptor &descriptor) {
  uint32_t pipelines = descriptor.dataParallel;
  uint32_t groupSize = descriptor.expertParallel;
  std::string groups = "groups of " + std::to_string(groupSize) + " pipelines";
  if (groupSize == 0 || pipelines % groupSize != 0)
    return groups + " that share experts, but there are " +
           std::to_string(pipelines);
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    if (parameter.shards != 1 &&
        (parameter.shards != groupSize || parameter.tensor.rank == 0))
      return std::to_string(parameter.shards) + " parts of parameter '" +
             parameter.tensor.name + "', but for " + groups;
  }
  return "";
}

Status pprt::checkGroups(const PprtDescriptor &descriptor, Transport &all) {
  std::string problem = findBrokenGroup(descriptor);
  return agree(all, problem.empty()
                        ? Status()
                        : Status::error(ExitCode::Mismatch,
                                        "built for " + problem +
                                            "; build all ranks together"));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

static Sharing getSharing(const PprtContext &context, uint32_t parameter) {
  return context.descriptor.parameters[parameter].shards == 1 ? Sharing::All
                                                              : Sharing::Places;
}

static Activity getActivity(Sharing sharing) {
  return sharing == Sharing::All ? Activity::ReplicaGradient
                                 : Activity::ShardGradient;
}

/// This rank and its replicas whose gradients are parts of one sum.
static const Transport &getAdders(const PprtContext &context, Sharing sharing) {
  const RankGroups &groups = context.groups;
  return sharing == Sharing::All ? *groups.twins : *groups.sharers;
}

namespace {
/// Each of those who add up a parameter's gradients adds up one part and gives
/// the sum to the others, so that each sends and receives twice the gradient at
/// most, and all have the same bits.
class MessageSum {
public:
  MessageSum(PprtContext &context, uint32_t parameter)
      : context(context), gradient(context.getGradient(parameter)),
        sharing(getSharing(context, parameter)),
        adders(getAdders(context, sharing)) {}

  void run() {
    // Messages may still be where there is room now.
    context.finishMessages();
    Reals mine = getPart(adders.getRank());
    Reals sent = mine;
    sent.data = context.device->at(context.descriptor.reductionOffset);
    forEachOther([&](uint32_t other) { exchange(other, getPart(other), sent); },
                 [&] { context.device->add(mine, sent.data); });
    forEachOther([&](uint32_t other) { exchange(other, mine, getPart(other)); },
                 [] {});
  }

private:
  /// Pairs of replicas meet in one order of all pairs, so that no two wait for
  /// each other.
  template <typename MeetT, typename ThenT>
  void forEachOther(MeetT meet, ThenT then) {
    for (uint32_t other = 0; other < adders.getSize(); ++other) {
      if (other == adders.getRank())
        continue;
      meet(other);
      then();
    }
  }

  /// What \p adder adds up: all but the last have as many numbers.
  Reals getPart(uint32_t adder) const {
    int64_t count = adders.getSize();
    int64_t part = (gradient.count + count - 1) / count;
    int64_t begin = std::min(adder * part, gradient.count);
    return {static_cast<uint8_t *>(gradient.data) +
                begin * gradient.getElementBytes(),
            std::min(part, gradient.count - begin), gradient.isWide};
  }

  void exchange(uint32_t other, const Reals &sent, const Reals &received) {
    bool isFirst = adders.getRank() < other;
    move(isFirst, other, isFirst ? sent : received);
    move(!isFirst, other, isFirst ? received : sent);
  }

  void move(bool sends, uint32_t other, const Reals &part) {
    if (part.count == 0)
      return;
    uint64_t bytes = part.count * part.getElementBytes();
    DeviceMessage message = {getActivity(sharing),
                             DeviceMessage::noChannel,
                             /*microbatch=*/0,
                             getAdderRank(other),
                             ReplicaTag,
                             part.data,
                             bytes};
    Device &device = *context.device;
    device.wait(sends ? device.startSend(message) : device.startRecv(message));
  }

  /// Among all processes.
  uint32_t getAdderRank(uint32_t adder) const {
    const RankGroups &groups = context.groups;
    return sharing == Sharing::All ? groups.getTwin(adder)
                                   : groups.getSharer(adder);
  }

  PprtContext &context;
  Reals gradient;
  Sharing sharing;
  const Transport &adders;
};
} // namespace

void pprt::reduceGradient(PprtContext &context, uint32_t index) {
  Sharing sharing = getSharing(context, index);
  if (getAdders(context, sharing).getSize() == 1)
    return;
  context.progress.begin(getActivity(sharing), index);
  if (std::optional<StartedMessage> started =
          context.device->startAllReduce({context.getGradient(index)}, sharing))
    context.device->wait(*started);
  else
    MessageSum(context, index).run();
}

/// Begins the sums of those of \p parameters that are shared in such a way.
static void startReductions(PprtContext &context, Sharing sharing,
                            const std::vector<uint32_t> &parameters) {
  std::vector<uint32_t> found;
  std::vector<Reals> gradients;
  for (uint32_t parameter : parameters) {
    if (getSharing(context, parameter) != sharing)
      continue;
    found.push_back(parameter);
    gradients.push_back(context.getGradient(parameter));
  }
  if (found.empty() || getAdders(context, sharing).getSize() == 1)
    return;
  context.progress.begin(getActivity(sharing), found.front());
  if (std::optional<StartedMessage> started =
          context.device->startAllReduce(gradients, sharing))
    context.startedReductions.push_back(*started);
  else
    context.lateReductions.insert(context.lateReductions.end(), found.begin(),
                                  found.end());
}

void pprtAllReduce(PprtContext *context, const uint32_t *parameters,
                   uint32_t count) {
  std::vector<uint32_t> all(parameters, parameters + count);
  for (Sharing sharing : {Sharing::All, Sharing::Places})
    startReductions(*context, sharing, all);
}

void pprt::finishReductions(PprtContext &context) {
  for (const StartedMessage &started : context.startedReductions)
    context.device->wait(started);
  context.startedReductions.clear();
  for (uint32_t parameter : context.lateReductions)
    reduceGradient(context, parameter);
  context.lateReductions.clear();
}

//===----------------------------------------------------------------------===//
// Losses and outputs
//===----------------------------------------------------------------------===//

void pprt::joinReplicaLosses(PprtContext &context) {
  const PprtDescriptor &descriptor = context.descriptor;
  RankGroups &groups = context.groups;
  if (!context.lossSum || descriptor.rank != descriptor.lossRank ||
      groups.getReplicas() == 1)
    return;
  for (std::vector<double> *losses :
       {&context.lossSums, &context.lossWeights}) {
    std::vector<double> mine(losses->begin(),
                             losses->begin() + descriptor.microbatches);
    losses->resize(groups.getReplicas() * mine.size());
    gather(*groups.twins, mine.data(), mine.size() * sizeof(double),
           losses->data());
  }
}

void pprt::joinReplicaOutputs(PprtContext &context) {
  Transport &twins = *context.groups.twins;
  if (context.groups.getReplica() > 0)
    for (const KeptOutput &kept : context.keptOutputs)
      twins.send(0, CollectiveTag, kept.bytes.data(), kept.bytes.size());
  else
    for (uint32_t replica = 1; replica < twins.getSize(); ++replica)
      for (KeptOutput &kept : context.keptOutputs) {
        twins.recv(replica, CollectiveTag, kept.bytes.data(),
                   kept.bytes.size());
        context.outputs->append(kept.output, kept.bytes.data());
      }
  context.keptOutputs.clear();
}
