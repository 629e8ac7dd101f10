//===- Update.cpp - The end of a training step ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every sum has one order, whatever the number of ranks: losses that of the
// micro-batches, tied gradients that of the layers, the norm that of the
// model's parameters.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Optimizers.h"
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
  uint32_t half = descriptor.microbatches / 2;
  for (std::vector<double> *losses :
       {&context.lossSums, &context.lossWeights}) {
    double *second = losses->data() + half;
    uint64_t bytes = (descriptor.microbatches - half) * sizeof(double);
    if (descriptor.rank == descriptor.secondLossRank)
      context.transport.send(descriptor.lossRank, CollectiveTag, second, bytes);
    if (descriptor.rank == descriptor.lossRank)
      context.transport.recv(descriptor.secondLossRank, CollectiveTag, second,
                             bytes);
  }
}

/// Adds the micro-batches' losses where they are, and tells all ranks.
static void exchangeLoss(PprtContext &context) {
  context.progress.begin(Activity::SumLoss);
  joinLosses(context);
  double sums[2] = {0, 0};
  if (context.ownsLoss()) {
    for (uint32_t i = 0; i < context.descriptor.microbatches; ++i) {
      sums[0] += context.lossSums[i];
      sums[1] += context.lossWeights[i];
    }
  }
  broadcast(context.transport, sums, sizeof sums, context.descriptor.lossRank);
  context.result.lossSum = sums[0];
  context.result.lossWeight = sums[1];
}

/// Calls \p visit with a zero of the type of the parameter's elements, and how
/// many these are.
template <typename VisitT>
static void visitReals(const PprtParameter &parameter, VisitT visit) {
  if (parameter.tensor.dtype == PPRT_F64)
    visit(double(), parameter.tensor.bytes / sizeof(double));
  else
    visit(float(), parameter.tensor.bytes / sizeof(float));
}

/// Is contribution \p index the first of its rank?
static bool isFirstOfRank(const PprtParameter &parameter, uint32_t index) {
  for (uint32_t i = 0; i < index; ++i)
    if (parameter.contributions[i].rank == parameter.contributions[index].rank)
      return false;
  return true;
}

/// On the owner: adds the layers' gradients, and gives the sum to the others.
static void sumAsOwner(PprtContext &context, const PprtParameter &parameter) {
  Transport &transport = context.transport;
  uint64_t bytes = parameter.tensor.bytes;
  uint32_t self = context.descriptor.rank;
  for (uint32_t i = 0; i < parameter.contributionCount; ++i) {
    const PprtContribution &contribution = parameter.contributions[i];
    if (contribution.rank != self)
      transport.recv(contribution.rank, TiedGradientTag,
                     context.arena.at(contribution.offset), bytes);
    if (i == 0)
      continue;
    visitReals(parameter, [&](auto zero, int64_t count) {
      using RealTy = decltype(zero);
      addTo<RealTy>(context.arena.realsAt<RealTy>(parameter.gradient),
                    context.arena.realsAt<RealTy>(contribution.offset), count);
    });
  }
  for (uint32_t i = 0; i < parameter.contributionCount; ++i)
    if (parameter.contributions[i].rank != self && isFirstOfRank(parameter, i))
      transport.send(parameter.contributions[i].rank, TiedGradientTag,
                     context.arena.at(parameter.gradient), bytes);
}

static void sumAsHolder(PprtContext &context, const PprtParameter &parameter) {
  for (uint32_t i = 0; i < parameter.contributionCount; ++i)
    if (parameter.contributions[i].rank == context.descriptor.rank)
      context.transport.send(
          parameter.owner, TiedGradientTag,
          context.arena.at(parameter.contributions[i].offset),
          parameter.tensor.bytes);
  context.transport.recv(parameter.owner, TiedGradientTag,
                         context.arena.at(parameter.gradient),
                         parameter.tensor.bytes);
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
      sumAsOwner(context, parameter);
    else
      sumAsHolder(context, parameter);
  }
}

/// Computes the parts of the parameters that this rank counts.
static void computeNormParts(PprtContext &context) {
  context.normParts.clear();
  const PprtDescriptor &descriptor = context.descriptor;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    if (!parameter.trainable || parameter.owner != descriptor.rank)
      continue;
    visitReals(parameter, [&](auto zero, int64_t count) {
      auto *gradient =
          context.arena.realsAt<decltype(zero)>(parameter.gradient);
      context.normParts.push_back(
          {parameter.order, sumSquares(gradient, count)});
    });
  }
}

/// Rank 0 gets the parts of all ranks, in the order of the parameters.
static void gatherNormParts(PprtContext &context) {
  Transport &transport = context.transport;
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
  broadcast(context.transport, &norm, sizeof norm);
  return norm;
}

/// One update of \p count numbers of type RealTy.
template <typename RealTy>
static void updateParameter(PprtContext &context,
                            const PprtParameter &parameter, double scale,
                            double decay, int64_t count) {
  const RankOptions &options = context.options;
  double rate = context.result.learningRate;
  RealTy *value = context.arena.realsAt<RealTy>(parameter.offset);
  RealTy *gradient = context.arena.realsAt<RealTy>(parameter.gradient);
  RealTy *first = context.arena.realsAt<RealTy>(parameter.state[0]);
  if (context.descriptor.optimizer == PPRT_ADAMW) {
    AdamW<RealTy> rule(
        rate, options.beta1.value_or(0.9), options.beta2.value_or(0.999),
        options.epsilon.value_or(1e-8), decay, scale, context.updates);
    rule.update(value, gradient, first,
                context.arena.realsAt<RealTy>(parameter.state[1]), count);
    return;
  }
  Sgd<RealTy> rule = {RealTy(rate), RealTy(options.momentum.value_or(0)),
                      RealTy(decay), RealTy(scale)};
  rule.update(value, gradient, first, count);
}

static void updateParameters(PprtContext &context, double scale) {
  context.progress.begin(Activity::Update);
  ++context.updates;
  const PprtDescriptor &descriptor = context.descriptor;
  const RankOptions &options = context.options;
  bool adam = descriptor.optimizer == PPRT_ADAMW;
  double weightDecay = options.weightDecay.value_or(adam ? 0.01 : 0);
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    const PprtParameter &parameter = descriptor.parameters[i];
    if (!parameter.trainable)
      continue;
    bool spared = options.noDecay1d && !parameter.decayed;
    visitReals(parameter, [&](auto zero, int64_t count) {
      updateParameter<decltype(zero)>(context, parameter, scale,
                                      spared ? 0 : weightDecay, count);
    });
  }
}

void pprtUpdate(PprtContext *context) {
  context->delay.wait();
  TraceScope scope(context->trace, Activity::Update);
  StepResult &result = context->result;
  exchangeLoss(*context);
  sumTiedGradients(*context);
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
