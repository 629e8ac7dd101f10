//===- CheckerTests.cpp - Each rule rejects what it must
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

using Actions = std::vector<Action>;

static Action f(int64_t stage, int64_t mb) {
  return {ActionKind::F, stage, mb};
}
static Action bw(int64_t stage, int64_t mb) {
  return {ActionKind::BW, stage, mb};
}
static Action b(int64_t stage, int64_t mb) {
  return {ActionKind::B, stage, mb};
}
static Action w(int64_t stage, int64_t mb) {
  return {ActionKind::W, stage, mb};
}
static Action sendF(int64_t stage, int64_t mb) {
  return {ActionKind::SendF, stage, mb};
}
static Action recvF(int64_t stage, int64_t mb) {
  return {ActionKind::RecvF, stage, mb};
}
static Action sendB(int64_t stage, int64_t mb) {
  return {ActionKind::SendB, stage, mb};
}
static Action recvB(int64_t stage, int64_t mb) {
  return {ActionKind::RecvB, stage, mb};
}
static Action group(Actions parts) {
  Action action{ActionKind::Group};
  action.parts = std::move(parts);
  return action;
}

static Schedule make(int64_t microbatches, std::vector<Actions> lanes) {
  Schedule schedule({static_cast<int64_t>(lanes.size()), microbatches, 1});
  for (size_t rank = 0; rank < lanes.size(); ++rank)
    schedule.setActions(rank, lanes[rank]);
  return schedule;
}

static std::string check(const Schedule &schedule,
                         const CheckOptions &options = {}) {
  return toString(checkSchedule(schedule, options));
}

TEST(S1, ActionIsMissing) {
  EXPECT_EQ(check(make(2, {{f(0, 0), bw(0, 0), f(0, 1)}})),
            "S1: rank 0: BW of stage 0, micro-batch 1 never runs; add it\n");
  EXPECT_EQ(check(make(1, {{f(0, 0), b(0, 0)}})),
            "S1: rank 0: W of stage 0, micro-batch 0 never runs; add it\n");
  EXPECT_EQ(check(make(1, {{bw(0, 0)}})),
            "S1: rank 0: F of stage 0, micro-batch 0 never runs; add it\n");
}

TEST(S1, ActionRunsTwice) {
  EXPECT_EQ(check(make(1, {{f(0, 0), f(0, 0), bw(0, 0)}})),
            "S1: rank 0, action 1: F of stage 0, micro-batch 0 runs twice; "
            "remove one\n"
            "  note: rank 0, action 0: the first time is here\n");
}

/// Counting alone accepts this: two backwards for two micro-batches, but all of
/// them for the first one.
TEST(S1, SplitAndFullBackwardOfTheSameMicrobatch) {
  EXPECT_EQ(check(make(2, {{f(0, 0), f(0, 1), bw(0, 0), b(0, 0), w(0, 0)}})),
            "S1: rank 0, action 3: B of stage 0, micro-batch 0 repeats a part "
            "of the full backward; remove one of them\n"
            "  note: rank 0, action 2: the full backward is here\n"
            "S1: rank 0: BW of stage 0, micro-batch 1 never runs; add it\n");
}

TEST(S1, ActionDoesNotExist) {
  EXPECT_EQ(check(make(1, {{f(0, 0), bw(0, 0), f(0, 5)}})),
            "S1: rank 0, action 2: F of stage 0, micro-batch 5 does not exist; "
            "there are 1 stages and 1 micro-batches in each of 1 directions\n");
}

TEST(S1, RolesSayWhatAStageHas) {
  Schedule schedule = make(1, {{f(0, 0)}, {f(1, 0), bw(1, 0)}});
  CheckOptions options;
  options.roles = {{ActionKind::F}, {ActionKind::F, ActionKind::BW}};
  EXPECT_EQ(check(schedule, options), "");
  options.roles = {{ActionKind::F}, {ActionKind::F}};
  EXPECT_EQ(check(schedule, options),
            "S1: rank 1, action 1: BW of stage 1, micro-batch 0 runs, but the "
            "stage has no such task; remove it\n");
}

TEST(S2, WrongRank) {
  EXPECT_EQ(check(make(1, {{f(0, 0), f(1, 0), bw(0, 0)}, {bw(1, 0)}})),
            "S2: rank 0, action 1: F of stage 1, micro-batch 0 is on rank 0, "
            "but rank 1 holds the stage; move it there\n");
}

