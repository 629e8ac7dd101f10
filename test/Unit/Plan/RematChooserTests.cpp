//===- RematChooserTests.cpp - The cheapest recomputation that fits
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"

#include "gtest/gtest.h"

using namespace pipewright;
using namespace pipewright::test;

static RematChooser choose(llvm::ArrayRef<PlanLayer> layers, RematSet allowed,
                           const InFlight &inFlight) {
  RematChooser chooser(allowed, /*keepsHistory=*/true);
  for (const PlanLayer &layer : layers)
    chooser.append(layer, inFlight, /*entersStage=*/&layer == layers.data());
  return chooser;
}

TEST(RematChooser, AgreesWithBruteForce) {
  std::mt19937 random(1);
  int feasible = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<PlanLayer> layers = makeRandomLayers(random, 1 + random() % 6);
    RematSet allowed = {random() % 4 != 0, random() % 4 != 0, true};
    InFlight inFlight = {int64_t(1 + random() % 4), int64_t(1 + random() % 2)};
    int64_t limit = random() % (layers.size() * 24);
    std::optional<int64_t> least =
        findLeastTime(layers, allowed, inFlight, limit);
    RematChooser chooser = choose(layers, allowed, inFlight);
    ASSERT_EQ(chooser.getLeastTime(limit), least) << "round " << round;
    ASSERT_TRUE(chooser.isExact());
    if (!least)
      continue;
    ++feasible;
    std::vector<Remat> remats = chooser.getPolicies(limit);
    ASSERT_EQ(remats.size(), layers.size());
    EXPECT_EQ(getAddedTime(layers, remats), *least);
    EXPECT_LE(getHeldBytes(layers, remats, inFlight), limit);
  }
  // The limits are such that both happen often.
  EXPECT_GT(feasible, 1000);
  EXPECT_LT(feasible, 2900);
}

TEST(RematChooser, KeepsAllIfThatFits) {
  std::mt19937 random(2);
  std::vector<PlanLayer> layers = makeRandomLayers(random, 5);
  RematChooser chooser = choose(layers, {}, {4, 1});
  EXPECT_EQ(chooser.getLeastTime(1000), 0);
  for (Remat remat : chooser.getPolicies(1000))
    EXPECT_EQ(remat, Remat::None);
}

/// What replicas have exchanged is not exchanged again.
TEST(RematChooser, FullKeepsWhatIsExchanged) {
  PlanLayer layer;
  layer.forward = 5;
  layer.exchangeTime = 2;
  layer.exchangedBytes = 3;
  layer.bytesBefore = 1;
  EXPECT_EQ(layer.getAddedTime(Remat::Full), 3);
  EXPECT_EQ(layer.getKeptBytes(Remat::Full, /*entersRun=*/true), 4);
  EXPECT_EQ(layer.getKeptBytes(Remat::Full, /*entersRun=*/false), 3);
}

/// A stage all of whose layers recompute keeps what it receives, and has the
/// rest of one micro-batch while its backward runs.
TEST(RematChooser, FullKeepsWhatEntersTheStage) {
  PlanLayer layer;
  layer.forward = 1;
  layer.bytesBefore = layer.savedBytes = layer.selectiveBytes = 1;
  std::vector<PlanLayer> layers(4, layer);
  RematChooser chooser = choose(layers, {true, false, true}, {4, 1});
  EXPECT_EQ(chooser.getLeastBytes(), 4 + 4);
  EXPECT_EQ(chooser.getLeastTime(8), 4);
  EXPECT_EQ(chooser.getLeastTime(16), 0);
  EXPECT_EQ(chooser.getLeastTime(7), std::nullopt);
}

TEST(RematChooser, SaysIfItIsNotExact) {
  std::mt19937 random(3);
  std::vector<PlanLayer> layers(200);
  for (PlanLayer &layer : layers) {
    layer.forward = 1 + random() % 1000003;
    layer.savedBytes = layer.bytesBefore = 1 + random() % 1000003;
    layer.selectiveTime = random() % layer.forward;
    layer.selectiveBytes = random() % layer.savedBytes;
  }
  RematChooser chooser = choose(layers, {true, true, false}, {8, 1});
  EXPECT_FALSE(chooser.isExact());
  // Both ends are known.
  EXPECT_EQ(chooser.getLeastTime(int64_t(1) << 40), 0);
  EXPECT_TRUE(chooser.getLeastTime(chooser.getLeastBytes()).has_value());
}
