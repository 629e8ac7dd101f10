//===- LaneTests.cpp - What a device does beside computing ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExchangeRanks.h"
#include "Lanes.h"
#include "StepNeeds.h"

#include <gtest/gtest.h>

using namespace pprt;
using namespace pprt::cuda;

static std::vector<Lane> listLanes(const PprtDescriptor &descriptor) {
  std::vector<Lane> lanes;
  std::array<bool, laneCount> found = findLanes(descriptor);
  for (uint32_t lane = 0; lane < laneCount; ++lane)
    if (found[lane])
      lanes.push_back(static_cast<Lane>(lane));
  return lanes;
}

using Expected = std::vector<Lane>;

TEST(Lanes, ForExpertsOfOneGroup) {
  ExchangeModel model({/*replicas=*/4, /*peers=*/4}, 0);
  EXPECT_EQ(listLanes(model.descriptor),
            (Expected{ReplicaGradients, Exchanges}));
}

TEST(Lanes, ForExpertsOfSeveralGroups) {
  ExchangeModel model({/*replicas=*/4, /*peers=*/2}, 0);
  EXPECT_EQ(listLanes(model.descriptor),
            (Expected{ReplicaGradients, ShardGradients, Exchanges}));
}

TEST(Lanes, OnlyWhereTheExpertsAre) {
  Ranks ranks = {/*replicas=*/4, /*peers=*/2, /*ranks=*/2};
  EXPECT_EQ(listLanes(ExchangeModel(ranks, 0).descriptor),
            Expected{ReplicaGradients});
  EXPECT_EQ(listLanes(ExchangeModel(ranks, 1).descriptor),
            (Expected{ReplicaGradients, ShardGradients, Exchanges}));
}

TEST(Lanes, WithoutSumsOfWhatIsNotTrained) {
  ExchangeModel model({/*replicas=*/4, /*peers=*/2}, 0);
  model.descriptor.forwardOnly = 1;
  EXPECT_EQ(listLanes(model.descriptor), Expected{Exchanges});
}

TEST(Lanes, OfMessages) {
  ExchangeModel model({}, 0);
  DeviceMessage message = {};
  for (auto [activity, lane] : {std::pair(Activity::SendRows, Exchanges),
                                {Activity::RecvRows, Exchanges},
                                {Activity::ReplicaGradient, ReplicaGradients},
                                {Activity::ShardGradient, ShardGradients}}) {
    message.activity = activity;
    EXPECT_EQ(getLane(model.descriptor, message), lane);
  }
}

TEST(StepNeeds, HaveThreeEventsForEachExchange) {
  ExchangeModel model({}, 0);
  size_t all = countEvents(model.descriptor);
  model.descriptor.exchangeCount = 0;
  EXPECT_EQ(all - countEvents(model.descriptor),
            3 * ExchangeModel::microbatches);
}
