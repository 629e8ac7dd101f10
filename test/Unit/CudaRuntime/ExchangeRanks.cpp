//===- ExchangeRanks.cpp - Ranks that exchange rows -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExchangeRanks.h"
#include "Stream.h"
#include "launch/Collectives.h"

#include <cstring>
#include <gtest/gtest.h>
#include <thread>

using namespace pprt;
using namespace pprt::cuda;

static constexpr uint32_t microbatches = ExchangeModel::microbatches;
static constexpr uint32_t numbers = ExchangeModel::numbers;

/// (to, from, bytes)
static void copyTask(void *const *pointers) {
  const ComputeStream &compute = getComputeStream();
  if (compute.preparing)
    return;
  check(cudaMemcpyAsync(pointers[0], pointers[1],
                        *static_cast<uint64_t *>(pointers[2]),
                        cudaMemcpyDeviceToDevice, compute.stream),
        "cannot copy");
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

ExchangeModel::ExchangeModel(const Ranks &ranks, uint32_t rank) {
  uint64_t end = 0;
  auto place = [&](uint64_t &offset, uint64_t bytes) {
    offset = end;
    end += (bytes + 63) / 64 * 64;
  };
  uint64_t bytes = ranks.peers * numbers * sizeof(int32_t);
  for (uint64_t &offset : own)
    place(offset, bytes);
  for (uint64_t &offset : kept)
    place(offset, bytes);
  place(other, bytes);
  for (uint64_t *offsets : {ownGradients, gradients, keptSums})
    for (Gradient gradient : {Whole, Shard})
      place(offsets[gradient], numbers * sizeof(float));
  uint64_t messagesBegin = end;
  for (uint64_t *offsets : {sent, received})
    for (uint32_t i = 0; i < microbatches; ++i)
      place(offsets[i], bytes);

  exchange = {"x.0.0", 0, 0, bytes / ranks.peers, 0, 0};
  for (Gradient gradient : {Whole, Shard}) {
    PprtParameter &parameter = parameters[gradient];
    parameter.tensor = {"w", PPRT_F32, 1, nullptr, numbers * sizeof(float)};
    parameter.trainable = 1;
    parameter.owner = rank;
    parameter.contributionCount = 1;
    parameter.shards = gradient == Shard ? ranks.peers : 1;
  }
  static const PprtContribution contribution = {};
  for (PprtParameter &parameter : parameters)
    parameter.contributions = &contribution;
  for (PprtTask &task : tasks)
    task = {"copy", PPRT_ROLE_F, 0, copyTask, 0, nullptr};

  bool hasExperts = rank + 1 == ranks.ranks;
  descriptor.rank = rank;
  descriptor.ranks = ranks.ranks;
  descriptor.dataParallel = ranks.replicas;
  descriptor.expertParallel = ranks.peers;
  descriptor.microbatches = microbatches;
  descriptor.arenaBytes = end;
  descriptor.messageBytes = end - messagesBegin;
  descriptor.parameterCount = hasExperts ? 2 : 1;
  descriptor.parameters = parameters;
  descriptor.exchangeCount = hasExperts;
  descriptor.exchanges = &exchange;
  descriptor.taskCount = std::size(tasks);
  descriptor.tasks = tasks;
}

//===----------------------------------------------------------------------===//
// A rank
//===----------------------------------------------------------------------===//

static int32_t makeNumber(int32_t step, uint32_t source, uint32_t target,
                          uint32_t microbatch, uint32_t index) {
  return (((step * 10 + source) * 10 + target) * 10 + microbatch) * 10 + index;
}

static float makeGradient(int32_t step, uint32_t replica, uint32_t index) {
  return static_cast<float>(step * 100 + (1 << replica) + index);
}

ExchangeRank::ExchangeRank(const Ranks &ranks, const ExchangeModel &model,
                           Transport &transport)
    : model(model), transport(transport),
      replica(transport.getRank() / ranks.ranks), peers(ranks.peers) {
  options.transport = ranks.transport;
  options.cudaGraph = ranks.cudaGraph;
  options.traceFile = ranks.traceFile;
  if (!ranks.traceFile.empty())
    trace.enable();
  device =
      createDevice({model.descriptor, options, transport, progress, trace});
}

void ExchangeRank::load(int32_t step) {
  auto put = [&](uint64_t offset, const auto &values) {
    uint64_t bytes = values.size() * sizeof values[0];
    Status status = device->load(
        device->at(offset), bytes,
        [&](uint8_t *host, uint64_t begin, uint64_t count) {
          memcpy(host, reinterpret_cast<const uint8_t *>(values.data()) + begin,
                 count);
          return Status();
        });
    EXPECT_FALSE(status.failed());
  };
  for (uint32_t i = 0; i < microbatches; ++i) {
    std::vector<int32_t> rows;
    for (uint32_t place = 0; place < peers; ++place)
      for (uint32_t j = 0; j < numbers; ++j)
        rows.push_back(
            makeNumber(step, replica, replica / peers * peers + place, i, j));
    put(model.own[i], rows);
  }
  std::vector<float> gradient;
  for (uint32_t i = 0; i < numbers; ++i)
    gradient.push_back(makeGradient(step, replica, i));
  for (uint64_t offset : model.ownGradients)
    put(offset, gradient);
}

void ExchangeRank::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  void *pointers[] = {device->at(to), device->at(from), &bytes};
  device->run(/*task=*/0, /*microbatch=*/0, pointers);
}

