//===- TransportConformance.cpp - What every transport must do ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: transport-conformance self|mpi [GoogleTest options]
//
// Run on any number of ranks, under the transport's launcher. Each rank sends
// to the next and receives from the one before; with one rank that is itself.
//
//===----------------------------------------------------------------------===//

#include "launch/Collectives.h"

#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <unistd.h>

using namespace pprt;

/// Of the ranks of this process: one, or all of them.
static std::vector<std::unique_ptr<Transport>> transports;

namespace {
/// A rank, as a test sees it.
struct Rank {
  explicit Rank(Transport &transport)
      : transport(&transport), rank(transport.getRank()),
        size(transport.getSize()), next((rank + 1) % size),
        previous((rank + size - 1) % size) {}

  Transport *transport;
  uint32_t rank, size, next, previous;
};
} // namespace

/// Runs a test on all ranks at once.
static void onEachRank(void (*test)(const Rank &)) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < transports.size(); ++i)
    threads.emplace_back([=] { test(Rank(*transports[i])); });
  test(Rank(*transports.front()));
  for (std::thread &thread : threads)
    thread.join();
}

TEST(TransportConformance, KnowsItsPlace) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    EXPECT_LT(rank, size);
    EXPECT_GE(transport->getTagLimit(), 32767u);
    EXPECT_FALSE(transport->getHost().empty());
  });
}

TEST(TransportConformance, DeliversAnySize) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    for (uint64_t count : {0, 1, 1000, 100000, 1000000}) {
      std::vector<uint32_t> sent(count, rank + 7), received(count);
      Transport::Request send =
          transport->startSend(next, 20, sent.data(), count * 4);
      transport->recv(previous, 20, received.data(), count * 4);
      transport->wait(send);
      EXPECT_EQ(received, std::vector<uint32_t>(count, previous + 7));
    }
  });
}

// Receives may be posted before the send, and in another order than it.
TEST(TransportConformance, MatchesByTag) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    uint32_t received[2] = {}, sent[2] = {10 + rank, 20 + rank};
    Transport::Request requests[] = {
        transport->startRecv(previous, 31, &received[1], 4),
        transport->startRecv(previous, 30, &received[0], 4),
        transport->startSend(next, 30, &sent[0], 4),
        transport->startSend(next, 31, &sent[1], 4)};
    for (Transport::Request request : requests)
      transport->wait(request);
    EXPECT_EQ(received[0], 10 + previous);
    EXPECT_EQ(received[1], 20 + previous);
  });
}

TEST(TransportConformance, KeepsTheOrderOfATag) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    std::vector<uint32_t> sent(50), received(50);
    std::iota(sent.begin(), sent.end(), rank);
    std::vector<Transport::Request> requests;
    for (uint32_t &value : sent)
      requests.push_back(transport->startSend(next, 40, &value, 4));
    for (uint32_t &value : received)
      transport->recv(previous, 40, &value, 4);
    for (Transport::Request request : requests)
      transport->wait(request);
    for (uint32_t i = 0; i < 50; ++i)
      EXPECT_EQ(received[i], previous + i);
  });
}

// What is sent is all there even if the receiver comes late.
TEST(TransportConformance, WaitsForALateReceiver) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    std::vector<char> sent(200000, 'a'), received(200000);
    Transport::Request send =
        transport->startSend(next, 50, sent.data(), sent.size());
    usleep(20000);
    transport->recv(previous, 50, received.data(), received.size());
    transport->wait(send);
    EXPECT_EQ(received, sent);
  });
}

// As replicas exchange blocks: several exchanges are under way at a time, and
// one rank comes late to one of them.
TEST(TransportConformance, BlocksGoFromAllToAll) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    constexpr uint32_t count = 20000, rounds = 3;
    auto makeBlock = [&](uint32_t round, uint32_t source, uint32_t target) {
      return std::vector<uint32_t>(count,
                                   (round * 100 + source) * 100 + target);
    };
    std::vector<std::vector<uint32_t>> sent(rounds * size),
        received(rounds * size);
    std::vector<Transport::Request> requests;
    for (uint32_t i = 0; i < rounds * size; ++i) {
      uint32_t round = i / size, peer = i % size;
      if (peer == rank)
        continue;
      if (rank == round)
        usleep(10000);
      sent[i] = makeBlock(round, rank, peer);
      received[i].resize(count);
      requests.push_back(transport->startRecv(peer, 60 + round,
                                              received[i].data(), count * 4));
      requests.push_back(
          transport->startSend(peer, 60 + round, sent[i].data(), count * 4));
    }
    for (Transport::Request request : requests)
      transport->wait(request);
    for (uint32_t i = 0; i < rounds * size; ++i)
      if (i % size != rank)
        EXPECT_EQ(received[i], makeBlock(i / size, i % size, rank));
  });
}

TEST(TransportConformance, Collectives) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    uint64_t mine = 100 + rank;
    std::vector<uint64_t> all(size);
    gather(*transport, &mine, sizeof mine, all.data());
    if (rank == 0)
      for (uint32_t i = 0; i < size; ++i)
        EXPECT_EQ(all[i], 100 + i);

    uint64_t last = rank == size - 1 ? 42 : 0;
    broadcast(*transport, &last, sizeof last, size - 1);
    EXPECT_EQ(last, 42u);

    std::vector<std::string> texts =
        gatherText(*transport, std::string(rank, 'x'));
    EXPECT_EQ(texts.size(), rank == 0 ? size : 0);
    for (uint32_t i = 0; i < texts.size(); ++i)
      EXPECT_EQ(texts[i], std::string(i, 'x'));
    barrier(*transport);
  });
}

// One rank's failure is everybody's, and told once.
TEST(TransportConformance, RanksAgree) {
  onEachRank([](const Rank &at) {
    [[maybe_unused]] auto [transport, rank, size, next, previous] = at;
    EXPECT_FALSE(agree(*transport, Status()).failed());
    Status mine = rank == size - 1 ? Status::dataError("broken") : Status();
    Status status = agree(*transport, mine);
    EXPECT_EQ(status.getCode(), ExitCode::Data);
    EXPECT_EQ(status.getMessage(), rank == size - 1 ? "broken" : "");
  });
}

static Status create(int argc, char **argv) {
  std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "mpi" && argc == 2)
    return createMpiTransport(transports.emplace_back());
  if (kind == "tcp" && argc == 5)
    return createTcpTransport({static_cast<uint32_t>(atoi(argv[2])),
                               static_cast<uint32_t>(atoi(argv[3])),
                               "127.0.0.1", argv[4]},
                              transports.emplace_back());
  if (kind == "threads" && argc == 2)
    transports = createThreadTransports(3);
  else if (kind == "self" && argc == 2)
    transports.push_back(createSelfTransport());
  else
    return Status::error(ExitCode::Usage, "usage: transport-conformance self | "
                                          "threads | mpi | tcp RANK SIZE PORT");
  return Status();
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (Status status = create(argc, argv); status.failed()) {
    fprintf(stderr, "%s\n", status.getMessage().c_str());
    return static_cast<int>(status.getCode());
  }
  int status = RUN_ALL_TESTS();
  transports.clear();
  return status;
}
