//===- PairOverlapTests.cpp - Two lanes of segments
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/PairOverlap.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace llvm;
using namespace pipewright;

static constexpr SegmentLane compute = SegmentLane::Compute;
static constexpr SegmentLane communication = SegmentLane::Communication;

TEST(PairOverlap, ALaneRunsOneSegmentAtATime) {
  EXPECT_EQ(runSegments({}), 0);
  EXPECT_EQ(runSegments({{compute, 2}, {compute, 3}}), 5);
  EXPECT_EQ(runSegments({{compute, 2}, {communication, 3}}), 3);
  EXPECT_EQ(runSegments({{compute, 2}, {communication, 3, {0}}}), 5);
}

/// The second chain's message can hide behind the first one's work only if it
/// is made first.
TEST(PairOverlap, FindsTheBestOrder) {
  SmallVector<Segment> segments = {
      {compute, 5}, {compute, 1}, {communication, 5, {1}}};
  EXPECT_EQ(runSegments(segments), 11);
  EXPECT_EQ(runSegmentsInBestOrder(segments), 6);
}

/// Mean times in milliseconds from DeepSeek's published profile of four MoE
/// layers: attention and MLP of the forward, of the backward for the input and
/// of that for the weights, and the four messages between experts.
static constexpr double attnF = 4.37, mlpF = 4.60, mlpB = 5.31, mlpW = 6.38,
                        attnB = 9.34, attnW = 2.39;
static constexpr double combineB = 5.77, dispatchF = 6.69, dispatchB = 7.49,
                        combineF = 8.68;

/// Adds a layer's pair in the profile's order: combine(B) beside attention(F),
/// mlp(B) beside dispatch(F), dispatch(B) beside mlp(W) and mlp(F),
/// attention(B) and (W) beside combine(F). \p before is where the pair before
/// it begins.
static void addPair(SmallVectorImpl<Segment> &segments, int64_t before) {
  int64_t first = segments.size();
  SmallVector<int64_t, 2> forward, backward;
  if (before >= 0) {
    forward = {before + 7};
    backward = {before + 8};
  }
  segments.push_back({communication, combineB, backward});
  segments.push_back({compute, attnF, forward});
  segments.push_back({compute, mlpB, {first}});
  segments.push_back({communication, dispatchF, {first + 1}});
  segments.push_back({communication, dispatchB, {first + 2}});
  segments.push_back({compute, mlpW, {first + 2}});
  segments.push_back({compute, mlpF, {first + 3}});
  segments.push_back({communication, combineF, {first + 6}});
  segments.push_back({compute, attnB, {first + 4}});
  segments.push_back({compute, attnW, {first + 8}});
}

/// Worked out by hand: all computing, and before mlp(B) the wait for
/// combine(B), which attention(F) does not fill.
TEST(PairOverlap, DeepSeekProfileOfOnePair) {
  SmallVector<Segment> pair;
  addPair(pair, /*before=*/-1);
  double computing = attnF + mlpF + mlpB + mlpW + attnB + attnW;
  double expected = computing + (combineB - attnF);
  EXPECT_NEAR(runSegments(pair), expected, 1e-9);
  EXPECT_NEAR(runSegmentsInBestOrder(pair), expected, 1e-9);
  EXPECT_GT(expected, 32.4);
  EXPECT_LT(expected, 34);

  double serial = 0;
  for (const Segment &segment : pair)
    serial += segment.time;
  EXPECT_NEAR(serial, 61, 0.1);
}

/// The profile has four pairs in 129.0 ms. No order beats the computing lane.
TEST(PairOverlap, DeepSeekProfileOfFourPairs) {
  SmallVector<Segment> segments;
  int64_t before = -1;
  for (int layer = 0; layer < 4; ++layer) {
    int64_t first = segments.size();
    addPair(segments, before);
    before = first;
  }
  double time = runSegments(segments) / 4;
  EXPECT_GE(time, attnF + mlpF + mlpB + mlpW + attnB + attnW);
  EXPECT_GE(time, 32.25);
  EXPECT_LE(time, 34);
}