void ExchangeRank::send(uint32_t microbatch) {
  copy(model.sent[microbatch], model.own[microbatch], getBytes());
  const PprtDescriptor &descriptor = model.descriptor;
  BlockExchange exchange = {0,
                            microbatch,
                            FirstChannelTag + microbatch,
                            replica % peers,
                            /*peers=*/{},
                            device->at(model.sent[microbatch]),
                            device->at(model.received[microbatch]),
                            blockBytes};
  for (uint32_t place = 0; place < peers; ++place)
    exchange.peers.push_back(
        (replica / peers * peers + place) * descriptor.ranks + descriptor.rank);
  exchanges[microbatch] = device->startExchange(exchange);
}

void ExchangeRank::keep(uint32_t microbatch, bool waits) {
  for (const StartedMessage &started : exchanges[microbatch])
    if (waits && started.message.activity == Activity::RecvRows)
      device->wait(started);
  copy(model.kept[microbatch], model.received[microbatch], getBytes());
}

void ExchangeRank::sum() {
  sums.clear();
  const PprtDescriptor &descriptor = model.descriptor;
  for (uint32_t i = 0; i < descriptor.parameterCount; ++i) {
    if (i == ExchangeModel::Shard && descriptor.dataParallel == peers)
      continue;
    copy(model.gradients[i], model.ownGradients[i], numbers * sizeof(float));
    if (std::optional<StartedMessage> started = device->startAllReduce(
            {{device->at(model.gradients[i]), numbers, /*isWide=*/false}},
            i == ExchangeModel::Shard ? Sharing::Places : Sharing::All))
      sums.push_back(*started);
  }
}

void ExchangeRank::keepSums() {
  for (uint32_t i = 0; i < sums.size(); ++i) {
    device->wait(sums[i]);
    copy(model.keptSums[i], model.gradients[i], numbers * sizeof(float));
  }
}

void ExchangeRank::runStep(int32_t step) {
  load(step);
  device->beginStep();
  for (uint32_t i = 0; i < microbatches && hasExperts(); ++i)
    send(i);
  sum();
  copy(model.other, model.own[0], getBytes());
  for (uint32_t i = 0; i < microbatches && hasExperts(); ++i)
    keep(i);
  keepSums();
  device->synchronize();
}

template <typename T>
static std::vector<T> read(ExchangeRank &rank, uint64_t offset, size_t count) {
  Device &device = *rank.device;
  auto *data = reinterpret_cast<const T *>(
      device.view(device.at(offset), count * sizeof(T)));
  return {data, data + count};
}

void ExchangeRank::expectResults(int32_t step) {
  for (uint32_t i = 0; i < microbatches && hasExperts(); ++i) {
    std::vector<int32_t> expected;
    for (uint32_t place = 0; place < peers; ++place)
      for (uint32_t j = 0; j < numbers; ++j)
        expected.push_back(
            makeNumber(step, replica / peers * peers + place, replica, i, j));
    EXPECT_EQ(read<int32_t>(*this, model.kept[i], peers * numbers), expected);
  }
  for (uint32_t i = 0; i < sums.size(); ++i) {
    std::vector<float> expected(numbers);
    for (uint32_t j = 0; j < numbers; ++j)
      for (uint32_t other = 0; other < model.descriptor.dataParallel; ++other)
        if (i == ExchangeModel::Whole || other % peers == replica % peers)
          expected[j] += makeGradient(step, other, j);
    EXPECT_EQ(read<float>(*this, model.keptSums[i], numbers), expected);
  }
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

/// As each rank's program begins and ends.
static void runRank(const Ranks &ranks, const ExchangeModel &model,
                    Transport &transport,
                    const std::function<void(ExchangeRank &)> &program) {
  ExchangeRank rank(ranks, model, transport);
  for (Status status : {rank.device->start(), rank.device->connect()})
    ASSERT_FALSE(status.failed()) << status.getMessage();
  // What all share says whether a step runs.
  barrier(transport);
  cudadouble::beginSteadyState();
  program(rank);
  barrier(transport);
  cudadouble::endSteadyState();
  barrier(transport);
}

std::vector<std::string>
cuda::runRanks(const Ranks &ranks,
               const std::function<void(ExchangeRank &)> &program) {
  cudadouble::Options options;
  options.hostThreads = static_cast<int>(ranks.getCount());
  options.devices = options.hostThreads;
  options.seed = ranks.seed;
  options.fault = ranks.fault;
  cudadouble::reset(options);
  cudadouble::setKernelRunner(cudadouble::makePtxRunner());
  std::vector<std::unique_ptr<Transport>> transports =
      createThreadTransports(ranks.getCount());
  std::vector<std::unique_ptr<ExchangeModel>> models;
  for (uint32_t rank = 0; rank < ranks.ranks; ++rank)
    models.push_back(std::make_unique<ExchangeModel>(ranks, rank));
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks.getCount(); ++rank)
    threads.emplace_back([&, rank] {
      runRank(ranks, *models[rank % ranks.ranks], *transports[rank], program);
      cudadouble::endHostThread();
    });
  for (std::thread &thread : threads)
    thread.join();
  std::vector<std::string> problems = cudadouble::getFaults();
  for (std::string &leak : cudadouble::getLeaks())
    problems.push_back(std::move(leak));
  return problems;
}