TEST(S3, ForwardAfterBackward) {
  EXPECT_EQ(check(make(1, {{bw(0, 0), f(0, 0)}})),
            "S3: rank 0, action 0: BW of stage 0, micro-batch 0 does not run "
            "after F of stage 0, micro-batch 0; move it there\n"
            "  note: rank 0, action 1: which is here\n");
}

TEST(S3, WeightGradientBeforeInputGradient) {
  EXPECT_EQ(check(make(1, {{f(0, 0), w(0, 0), b(0, 0)}})),
            "S3: rank 0, action 1: W of stage 0, micro-batch 0 does not run "
            "after B of stage 0, micro-batch 0; move it there\n"
            "  note: rank 0, action 2: which is here\n");
}

/// One micro-batch on two ranks with all its messages.
static std::vector<Actions> makeComplete() {
  return {{f(0, 0), sendF(0, 0), recvB(0, 0), bw(0, 0)},
          {recvF(1, 0), f(1, 0), bw(1, 0), sendB(1, 0)}};
}

TEST(S3, UseBeforeReceive) {
  EXPECT_EQ(check(make(1, makeComplete())), "");
  std::vector<Actions> lanes = makeComplete();
  std::swap(lanes[1][0], lanes[1][1]);
  EXPECT_EQ(check(make(1, lanes)),
            "S3: rank 1, action 0: F of stage 1, micro-batch 0 comes before "
            "RECV_F of stage 1, micro-batch 0, or without it; receive "
            "first\n");
}

TEST(S3, SendBeforeItsProducer) {
  std::vector<Actions> lanes = makeComplete();
  std::swap(lanes[0][0], lanes[0][1]);
  EXPECT_EQ(check(make(1, lanes)),
            "S3: rank 0, action 0: SEND_F of stage 0, micro-batch 0 comes "
            "before the forward of stage 0, whose result it needs; move it "
            "there\n");
}

TEST(S4, ReceiveWithoutSend) {
  std::vector<Actions> lanes = makeComplete();
  lanes[0].erase(lanes[0].begin() + 1);
  EXPECT_EQ(check(make(1, lanes)),
            "S4: rank 1, action 0: RECV_F of stage 1, micro-batch 0 is never "
            "sent by rank 0; add SEND_F of stage 0, micro-batch 0\n");
}

TEST(S4, SendWithoutReceive) {
  // An activation that nobody asks for; the stage behind has no forward.
  Schedule schedule =
      make(1, {{f(0, 0), sendF(0, 0), recvB(0, 0), bw(0, 0)},
               {recvF(1, 0), f(1, 0), bw(1, 0), sendB(1, 0), sendB(1, 0)}});
  EXPECT_EQ(check(schedule),
            "S4: rank 1, action 4: SEND_B of stage 1, micro-batch 0 sends "
            "what was sent already; remove it\n");
}

TEST(S4, ReceivedTwice) {
  Schedule schedule =
      make(1, {{f(0, 0), sendF(0, 0), recvB(0, 0), bw(0, 0)},
               {recvF(1, 0), recvF(1, 0), f(1, 0), bw(1, 0), sendB(1, 0)}});
  EXPECT_EQ(check(schedule),
            "S4: rank 1, action 1: RECV_F of stage 1, micro-batch 0 receives "
            "what the rank holds already; remove it\n");
}

TEST(S4, NoOtherEnd) {
  EXPECT_EQ(check(make(1, {{f(0, 0), sendF(0, 0), bw(0, 0)}})),
            "S4: rank 0, action 1: SEND_F of stage 0, micro-batch 0 has no "
            "other end; stages are 0 to 0\n");
}

TEST(S4, UnequalOrder) {
  Schedule schedule = make(2, {{f(0, 0), f(0, 1), sendF(0, 1), sendF(0, 0),
                                recvB(0, 0), bw(0, 0), recvB(0, 1), bw(0, 1)},
                               {recvF(1, 0), recvF(1, 1), f(1, 0), bw(1, 0),
                                sendB(1, 0), f(1, 1), bw(1, 1), sendB(1, 1)}});
  EXPECT_EQ(check(schedule),
            "S4: rank 1, action 0: rank 1 comes to RECV_F of stage 1, "
            "micro-batch 0 where rank 0 comes to SEND_F of stage 0, "
            "micro-batch 1; both must use one order\n"
            "  note: rank 0, action 2: which is here\n");
}

