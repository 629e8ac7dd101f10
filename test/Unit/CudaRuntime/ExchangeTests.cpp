//===- ExchangeTests.cpp - Rows between replicas on CUDA devices ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExchangeRanks.h"
#include "Messages.h"
#include "Stream.h"
#include "launch/Collectives.h"

#include <atomic>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

using namespace pprt;
using namespace pprt::cuda;

using Problems = std::vector<std::string>;
using cudadouble::FaultKind;

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

static void runSteps(ExchangeRank &rank) {
  for (int32_t step = 1; step <= 4; ++step) {
    rank.runStep(step);
    rank.expectResults(step);
  }
}

/// One group, two groups, and pipelines of which one rank has no experts.
static void checkSteps(TransportKind transport, bool cudaGraph) {
  for (auto [replicas, peers, ranks] : std::vector<std::array<uint32_t, 3>>{
           {2, 2, 1}, {4, 4, 1}, {4, 2, 1}, {2, 2, 2}, {4, 2, 2}})
    for (uint64_t seed = 0; seed < 2; ++seed)
      EXPECT_EQ(runRanks({replicas, peers, ranks, transport, cudaGraph,
                          /*traceFile=*/"", seed},
                         runSteps),
                Problems())
          << replicas << " replicas, groups of " << peers << ", " << ranks
          << " ranks";
}

TEST(Exchanges, MoveBlocksOverNccl) {
  checkSteps(TransportKind::Threads, /*cudaGraph=*/false);
}

TEST(Exchanges, MoveBlocksInGraphs) {
  checkSteps(TransportKind::Threads, /*cudaGraph=*/true);
}

TEST(Exchanges, MoveBlocksOnOneDevice) {
  checkSteps(TransportKind::Local, /*cudaGraph=*/false);
}

//===----------------------------------------------------------------------===//
// Beside tasks
//===----------------------------------------------------------------------===//

static cudaError_t getComputeState() {
  return cudaStreamQuery(getComputeStream().stream);
}

TEST(Exchanges, LeaveTheDeviceToOtherTasks) {
  auto program = [](ExchangeRank &rank) {
    rank.load(1);
    rank.device->beginStep();
    // The second rank comes when the first one has computed all that it can.
    bool isFirst = rank.replica == 0;
    if (!isFirst)
      barrier(rank.transport);
    rank.send(0);
    rank.copy(rank.model.other, rank.model.own[1], rank.getBytes());
    if (isFirst) {
      EXPECT_EQ(getComputeState(), cudaSuccess);
      rank.keep(0);
      EXPECT_EQ(getComputeState(), cudaErrorNotReady);
      barrier(rank.transport);
    } else {
      rank.keep(0);
    }
    rank.device->synchronize();
  };
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Ranks ranks;
    ranks.seed = seed;
    EXPECT_EQ(runRanks(ranks, program), Problems());
  }
}

/// A task between the start of an exchange and who waits for it has no order
/// with it, also in a graph: it may not use what is received.
TEST(Exchanges, HaveNoOrderWithOtherTasks) {
  for (bool cudaGraph : {false, true}) {
    Ranks ranks;
    ranks.cudaGraph = cudaGraph;
    Problems problems = runRanks(ranks, [](ExchangeRank &rank) {
      for (int32_t step = 1; step <= 3; ++step) {
        rank.load(step);
        rank.device->beginStep();
        rank.send(0);
        rank.copy(rank.model.received[0], rank.model.own[1], rank.getBytes());
        rank.keep(0);
        rank.device->synchronize();
      }
    });
    ASSERT_FALSE(problems.empty());
    for (const std::string &problem : problems)
      EXPECT_NE(problem.find("without an order"), std::string::npos) << problem;
  }
}

static uint32_t countLines(const std::string &path, const char *text) {
  std::ifstream file(path);
  uint32_t count = 0;
  for (std::string line; std::getline(file, line);)
    count += line.find(text) != std::string::npos;
  return count;
}

