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
      count(descriptor.dataParallel), replica(all.getRank() / ranks) {
  pipeline = createGroupTransport(all, replica * ranks, /*stride=*/1, ranks);
  twins = createGroupTransport(all, self, /*stride=*/ranks, count);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// Each replica adds up one part and gives the sum to the others, so that each
/// sends and receives twice the gradient at most, and all have the same bits.
class MessageSum {
public:
  MessageSum(PprtContext &context, uint32_t parameter)
      : context(context), groups(context.groups),
        gradient(context.getGradient(parameter)) {}

  void run() {
    // Messages may still be where there is room now.
    context.finishMessages();
    uint32_t self = groups.getReplica();
    Reals mine = getPart(self);
    Reals other = mine;
    other.data = context.device->at(context.descriptor.reductionOffset);
    forEachOther([&](uint32_t twin) { exchange(twin, getPart(twin), other); },
                 [&] { context.device->add(mine, other.data); });
    forEachOther([&](uint32_t twin) { exchange(twin, mine, getPart(twin)); },
                 [] {});
  }

private:
  /// Pairs of replicas meet in one order of all pairs, so that no two wait for
  /// each other.
  template <typename MeetT, typename ThenT>
  void forEachOther(MeetT meet, ThenT then) {
    for (uint32_t twin = 0; twin < groups.getReplicas(); ++twin) {
      if (twin == groups.getReplica())
        continue;
      meet(twin);
      then();
    }
  }

  /// What \p replica adds up: all but the last have as many numbers.
  Reals getPart(uint32_t replica) const {
    int64_t replicas = groups.getReplicas();
    int64_t part = (gradient.count + replicas - 1) / replicas;
    int64_t begin = std::min(replica * part, gradient.count);
    return {static_cast<uint8_t *>(gradient.data) +
                begin * gradient.getElementBytes(),
            std::min(part, gradient.count - begin), gradient.isWide};
  }

  void exchange(uint32_t twin, const Reals &sent, const Reals &received) {
    bool isFirst = groups.getReplica() < twin;
    move(isFirst, twin, isFirst ? sent : received);
    move(!isFirst, twin, isFirst ? received : sent);
  }

  void move(bool sends, uint32_t twin, const Reals &part) {
    if (part.count == 0)
      return;
    uint64_t bytes = part.count * part.getElementBytes();
    DeviceMessage message = {Activity::ReplicaGradient,
                             DeviceMessage::noChannel,
                             /*microbatch=*/0,
                             groups.getTwin(twin),
                             ReplicaTag,
                             part.data,
                             bytes};
    Device &device = *context.device;
    device.wait(sends ? device.startSend(message) : device.startRecv(message));
  }

  PprtContext &context;
  const RankGroups &groups;
  Reals gradient;
};
} // namespace

void pprt::reduceGradient(PprtContext &context, uint32_t index) {
  if (context.groups.getReplicas() == 1)
    return;
  context.progress.begin(Activity::ReplicaGradient, index);
  if (std::optional<StartedMessage> started = context.device->startAllReduce(
          {context.getGradient(index)}, Sharing::All))
    context.device->wait(*started);
  else
    MessageSum(context, index).run();
}

void pprtAllReduce(PprtContext *context, const uint32_t *parameters,
                   uint32_t count) {
  context->progress.begin(Activity::ReplicaGradient, parameters[0]);
  std::vector<Reals> gradients;
  for (uint32_t i = 0; i < count; ++i)
    gradients.push_back(context->getGradient(parameters[i]));
  if (std::optional<StartedMessage> started =
          context->device->startAllReduce(gradients, Sharing::All))
    context->startedReductions.push_back(*started);
  else
    context->lateReductions.insert(context->lateReductions.end(), parameters,
                                   parameters + count);
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