/// Both of two ranks send before they receive.
static std::vector<Actions> makeCrossedSends() {
  return {{f(0, 0), sendF(0, 0), f(0, 1), sendF(0, 1), recvB(0, 0), bw(0, 0),
           recvB(0, 1), bw(0, 1)},
          {recvF(1, 0), f(1, 0), bw(1, 0), sendB(1, 0), recvF(1, 1), f(1, 1),
           bw(1, 1), sendB(1, 1)}};
}

TEST(S5, CrossedSends) {
  EXPECT_EQ(check(make(2, makeCrossedSends())),
            "S5: rank 0, action 3: rank 0 waits in SEND_F of stage 0, "
            "micro-batch 1 for rank 1, and none of the ranks can go on with "
            "transport 'blocking'; order all messages globally or post those "
            "that cross in one group\n"
            "  note: rank 1, action 3: rank 1 waits in SEND_B of stage 1, "
            "micro-batch 0 for rank 0\n");
}

TEST(S5, OneCreditLetsCrossedSendsPass) {
  CheckOptions options;
  options.credits = 1;
  EXPECT_EQ(check(make(2, makeCrossedSends()), options), "");
}

TEST(S5, TransfersPostedTogetherPass) {
  std::vector<Actions> lanes = makeCrossedSends();
  lanes[0] = {f(0, 0),  sendF(0, 0), f(0, 1), group({sendF(0, 1), recvB(0, 0)}),
              bw(0, 0), recvB(0, 1), bw(0, 1)};
  EXPECT_EQ(check(make(2, lanes)), "");
}

/// Four ranks of 1F1B with sends right after their producer and receives right
/// before their consumer: the steady state starts with every rank sending.
TEST(S5, CycleOfFourRanks) {
  Expected<Schedule> schedule = buildSchedule("1f1b", {4, 8, 1});
  ASSERT_TRUE(bool(schedule));
  for (int64_t rank = 0; rank < 4; ++rank) {
    Actions actions;
    for (const Action &action : schedule->getActions(rank)) {
      bool isForward = action.kind == ActionKind::F;
      int64_t stage = action.stage, mb = action.microbatch;
      if (isForward && stage > 0)
        actions.push_back(recvF(stage, mb));
      if (!isForward && stage < 3)
        actions.push_back(recvB(stage, mb));
      actions.push_back(action);
      if (isForward && stage < 3)
        actions.push_back(sendF(stage, mb));
      if (!isForward && stage > 0)
        actions.push_back(sendB(stage, mb));
    }
    schedule->setActions(rank, actions);
  }
  std::vector<Violation> violations = checkSchedule(*schedule);
  ASSERT_EQ(violations.size(), 1u);
  EXPECT_EQ(violations[0].rule, Rule::S5);
  EXPECT_FALSE(violations[0].notes.empty());
}

/// Each rank runs the other's work first.
TEST(S5, OrdersOfComputationDisagree) {
  Schedule schedule = make(2, {{f(0, 0), bw(0, 0), f(0, 1), bw(0, 1)},
                               {f(1, 0), f(1, 1), bw(1, 0), bw(1, 1)}});
  EXPECT_EQ(check(schedule),
            "S5: rank 0, action 1: rank 0 waits before BW of stage 0, "
            "micro-batch 0 for the backward of stage 1 on rank 1, and none of "
            "the ranks can go on; each must run first what another waits for\n"
            "  note: rank 1, action 1: rank 1 waits before F of stage 1, "
            "micro-batch 1 for the forward of stage 0 on rank 0\n");
}

TEST(S6, TooManyActivations) {
  Expected<Schedule> schedule = buildSchedule("gpipe", {2, 4, 1});
  ASSERT_TRUE(bool(schedule));
  CheckOptions options;
  options.memoryLimit = 4;
  EXPECT_EQ(check(*schedule, options), "");
  options.memoryLimit = 3.5;
  EXPECT_EQ(
      check(*schedule, options),
      "S6: rank 0: holds the activations of 4 micro-batches; the limit is "
      "3.5\n"
      "S6: rank 1: holds the activations of 4 micro-batches; the limit is "
      "3.5\n");
}

