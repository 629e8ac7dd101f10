//===- Update.cpp - The end of a training step ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every sum has one order, whatever the number of ranks: losses that of the
// micro-batches, tied gradients that of the layers, the norm that of the
// model's parameters, and within one that of its shards. All replicas have the
// same gradients in the end, of shards those that have the same, and all know
// the same norm: so they do the same with them.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "launch/Collectives.h"

#include <algorithm>
#include <cmath>

using namespace pprt;

/// Brings the losses that the other direction made to the rank that owns the
/// loss.
static void joinLosses(PprtContext &context) {
  const PprtDescriptor &descriptor = context.descriptor;
  if (descriptor.secondLossRank == descriptor.lossRank)
    return;
  Transport &pipeline = *context.groups.pipeline;
  uint32_t half = descriptor.microbatches / 2;
  for (std::vector<double> *losses :
       {&context.lossSums, &context.lossWeights}) {
    double *second = losses->data() + half;
    uint64_t bytes = (descriptor.microbatches - half) * sizeof(double);
    if (descriptor.rank == descriptor.secondLossRank)
      pipeline.send(descriptor.lossRank, CollectiveTag, second, bytes);
    if (descriptor.rank == descriptor.lossRank)
      pipeline.recv(descriptor.secondLossRank, CollectiveTag, second, bytes);
  }
}

/// Adds the micro-batches' losses where they are, and tells all ranks.
static void exchangeLoss(PprtContext &context) {
  context.progress.begin(Activity::SumLoss);
  context.synchronize();
  joinLosses(context);
  joinReplicaLosses(context);
  StepResult &result = context.result;
  if (context.ownsLoss())
    context.addLosses();
  double sums[2] = {result.lossSum, result.lossWeight};
  broadcast(context.groups.all, sums, sizeof sums, context.descriptor.lossRank);
  result.lossSum = sums[0];
  result.lossWeight = sums[1];
}

/// Is contribution \p index the first of its rank?
static bool isFirstOfRank(const PprtParameter &parameter, uint32_t index) {
  for (uint32_t i = 0; i < index; ++i)
    if (parameter.contributions[i].rank == parameter.contributions[index].rank)
      return false;
  return true;
}

/// A gradient at \p offset on its way to or from \p peer of the pipeline.
static DeviceMessage makeMessage(PprtContext &context,
                                 const PprtParameter &parameter, uint32_t peer,
                                 uint64_t offset) {
  return {Activity::TiedGradient, DeviceMessage::noChannel,
          /*microbatch=*/0,       context.groups.getPeer(peer),
          TiedGradientTag,        context.device->at(offset),
          parameter.tensor.bytes};
}

static void sendGradient(PprtContext &context, const PprtParameter &parameter,
                         uint32_t peer, uint64_t offset) {
  Device &device = *context.device;
  device.wait(device.startSend(makeMessage(context, parameter, peer, offset)));
}

static void receiveGradient(PprtContext &context,
                            const PprtParameter &parameter, uint32_t peer,
                            uint64_t offset) {
  Device &device = *context.device;
  device.wait(device.startRecv(makeMessage(context, parameter, peer, offset)));
}

/// On the owner: adds the layers' gradients of all replicas, and gives the sum
/// to the others.
static void sumAsOwner(PprtContext &context, uint32_t index) {
  const PprtParameter &parameter = context.descriptor.parameters[index];
  Reals sum = context.getGradient(index);
  uint32_t self = context.descriptor.rank;
  for (uint32_t i = 0; i < parameter.contributionCount; ++i) {
    const PprtContribution &contribution = parameter.contributions[i];
    if (contribution.rank != self)
      receiveGradient(context, parameter, contribution.rank,
                      contribution.offset);
    if (i > 0)
      context.device->add(sum, context.device->at(contribution.offset));
  }
  reduceGradient(context, index);
  for (uint32_t i = 0; i < parameter.contributionCount; ++i)
    if (parameter.contributions[i].rank != self && isFirstOfRank(parameter, i))
      sendGradient(context, parameter, parameter.contributions[i].rank,
                   parameter.gradient);
}

static void sumAsHolder(PprtContext &context, const PprtParameter &parameter) {
  for (uint32_t i = 0; i < parameter.contributionCount; ++i)
    if (parameter.contributions[i].rank == context.descriptor.rank)
      sendGradient(context, parameter, parameter.owner,
                   parameter.contributions[i].offset);
  receiveGradient(context, parameter, parameter.owner, parameter.gradient);
}

/// Makes the gradient of each tied parameter the sum over all its layers.
///
/// Every rank walks its parameters in the order of the model, so no two wait
/// for each other.
static void sumTiedGradients(PprtContext &context) {
  const PprtDescriptor &descriptor = context.descriptor;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    if (!parameter.trainable || parameter.contributionCount < 2)
      continue;
    context.progress.begin(Activity::TiedGradient, i);
    if (parameter.owner == descriptor.rank)
      sumAsOwner(context, i);
    else
      sumAsHolder(context, parameter);
  }
}

