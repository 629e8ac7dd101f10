//===- Loop.cpp - The steps of a run --------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loop.h"
#include "Threads.h"
#include "Weights.h"
#include "data/WriteFile.h"
#include "launch/Collectives.h"
#include "log/MemoryReport.h"
#include "log/StepLog.h"

#include <cmath>

using namespace pprt;

/// DIR/weights.safetensors, for an executable DIR/bin/rank-NNN.
static std::string findWeights() {
  std::string folder = getProgramFolder();
  folder.resize(std::min(folder.rfind('/'), folder.size()));
  return folder + "/weights.safetensors";
}

static Status openData(PprtContext &context) {
  const PprtDescriptor &descriptor = context.descriptor;
  std::vector<InputSpec> inputs;
  for (uint32_t i = 0; i < descriptor.inputCount; ++i)
    inputs.push_back(makeInputSpec(descriptor.inputs[i]));
  BatchShape batch = {descriptor.dataParallel * descriptor.microbatches,
                      descriptor.microbatchSize};
  if (Status status =
          Dataset::open(context.options.data, inputs, batch, context.dataset);
      status.failed())
    return status;
  return context.dataset->validate(context.options.steps);
}

/// Nobody shall train for days to learn that the result has no place.
static Status checkFiles(const RankOptions &options) {
  for (const std::string &path :
       {options.saveParameters, options.traceFile, options.reportFile})
    if (!path.empty())
      if (Status status = checkWritable(path); status.failed())
        return status;
  return Status();
}

/// What can fail on one rank alone.
static Status prepareRank(PprtContext &context, StepLog &log) {
  const RankOptions &options = context.options;
  const PprtDescriptor &descriptor = context.descriptor;
  if (!options.saveOutputs.empty() && !context.eval)
    return Status::error(ExitCode::Usage,
                         "option '--save-outputs' needs '--eval' or a build "
                         "with --forward-only");
  if (context.groups.all.getRank() == 0)
    if (Status status = checkFiles(options); status.failed())
      return status;
  if (Status status = openData(context); status.failed())
    return status;
  if (Status status = context.device->start(); status.failed())
    return status;
  if (Status status =
          loadWeights(options.weights.empty() ? findWeights() : options.weights,
                      descriptor, context.groups.getPlace(), *context.device);
      status.failed())
    return status;
  if (!options.saveOutputs.empty() && context.groups.getReplica() == 0)
    if (Status status = OutputWriter::create(
            options.saveOutputs, descriptor,
            options.steps * descriptor.dataParallel * descriptor.microbatches,
            context.outputs);
        status.failed())
      return status;
  if (context.speaks())
    return log.open(options.logFormat, options.logFile);
  return Status();
}

/// All ranks must see the same number of samples, or labels would be paired
/// with other inputs.
static Status compareSampleCounts(PprtContext &context) {
  Transport &transport = context.groups.all;
  int64_t mine = context.dataset->getSampleCount();
  std::vector<int64_t> counts(transport.getSize());
  gather(transport, &mine, sizeof mine, counts.data());
  Status status;
  int64_t known = -1;
  for (uint32_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] < 0 || counts[rank] == known)
      continue;
    if (known >= 0)
      status = Status::dataError("rank " + std::to_string(rank) + " has " +
                                 std::to_string(counts[rank]) +
                                 " samples, a rank before it has " +
                                 std::to_string(known));
    known = counts[rank];
  }
  return agree(transport, transport.getRank() == 0 ? status : Status());
}

/// The items that a step is measured in: labels, or else the elements of the
/// first input of integers, or else samples.
static int64_t countTokens(const PprtDescriptor &descriptor) {
  const PprtInput *counted = nullptr;
  for (uint32_t i = 0; i < descriptor.inputCount; ++i) {
    const PprtInput &input = descriptor.inputs[i];
    bool integers = input.tensor.dtype >= PPRT_I8 &&
                    input.tensor.dtype <= PPRT_I64 && input.axis >= 0;
    if (input.labelClasses != 0 || (integers && !counted))
      counted = &input;
  }
  int64_t count = descriptor.microbatchSize;
  if (counted)
    count = counted->tensor.bytes /
            getElementBytes(static_cast<PprtDtype>(counted->tensor.dtype));
  return count * descriptor.microbatches * descriptor.dataParallel;
}

