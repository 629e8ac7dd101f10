//===- WhatIf.cpp - How a plan fares on another machine
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/WhatIf.h"

#include "pipewright/Plan/StepLosses.h"
#include "pipewright/Schedule/Orders.h"
#include "pipewright/Schedule/Recomputation.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Judging
//===----------------------------------------------------------------------===//

std::string JudgedStep::describeLimit() const {
  double longest = std::max({computingSeconds, messageSeconds, waitingSeconds});
  if (computingSeconds == longest)
    return formatv("rank {0} computes", busiestRank).str();
  return messageSeconds == longest ? "messages" : "filling and draining";
}

static double getMakespanWithoutMessages(const StepModel &model) {
  return simulate(model.schedule, freeLinks(model.costs)).makespan;
}

JudgedStep pipewright::judgeStep(const StepModel &model) {
  Metrics metrics =
      measure(model.schedule, simulate(model.schedule, model.costs));
  JudgedStep step;
  step.updateSeconds = model.updateSeconds;
  step.seconds = metrics.makespan + model.updateSeconds;
  step.samplesPerSecond =
      model.schedule.getShape().microbatches * model.samples / step.seconds;
  for (auto [rank, idle] : enumerate(metrics.idle)) {
    double busy = metrics.makespan - idle;
    if (busy <= step.computingSeconds)
      continue;
    step.computingSeconds = busy;
    step.busiestRank = rank;
  }
  // Sums in another order: it may be below 0 by rounding.
  step.messageSeconds =
      std::max(0.0, metrics.makespan - getMakespanWithoutMessages(model));
  step.waitingSeconds =
      metrics.makespan - step.messageSeconds - step.computingSeconds;
  return step;
}

//===----------------------------------------------------------------------===//
// Changing
//===----------------------------------------------------------------------===//

namespace {
/// A value that replaces another, or multiplies it.
struct NewValue {
  double number = 0;
  bool isFactor = false;

  double apply(double old) const { return isFactor ? old * number : number; }
};

class Changer {
public:
  explicit Changer(StepModel &model) : model(model) {}

  Error change(StringRef key, const NewValue &value);

private:
  Error changeLink(StringRef key, const NewValue &value);
  Error changeTopology(StringRef link, bool isLatency, const NewValue &value);
  Error changeRank(StringRef key, const NewValue &value);
  Error changeMicrobatches(const NewValue &value);
  Expected<Schedule> rebuild(int64_t microbatches) const;

  StepModel &model;
};
} // namespace

Error Changer::changeTopology(StringRef link, bool isLatency,
                              const NewValue &value) {
  const RankLinks &links = *model.costs.machine.links;
  Topology topology = links.getTopology();
  bool isFound = false;
  for (LinkClass &candidate : topology.getLinks()) {
    if (!link.empty() && candidate.name != link)
      continue;
    isFound = true;
    double &figure =
        isLatency ? candidate.latencySeconds : candidate.bytesPerSecond;
    figure = value.apply(figure);
  }
  if (!isFound)
    return createStringError("the topology '" + topology.name +
                             "' has no link '" + link + "'");
  model.costs.machine.links = std::make_shared<RankLinks>(
      std::move(topology), links.getDevices().vec());
  return Error::success();
}

Error Changer::changeLink(StringRef key, const NewValue &value) {
  auto [link, figure] = key.rsplit('.');
  if (figure.empty())
    std::swap(link, figure);
  bool isLatency = figure == "latency";
  if (!isLatency && figure != "bandwidth")
    return createStringError("a link has a latency and a bandwidth");
  if (model.costs.machine.links)
    return changeTopology(link, isLatency, value);
  if (!link.empty())
    return createStringError("only the links of a topology have names");
  double &number =
      isLatency ? model.costs.latency : model.costs.machine.bandwidth;
  if (value.isFactor && number == 0)
    return createStringError("messages take no time in this plan; build it "
                             "with a profile or a topology, or give a number");
  number = value.apply(number);
  return Error::success();
}

Error Changer::changeRank(StringRef key, const NewValue &value) {
  auto [number, figure] = key.split('.');
  int64_t rank, ranks = model.schedule.getRanks();
  if (number.getAsInteger(10, rank) || rank < 0 || rank >= ranks)
    return createStringError("expected a rank from 0 to " + Twine(ranks - 1));
  if (figure != "speed")
    return createStringError("a rank has a speed");
  std::vector<double> &factors = model.costs.machine.rankFactors;
  factors.resize(ranks, 1);
  factors[rank] /= value.number;
  return Error::success();
}

