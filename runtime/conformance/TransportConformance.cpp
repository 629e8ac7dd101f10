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
#include <gtest/gtest.h>
#include <numeric>
#include <unistd.h>

using namespace pprt;

static std::unique_ptr<Transport> transport;

namespace {
class TransportConformance : public testing::Test {
protected:
  uint32_t rank = transport->getRank();
  uint32_t size = transport->getSize();
  uint32_t next = (rank + 1) % size;
  uint32_t previous = (rank + size - 1) % size;
};
} // namespace

TEST_F(TransportConformance, KnowsItsPlace) {
  EXPECT_LT(rank, size);
  EXPECT_GE(transport->getTagLimit(), 32767u);
  EXPECT_FALSE(transport->getHost().empty());
}

TEST_F(TransportConformance, DeliversAnySize) {
  for (uint64_t count : {0, 1, 1000, 100000, 1000000}) {
    std::vector<uint32_t> sent(count, rank + 7), received(count);
    Transport::Request send =
        transport->startSend(next, 20, sent.data(), count * 4);
    transport->recv(previous, 20, received.data(), count * 4);
    transport->wait(send);
    EXPECT_EQ(received, std::vector<uint32_t>(count, previous + 7));
  }
}

// Receives may be posted before the send, and in another order than it.
TEST_F(TransportConformance, MatchesByTag) {
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
}

TEST_F(TransportConformance, KeepsTheOrderOfATag) {
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
}

// What is sent is all there even if the receiver comes late.
TEST_F(TransportConformance, WaitsForALateReceiver) {
  std::vector<char> sent(200000, 'a'), received(200000);
  Transport::Request send =
      transport->startSend(next, 50, sent.data(), sent.size());
  usleep(20000);
  transport->recv(previous, 50, received.data(), received.size());
  transport->wait(send);
  EXPECT_EQ(received, sent);
}

TEST_F(TransportConformance, Collectives) {
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
}

// One rank's failure is everybody's, and told once.
TEST_F(TransportConformance, RanksAgree) {
  EXPECT_FALSE(agree(*transport, Status()).failed());
  Status mine = rank == size - 1 ? Status::dataError("broken") : Status();
  Status status = agree(*transport, mine);
  EXPECT_EQ(status.getCode(), ExitCode::Data);
  EXPECT_EQ(status.getMessage(), rank == size - 1 ? "broken" : "");
}

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    fprintf(stderr, "usage: transport-conformance self|mpi\n");
    return 2;
  }
  if (std::string(argv[1]) == "self")
    transport = createSelfTransport();
  else if (createMpiTransport(transport).failed())
    return 1;
  int status = RUN_ALL_TESTS();
  transport.reset();
  return status;
}