static Action pair(Action forward, Action backward) {
  Action action{ActionKind::FB};
  action.parts = {forward, backward};
  return action;
}

/// The forward of an overlapped pair takes its memory before the backward gives
/// any back.
TEST(S6, OverlappedPairHoldsBoth) {
  Schedule schedule = make(2, {{f(0, 0), pair(f(0, 1), bw(0, 0)), bw(0, 1)}});
  EXPECT_EQ(getPeakActivations(schedule), std::vector<double>{2});
  CheckOptions options;
  options.memoryLimit = 1;
  EXPECT_EQ(check(schedule, options),
            "S6: rank 0: holds the activations of 2 micro-batches; the limit "
            "is 1\n");
}

/// Both parts run at once, so one cannot use what the other makes.
TEST(S3, OverlappedPairIsIndependent) {
  EXPECT_EQ(check(make(1, {{pair(f(0, 0), bw(0, 0))}})),
            "S3: rank 0, action 0: BW of stage 0, micro-batch 0 does not run "
            "after F of stage 0, micro-batch 0; move it there\n"
            "  note: rank 0, action 0: which is here\n");
}

/// A V: the last stage is on rank 0 again, whose two chunks pass their values
/// on without a message.
TEST(S3, ChunksOfOneRankNeedNoMessage) {
  Schedule schedule({/*ranks=*/1, /*microbatches=*/1, /*chunks=*/2},
                    placeInWaves(1, 2));
  schedule.setActions(0, {f(0, 0), f(1, 0), bw(1, 0), bw(0, 0)});
  EXPECT_EQ(check(schedule), "");
  schedule.setActions(0, {f(1, 0), f(0, 0), bw(1, 0), bw(0, 0)});
  EXPECT_EQ(check(schedule),
            "S5: rank 0, action 0: rank 0 waits before F of stage 1, "
            "micro-batch 0 for the forward of stage 0 on rank 0, and none of "
            "the ranks can go on; each must run first what another waits "
            "for\n");
}

static Action reverse(Action action) {
  action.direction = 1;
  return action;
}

/// Two directions: rank 1 holds stage 0 of the second one.
TEST(S2, DirectionsHavePlacementsOfTheirOwn) {
  Schedule schedule({/*ranks=*/2, /*microbatches=*/2, /*chunks=*/1},
                    placeBothWays(2));
  Actions first = {f(0, 0), reverse(f(1, 0)), reverse(bw(1, 0)), bw(0, 0)};
  Actions second = {reverse(f(0, 0)), f(1, 0), bw(1, 0), reverse(bw(0, 0))};
  schedule.setActions(0, first);
  schedule.setActions(1, second);
  EXPECT_EQ(check(schedule), "");
  EXPECT_EQ(
      check(addCommunication(schedule, makeUniformCosts(schedule, {1, 1, 1}))),
      "");
  std::swap(first[0], second[0]);
  schedule.setActions(0, first);
  schedule.setActions(1, second);
  EXPECT_EQ(check(schedule),
            "S2: rank 0, action 0: F of stage 0, micro-batch 0, direction 1 is "
            "on rank 0, but rank 1 holds the stage; move it there\n"
            "S2: rank 1, action 0: F of stage 0, micro-batch 0 is on rank 1, "
            "but rank 0 holds the stage; move it there\n");
}

TEST(S7, GradientsOutOfOrder) {
  EXPECT_EQ(check(make(2, {{f(0, 0), f(0, 1), bw(0, 1), bw(0, 0)}})),
            "S7: rank 0, action 3: BW of stage 0, micro-batch 0 comes after "
            "that of micro-batch 1; weight gradients are added in the order of "
            "micro-batches\n"
            "  note: rank 0, action 2: which is here\n");
}

TEST(S7, UpdateBeforeTheLastGradient) {
  EXPECT_EQ(check(make(1, {{f(0, 0), {ActionKind::Step}, bw(0, 0)}})),
            "S7: rank 0, action 1: the update comes before BW of stage 0, "
            "micro-batch 0; it must be the last action\n"
            "  note: rank 0, action 2: which is here\n");
}