/// The same schedule for another number of micro-batches.
Expected<Schedule> Changer::rebuild(int64_t microbatches) const {
  const Schedule &old = model.schedule;
  ScheduleShape shape = old.getShape();
  shape.microbatches = microbatches;
  if (old.isForwardOnly())
    return buildForwardOnly(shape, old.getPlacement());
  const ScheduleInfo *info = ScheduleRegistry::get().lookup(old.getName());
  if (!info || info->isSearch)
    return createStringError(
        "the order of schedule '" + old.getName() + "' is known for " +
        Twine(old.getShape().microbatches) + " micro-batches only");
  Expected<Schedule> schedule = buildSchedule(old.getName(), shape);
  if (!schedule)
    return schedule;
  if (schedule->getPlacement() != old.getPlacement())
    return createStringError("schedule '" + old.getName() +
                             "' has its stages on other ranks for " +
                             Twine(microbatches) + " micro-batches");
  std::vector<bool> recomputes(old.getStages());
  for (int64_t rank = 0; rank < old.getRanks(); ++rank)
    for (const Action &action : old.getActions(rank))
      if (action.kind == ActionKind::R)
        recomputes[action.stage] = true;
  if (!is_contained(recomputes, true))
    return schedule;
  return addRecomputation(*schedule, recomputes);
}

Error Changer::changeMicrobatches(const NewValue &value) {
  double count = value.apply(model.schedule.getShape().microbatches);
  if (count != std::floor(count) || count < 1 || count > maxWork)
    return createStringError("there cannot be " +
                             Twine(formatv("{0}", count).str()) +
                             " micro-batches");
  Expected<Schedule> schedule = rebuild(static_cast<int64_t>(count));
  if (!schedule)
    return schedule.takeError();
  model.schedule = std::move(*schedule);
  return Error::success();
}

Error Changer::change(StringRef key, const NewValue &value) {
  if (key == "microbatches")
    return changeMicrobatches(value);
  if (key == "overhead") {
    double &overhead = model.costs.machine.overhead;
    overhead = value.apply(overhead);
    return Error::success();
  }
  if (key.consume_front("link."))
    return changeLink(key, value);
  if (key.consume_front("rank."))
    return changeRank(key, value);
  return createStringError("expected link.latency, link.bandwidth, "
                           "rank.N.speed, microbatches or overhead");
}

static Expected<NewValue> parseValue(StringRef text) {
  NewValue value;
  value.isFactor = text.consume_front("x");
  // Beyond what any machine has; sums of such times are still finite.
  constexpr double least = 1e-18, most = 1e18;
  if (!text.getAsDouble(value.number) && value.number >= least &&
      value.number <= most)
    return value;
  return createStringError("expected '=' and a number above 0, after an 'x' if "
                           "it multiplies what there is");
}

Expected<StepModel> pipewright::applyChanges(StepModel model,
                                             ArrayRef<std::string> changes) {
  Changer changer(model);
  for (StringRef change : changes) {
    auto [key, text] = change.split('=');
    Expected<NewValue> value = parseValue(text);
    Error error = value ? changer.change(key, *value) : value.takeError();
    if (error)
      return createStringError("'" + change +
                               "': " + toString(std::move(error)));
  }
  return model;
}

//===----------------------------------------------------------------------===//
// What is usual
//===----------------------------------------------------------------------===//

static int64_t countActions(const Schedule &schedule) {
  int64_t actions = 0;
  for (int64_t rank = 0; rank < schedule.getRanks(); ++rank)
    actions += schedule.getActions(rank).size();
  return actions;
}

static std::string slowDown(int64_t rank) {
  return formatv("rank.{0}.speed=x0.8", rank).str();
}

/// The rank that costs most if it is slower: of all if they can be tried in a
/// few seconds, else the busiest one.
static int64_t findWorstRank(const StepModel &model) {
  constexpr int64_t mostActions = 20'000'000;
  int64_t ranks = model.schedule.getRanks();
  int64_t worst = judgeStep(model).busiestRank;
  if (countActions(model.schedule) > mostActions / ranks)
    return worst;
  double longest = 0;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    StepModel slow = cantFail(applyChanges(model, slowDown(rank)));
    double makespan = simulate(slow.schedule, slow.costs).makespan;
    // Ranks that matter alike differ by rounding: the first of them counts.
    if (makespan <= longest * (1 + 1e-9))
      continue;
    longest = makespan;
    worst = rank;
  }
  return worst;
}

std::vector<std::string> pipewright::listUsualChanges(const StepModel &model) {
  std::vector<std::string> changes;
  for (StringRef change : {"link.bandwidth=x0.5", "link.latency=x2"})
    if (model.schedule.getRanks() > 1)
      changes.push_back(change.str());
  changes.push_back(slowDown(findWorstRank(model)));
  changes.push_back("microbatches=x0.5");
  llvm::erase_if(changes, [&](const std::string &change) {
    Expected<StepModel> changed = applyChanges(model, change);
    if (changed)
      return false;
    consumeError(changed.takeError());
    return true;
  });
  return changes;
}