/// Two steps on two ranks. What is to be recorded for that is there before.
TEST(Exchanges, AreTraced) {
  Ranks ranks;
  ranks.traceFile = testing::TempDir() + "/exchanges.json";
  EXPECT_EQ(runRanks(ranks,
                     [&](ExchangeRank &rank) {
                       rank.runStep(1);
                       rank.runStep(2);
                       Status status =
                           rank.trace.write(ranks.traceFile, rank.transport,
                                            rank.model.descriptor);
                       EXPECT_FALSE(status.failed()) << status.getMessage();
                     }),
            Problems());
  for (const char *name : {"\"RECV x.0.0 mb0\",\"cat\":\"communication\"",
                           "\"RECV x.0.0 mb1\",\"cat\":\"communication\""})
    EXPECT_EQ(countLines(ranks.traceFile, name), 4u) << name;
  std::remove(ranks.traceFile.c_str());
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

static void runTwoSteps(ExchangeRank &rank) {
  for (int32_t step = 1; step <= 2; ++step)
    rank.runStep(step);
}

static bool isFound(const Problems &problems, const char *text) {
  for (const std::string &problem : problems)
    if (problem.find(text) != std::string::npos)
      return true;
  return false;
}

/// Rank \p device of four replicas does something wrong.
static Ranks makeFault(FaultKind kind, int device, int number,
                       uint32_t peers = 2) {
  Ranks ranks = {/*replicas=*/4, peers};
  ranks.seed = number;
  ranks.fault = {kind, device, number};
  return ranks;
}

/// Each exchange and each sum waits for a task, and a task for each.
TEST(ExchangeFaults, MissingWaitsAreFound) {
  for (int number = 0; number < 16; ++number) {
    Problems problems =
        runRanks(makeFault(FaultKind::MissingWait, 1, number), runTwoSteps);
    EXPECT_TRUE(isFound(problems, "without an order between them") ||
                isFound(problems, "which nothing has written"))
        << number << testing::PrintToString(problems);
  }
}

TEST(ExchangeFaults, HalfBlocksAreFound) {
  for (int number = 0; number < 4; ++number)
    EXPECT_TRUE(isFound(
        runRanks(makeFault(FaultKind::HalfReceive, 2, number), runTwoSteps),
        "receives 10 bytes where rank 1 sends 20"));
}

static void expectEnd(const Ranks &ranks, ExitCode code, const char *message) {
  EXPECT_EXIT(
      {
        runRanks(ranks, runTwoSteps);
        _exit(0);
      },
      testing::ExitedWithCode(static_cast<int>(code)), message);
}

/// All communicators of one group are of the same ranks.
TEST(ExchangeFaultsDeathTest, CrossedCommunicatorsDoNotMeet) {
  for (int number = 0; number < 4; ++number)
    expectEnd(makeFault(FaultKind::WrongCommunicator, 1, number, /*peers=*/4),
              ExitCode::DeviceLost, "the device failed");
}

TEST(ExchangeFaultsDeathTest, LostPeersAreSeen) {
  for (int number = 0; number < 4; ++number)
    expectEnd(makeFault(FaultKind::LostDevice, 1, number), ExitCode::PeerLost,
              "NCCL: remote process exited");
}

//===----------------------------------------------------------------------===//
// Many peers
//===----------------------------------------------------------------------===//

/// More than a group of NCCL may have.
TEST(Exchanges, MoveBlocksBetweenManyPeers) {
  constexpr uint32_t count = 130;
  cudadouble::Options options;
  options.hostThreads = options.devices = count;
  cudadouble::reset(options);
  ExchangeModel model({count, count}, 0);
  std::vector<std::unique_ptr<Transport>> transports =
      createThreadTransports(count);
  std::atomic<uint32_t> right{0};
  auto run = [&](uint32_t self) {
    cudaSetDevice(self);
    ComputeStream &compute = getComputeStream();
    cudaStreamCreateWithFlags(&compute.stream, cudaStreamNonBlocking);
    cudaMalloc(&compute.workspace, 2 * count);
    RankOptions options;
    Progress progress;
    Trace trace;
    std::unique_ptr<Messages> messages = createNcclMessages(
        {model.descriptor, options, *transports[self], progress, trace});
    EXPECT_FALSE(messages->connect().failed());
    BlockExchange exchange = {};
    exchange.place = self;
    exchange.peers.resize(count);
    exchange.blockBytes = 1;
    exchange.sent = static_cast<uint8_t *>(compute.workspace);
    exchange.received = exchange.sent + count;
    for (uint32_t i = 0; i < count; ++i)
      cudaMemsetAsync(exchange.sent + i, self ^ i * 3, 1, compute.stream);
    messages->exchange(exchange, compute.stream);
    void *host = nullptr;
    cudaMallocHost(&host, count);
    cudaMemcpyAsync(host, exchange.received, count, cudaMemcpyDeviceToHost,
                    compute.stream);
    cudaStreamSynchronize(compute.stream);
    for (uint32_t i = 0; i < count; ++i)
      right += static_cast<uint8_t *>(host)[i] == uint8_t(i ^ self * 3);
    cudaFreeHost(host);
    messages.reset();
    cudaFree(compute.workspace);
    cudaStreamDestroy(compute.stream);
    cudadouble::endHostThread();
  };
  std::vector<std::thread> threads;
  for (uint32_t self = 0; self < count; ++self)
    threads.emplace_back(run, self);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, count * count);
  EXPECT_EQ(cudadouble::getFaults(), Problems());
  EXPECT_EQ(cudadouble::getLeaks(), Problems());
}