/// Makes \p squares those of whole parameters: on each replica, with the same
/// bits, the sums of their shards' in the order of places.
static void joinShards(PprtContext &context, std::vector<double> &squares) {
  Transport &members = *context.groups.members;
  uint64_t bytes = squares.size() * sizeof(double);
  std::vector<double> all(members.getSize() * squares.size());
  gather(members, squares.data(), bytes, all.data());
  broadcast(members, all.data(), members.getSize() * bytes);
  for (size_t i = 0; i < squares.size(); ++i) {
    squares[i] = 0;
    for (size_t at = i; at < all.size(); at += squares.size())
      squares[i] += all[at];
  }
}

/// Computes the parts of the parameters that this rank counts.
static void computeNormParts(PprtContext &context) {
  context.normParts.clear();
  const PprtDescriptor &descriptor = context.descriptor;
  std::vector<Reals> gradients;
  std::vector<size_t> shards; ///< which of them are not whole
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    if (!parameter.trainable || parameter.owner != descriptor.rank)
      continue;
    if (parameter.shards > 1)
      shards.push_back(gradients.size());
    gradients.push_back(context.getGradient(i));
    context.normParts.push_back({parameter.order, 0});
  }
  std::vector<double> sums(gradients.size());
  context.device->sumSquares(gradients, sums.data());
  for (size_t i = 0; i < sums.size(); ++i)
    context.normParts[i].squares = sums[i];
  if (shards.empty())
    return;
  std::vector<double> squares;
  for (size_t shard : shards)
    squares.push_back(sums[shard]);
  joinShards(context, squares);
  for (size_t i = 0; i < shards.size(); ++i)
    context.normParts[shards[i]].squares = squares[i];
}

/// Rank 0 gets the parts of all ranks of the pipeline, in the order of the
/// parameters.
static void gatherNormParts(PprtContext &context) {
  Transport &transport = *context.groups.pipeline;
  std::vector<NormPart> &parts = context.normParts;
  uint64_t count = parts.size();
  if (transport.getRank() != 0) {
    transport.send(0, CollectiveTag, &count, sizeof count);
    transport.send(0, CollectiveTag, parts.data(), count * sizeof(NormPart));
    return;
  }
  for (uint32_t rank = 1; rank < transport.getSize(); ++rank) {
    transport.recv(rank, CollectiveTag, &count, sizeof count);
    size_t begin = parts.size();
    parts.resize(begin + count);
    transport.recv(rank, CollectiveTag, parts.data() + begin,
                   count * sizeof(NormPart));
  }
  std::sort(
      parts.begin(), parts.end(),
      [](const NormPart &a, const NormPart &b) { return a.order < b.order; });
}

/// The norm of all gradients of the model, each parameter counted once.
static double computeGradientNorm(PprtContext &context, double scale) {
  context.progress.begin(Activity::GradientNorm);
  computeNormParts(context);
  gatherNormParts(context);
  double sum = 0;
  for (const NormPart &part : context.normParts)
    sum += part.squares;
  double norm = std::sqrt(sum) * scale;
  broadcast(*context.groups.pipeline, &norm, sizeof norm);
  return norm;
}

static UpdateRule getRule(const PprtContext &context, double scale) {
  const RankOptions &options = context.options;
  return {static_cast<PprtOptimizer>(context.descriptor.optimizer),
          context.result.learningRate,
          scale,
          options.momentum.value_or(0),
          options.beta1.value_or(0.9),
          options.beta2.value_or(0.999),
          options.epsilon.value_or(1e-8),
          context.updates};
}

static void updateParameters(PprtContext &context, double scale) {
  context.progress.begin(Activity::Update);
  ++context.updates;
  const PprtDescriptor &descriptor = context.descriptor;
  const RankOptions &options = context.options;
  Device &device = *context.device;
  bool adam = descriptor.optimizer == PPRT_ADAMW;
  double weightDecay = options.weightDecay.value_or(adam ? 0.01 : 0);
  std::vector<ParameterUpdate> updates;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    if (!parameter.trainable)
      continue;
    bool spared = options.noDecay1d && !parameter.decayed;
    updates.push_back(
        {context.getReals(parameter, parameter.offset),
         device.at(parameter.gradient),
         {device.at(parameter.state[0]), device.at(parameter.state[1])},
         spared ? 0 : weightDecay});
  }
  device.update(getRule(context, scale), updates);
}

void pprtUpdate(PprtContext *context) {
  context->delay.wait();
  TraceScope scope(context->trace, Activity::Update);
  StepResult &result = context->result;
  exchangeLoss(*context);
  sumTiedGradients(*context);
  finishReductions(*context);
  // The gradients are of the scaled sum over all items. Without any item they
  // are zero, and the loss is not a number.
  double scale =
      result.lossWeight > 0 ? 1 / result.lossWeight / result.lossScale : 0;
  result.gradientNorm = computeGradientNorm(*context, scale);
  double limit = context->options.clipGradNorm;
  if (limit > 0)
    scale *= std::min(1.0, limit / (result.gradientNorm + 1e-6));
  bool overflowed = !std::isfinite(result.gradientNorm);
  bool broken = overflowed || !std::isfinite(result.getLoss());
  const RankOptions &options = context->options;
  // All ranks see the same numbers, whichever of them made the bad one, and
  // stop or go on alike, with the weights before.
  result.skipped = (broken && (options.failOnNan || options.skipNan)) ||
                   (overflowed && options.lossScale.dynamic);
  if (!result.skipped)
    updateParameters(*context, scale);
  result.lowersScale = overflowed && context->lossScale.canFall();
  context->lossScale.update(overflowed);
}