static void runStep(PprtContext &context, int64_t number) {
  const RankOptions &options = context.options;
  context.beginStep(number);
  context.result.learningRate = getLearningRate(
      options.schedule, options.learningRate, number, options.steps);
  if (context.eval) {
    context.descriptor.eval(&context);
  } else {
    context.descriptor.step(&context);
  }
  context.finishMessages();
  context.synchronize();
  joinReplicaOutputs(context);
  if (!context.eval)
    return;
  joinReplicaLosses(context);
  if (context.ownsLoss())
    context.addLosses();
}

static void logStep(const PprtContext &context, StepLog &log, double seconds,
                    int64_t tokens) {
  if (!context.speaks())
    return;
  StepRecord record = {};
  record.step = context.step;
  record.steps = context.options.steps;
  record.hasLoss = context.ownsLoss();
  record.loss = record.hasLoss ? context.result.getLoss() : 0;
  record.hasWideLoss =
      record.hasLoss && context.lossSum->bytes == sizeof(double);
  record.trained = !context.eval;
  record.gradientNorm = context.result.gradientNorm;
  record.learningRate = context.result.learningRate;
  if (record.trained && context.options.lossScale.isUsed())
    record.lossScale = context.result.lossScale;
  record.skipped = context.result.skipped;
  record.seconds = seconds;
  record.tokensPerSecond = tokens / seconds;
  log.write(record);
}

/// Fails, on all ranks alike, if the step's numbers are not finite and the
/// user wants to know.
static Status checkNumbers(PprtContext &context) {
  if (!context.options.failOnNan)
    return Status();
  const StepResult &result = context.result;
  const char *broken = nullptr;
  // After an update the loss is known everywhere.
  bool knowsLoss = context.ownsLoss() || !context.eval;
  if (knowsLoss && !std::isfinite(result.getLoss()))
    broken = "the loss";
  else if (!std::isfinite(result.gradientNorm) && !result.lowersScale)
    broken = "the gradient norm";
  Status mine;
  if (broken)
    mine = Status::error(ExitCode::Numeric, std::string(broken) +
                                                " is not finite in step " +
                                                std::to_string(context.step));
  return agree(context.groups.all, mine);
}

/// Writes what was asked for at the end.
static Status finishRun(PprtContext &context,
                        const std::vector<MemoryUse> &memory) {
  const RankOptions &options = context.options;
  context.progress.begin(Activity::Finish);
  Status status;
  if (context.outputs)
    status = context.outputs->finish();
  Transport &all = context.groups.all;
  if (all.getRank() == 0 && !options.reportFile.empty() && !status.failed())
    status = writeFile(options.reportFile, formatMemoryJson(memory));
  if (status = agree(all, status); status.failed())
    return status;
  // The other groups have the same parameters, and the other pipelines times
  // like these.
  RankGroups &groups = context.groups;
  if (!options.saveParameters.empty() && groups.getGroup() == 0)
    status = saveParameters(options.saveParameters, context.descriptor,
                            groups.getPlace(), *context.device, *groups.group);
  if (!options.traceFile.empty() && groups.getReplica() == 0 &&
      !status.failed())
    status = context.trace.write(options.traceFile, *groups.pipeline,
                                 context.descriptor);
  return agree(all, status);
}

Status pprt::runSteps(PprtContext &context) {
  StepLog log;
  Transport &transport = context.groups.all;
  if (Status status = agree(transport, prepareRank(context, log));
      status.failed())
    return status;
  if (Status status = agree(transport, context.device->connect());
      status.failed())
    return status;
  if (Status status = compareSampleCounts(context); status.failed())
    return status;
  std::vector<MemoryUse> memory =
      exchangeMemory(transport, measureMemory(context.descriptor));
  if (context.speaks())
    log.writeText(formatMemoryTable(memory));
  if (!context.options.traceFile.empty())
    context.trace.enable();

  int64_t tokens = countTokens(context.descriptor);
  for (int64_t step = 1; step <= context.options.steps; ++step) {
    int64_t begin = getMonotonicTime();
    runStep(context, step);
    logStep(context, log, (getMonotonicTime() - begin) / 1e9, tokens);
    if (Status status = checkNumbers(context); status.failed())
      return status;
  }
  if (Status status = finishRun(context, memory); status.failed())
    return status;
  return agree(transport, log.finish());
}
