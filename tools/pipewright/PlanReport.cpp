//===- PlanReport.cpp - What a search for plans found
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanReport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static void printRow(size_t number, const PlanCandidate &plan) {
  const BuildOptions &options = plan.options;
  std::string ranks = plan.replicas == 1
                          ? std::to_string(options.ranks)
                          : formatv("{0} x {1}", plan.replicas, options.ranks);
  std::string cut =
      formatv("{0} x {1}", options.microbatches, *options.microbatchSize);
  std::string peak = formatBytes(plan.peakBytes);
  outs() << formatv(
      "{0,3} {1,-20}{2,8}{3,7}{4,14}{5,10}{6,12}{7,13:F1}{8,8:P1}{9,8:P1}"
      "{10,11}{11,12}   {12} on {13}\n",
      number, options.schedule, ranks, options.chunks, cut,
      plan.describeRemat(), formatSeconds(plan.stepSeconds),
      plan.getTokensPerSecond(), plan.flopsUse, plan.bubbleRatio,
      formatSeconds(plan.losses.links), plan.isPlanned ? peak : "~" + peak,
      plan.slowestStage, plan.slowestRank);
}

static void printTable(ArrayRef<PlanCandidate> plans) {
  outs() << formatv("    {0,-20}{1,8}{2,7}{3,14}{4,10}{5,12}{6,13}{7,8}{8,8}"
                    "{9,11}{10,12}   {11}\n",
                    "schedule", "ranks", "chunks", "micro-batches", "remat",
                    "step", "tokens/s", "FLOPs", "bubble", "messages", "peak",
                    "slowest stage");
  for (auto [i, plan] : enumerate(plans))
    printRow(i + 1, plan);
}

/// How the ranks of \p plan spend a step.
static void printLosses(const PlanCandidate &plan) {
  const StepLosses &losses = plan.losses;
  outs() << formatv("\na step of {0}:\n", formatSeconds(plan.stepSeconds));
  for (auto [seconds, what] :
       {std::pair(losses.work, "computing, if evenly spread"),
        {losses.recompute, "computing again what was not kept"},
        {losses.imbalance, "waiting for slower stages"},
        {losses.links, "waiting for messages"},
        {losses.fillAndDrain, "filling and draining the pipeline"},
        {losses.update, "updating parameters"}})
    outs() << formatv("{0,12}{1,8:P1}  {2}\n", formatSeconds(seconds),
                      seconds / plan.stepSeconds, what);
  outs() << formatv("the slowest stage, {0} on rank {1}, has {2}\n",
                    plan.slowestStage, plan.slowestRank,
                    join(plan.slowestLayers, ", "));
}

static void printChanges(ArrayRef<PlanChange> changes) {
  for (const PlanChange &change : changes)
    outs() << formatv("{0} would save {1:P1} of the time for a sample\n",
                      change.what, change.gain);
}

/// Says where another way to train is likely to be better.
static void advise(const PlanSearch &search, int64_t limit) {
  const PlanCandidate &first = search.plans.front();
  if (search.single && limit > 0)
    outs() << formatv("one rank alone would need {0} and fits\n",
                      formatBytes(search.single->peakBytes));
  if (search.single && search.single->stepSeconds <= first.stepSeconds)
    outs() << formatv("one rank alone is as fast: it takes {0} for a step\n",
                      formatSeconds(search.single->stepSeconds));
  if (search.parallel && search.parallel->stepSeconds < first.stepSeconds)
    outs() << formatv("data parallelism would be faster: {0} ranks that each "
                      "have the whole model take {1} for a step\n",
                      search.parallel->replicas,
                      formatSeconds(search.parallel->stepSeconds));
}

void pipewright::printPlans(const PlanSearch &search,
                            const BuildOptions &options, bool explains) {
  printTable(search.plans);
  if (explains) {
    printLosses(search.plans.front());
    printChanges(search.changes);
  }
  outs() << '\n';
  advise(search, options.memory);
  outs() << formatv("{0} combinations simulated, {1} planned\n",
                    search.simulated, search.planned);
}

//===----------------------------------------------------------------------===//
// For programs
//===----------------------------------------------------------------------===//

static json::Object toJSON(const StepLosses &losses) {
  return json::Object{{"work", losses.work},
                      {"recompute", losses.recompute},
                      {"imbalance", losses.imbalance},
                      {"messages", losses.links},
                      {"fill_and_drain", losses.fillAndDrain},
                      {"update", losses.update}};
}

static json::Object toJSON(const PlanCandidate &plan) {
  const BuildOptions &options = plan.options;
  return json::Object{
      {"schedule", options.schedule},
      {"dp", plan.replicas},
      {"ep", options.peers},
      {"ranks", options.ranks},
      {"chunks", options.chunks},
      {"microbatches", options.microbatches},
      {"microbatch_size", *options.microbatchSize},
      {"split_at", json::Array(options.splitAt)},
      {"remat", plan.describeRemat()},
      {"layer_remats", json::Array(options.needs.layerRemats)},
      {"step_seconds", plan.stepSeconds},
      {"samples_per_second", plan.getSamplesPerSecond()},
      {"tokens_per_second", plan.getTokensPerSecond()},
      {"flops_use", plan.flopsUse},
      {"bubble_ratio", plan.bubbleRatio},
      {"peak_bytes", plan.peakBytes},
      {"peak_is_exact", plan.isPlanned},
      {"seconds", toJSON(plan.losses)},
      {"slowest_stage",
       json::Object{{"stage", plan.slowestStage},
                    {"rank", plan.slowestRank},
                    {"layers", json::Array(plan.slowestLayers)}}}};
}

void pipewright::printPlansAsJson(const PlanSearch &search,
                                  const BuildOptions &options) {
  json::Array plans, changes;
  for (const PlanCandidate &plan : search.plans)
    plans.push_back(toJSON(plan));
  for (const PlanChange &change : search.changes)
    changes.push_back(
        json::Object{{"what", change.what}, {"gain", change.gain}});
  json::Object object{
      {"model", options.model},
      {"device", options.device},
      {"memory_limit", options.memory},
      {"simulated", int64_t(search.simulated)},
      {"planned", int64_t(search.planned)},
      {"plans", std::move(plans)},
      {"changes", std::move(changes)},
  };
  if (search.single)
    object["one_rank"] = toJSON(*search.single);
  if (search.parallel)
    object["data_parallel"] = toJSON(*search.parallel);
  outs() << formatv("{0:2}", json::Value(std::move(object))) << '\n';
}
