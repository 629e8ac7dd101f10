//===- CsvTests.cpp - PyTorch's format is read strictly
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

static std::string parseError(StringRef text,
                              CsvLetters letters = CsvLetters::Auto) {
  Expected<Schedule> schedule = parseScheduleCsv(text, letters);
  return schedule ? "" : toString(schedule.takeError());
}

TEST(Csv, TranslatesLetters) {
  Expected<Schedule> schedule = parseScheduleCsv("0F0,,0I0,0W0,\n1F0,1B0,,\n");
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  EXPECT_EQ(schedule->getRanks(), 2);
  EXPECT_EQ(schedule->getActions(0)[1].kind, ActionKind::B);
  EXPECT_EQ(schedule->getActions(0)[2].kind, ActionKind::W);
  EXPECT_EQ(schedule->getActions(1)[1].kind, ActionKind::BW);
}

TEST(Csv, PlacesStagesByTheirRow) {
  Expected<Schedule> schedule =
      parseScheduleCsv("0F0,3F0,3B0,0B0\n1F0,2F0,2B0,1B0\n");
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  EXPECT_EQ(schedule->getPlacement()[0], std::vector<int64_t>({0, 1, 1, 0}));
  EXPECT_EQ(schedule->getShape().chunks, 2);
}

TEST(Csv, ReadsPairsAndTransfers) {
  Expected<Schedule> schedule = parseScheduleCsv(
      "0F0,0SEND_F0,0RECV_B0,(0F1;0B0)OVERLAP_F_B,0B1\n1RECV_F0\n");
  ASSERT_TRUE(bool(schedule)) << toString(schedule.takeError());
  EXPECT_EQ(schedule->getActions(0)[1].kind, ActionKind::SendF);
  const Action &pair = schedule->getActions(0)[3];
  EXPECT_EQ(pair.kind, ActionKind::FB);
  EXPECT_EQ(pair.parts[0], (Action{ActionKind::F, 0, 1}));
  EXPECT_EQ(pair.parts[1], (Action{ActionKind::BW, 0, 0}));
}

TEST(Csv, RefusesWhatIsNotAnAction) {
  // Each is one that a pattern matched at its start only would accept.
  for (StringRef cell :
       {"0F0x", "0F", "F0", "0X0", "0R0", "-1F0", "0F0 1", "0f0",
        "0F99999999999999999999", "(0F0;0F1)", "(0B0;0F1)OVERLAP_F_B",
        "0GROUP0", "0UNSHARD0", "(0F0;0B0;0B1)OVERLAP_F_B"}) {
    std::string message = parseError(("0F1," + cell + "\n").str());
    EXPECT_NE(
        message.find("row 1, column 2: '" + cell.str() + "' is not an action"),
        std::string::npos)
        << message;
  }
}

/// The kinds of the first rank's actions.
static std::vector<ActionKind> parseKinds(StringRef text, CsvLetters letters) {
  Expected<Schedule> schedule = parseScheduleCsv(text, letters);
  std::vector<ActionKind> kinds;
  if (!schedule) {
    ADD_FAILURE() << toString(schedule.takeError());
    return kinds;
  }
  for (const Action &action : schedule->getActions(0))
    kinds.push_back(action.kind);
  return kinds;
}

TEST(Csv, KnowsOldLettersByTheirFullBackward) {
  std::vector<ActionKind> split = {ActionKind::F, ActionKind::B, ActionKind::W,
                                   ActionKind::BW};
  EXPECT_EQ(parseKinds("0F0,0B0,0W0,0BW1\n", CsvLetters::Auto), split);
  EXPECT_EQ(parseKinds("0F0,0I0,0W0,0B1\n", CsvLetters::Auto), split);
  std::vector<ActionKind> pair = {ActionKind::FB, ActionKind::BW};
  EXPECT_EQ(parseKinds("(0F1;0B0)OVERLAP_F_B,0BW1\n", CsvLetters::Auto), pair);
}

// Old files have B and W where new ones have I and W.
TEST(Csv, ReadsAmbiguousLettersOnlyAsAsked) {
  StringRef text = "0F0,0B0,0W0\n";
  EXPECT_EQ(parseError(text),
            "row 1, column 3: the file has B and W, but neither I nor BW, so "
            "that B may be the full backward (new letters) or the input "
            "gradient (old ones); say which with 'pipewright schedule "
            "--csv-letters new|old'");
  EXPECT_EQ(parseKinds(text, CsvLetters::Old),
            std::vector({ActionKind::F, ActionKind::B, ActionKind::W}));
  EXPECT_EQ(parseKinds(text, CsvLetters::New),
            std::vector({ActionKind::F, ActionKind::BW, ActionKind::W}));
  // Without W, only the full backward computes all gradients.
  EXPECT_EQ(parseKinds("0F0,0B0\n", CsvLetters::Auto),
            std::vector({ActionKind::F, ActionKind::BW}));
}

TEST(Csv, RefusesMixedLetters) {
  EXPECT_EQ(parseError("0F0,0BW0\n1F0,1I0\n"),
            "row 2, column 2: the file has both I, which is new, and BW, which "
            "is old; letters cannot be mixed");
  EXPECT_EQ(parseError("0F0,0I0\n", CsvLetters::Old),
            "row 1, column 2: '0I0' is an action only with the new letters; "
            "this file is read with the old ones");
  EXPECT_EQ(parseError("0F0,0BW0\n", CsvLetters::New),
            "row 1, column 2: '0BW0' is an action only with the old letters; "
            "this file is read with the new ones");
}

// What PyTorch's runtime dumps: it adds sharding whether or not it is used.
TEST(Csv, LeavesShardingOut) {
  EXPECT_EQ(parseKinds("0UNSHARD,0F0,0SEND_F0,0RECV_B0,0B0,0REDUCE_GRAD,"
                       "0RESHARD\n1RECV_F0,1F0,1B0,1SEND_B0\n",
                       CsvLetters::Auto),
            std::vector({ActionKind::F, ActionKind::SendF, ActionKind::RecvB,
                         ActionKind::BW}));
  EXPECT_EQ(parseError("0F0,1UNSHARD\n1F0\n"),
            "row 2, column 1: stage 1 is on rank 0 already; a stage has one "
            "rank");
  EXPECT_EQ(parseError("0UNSHARD\n"), "the file has no action");
}

TEST(Csv, ReadsWhatSpreadsheetsWrite) {
  EXPECT_EQ(parseKinds("\xEF\xBB\xBF\"0F0\", 0B0 ,,\r\n", CsvLetters::Auto),
            std::vector({ActionKind::F, ActionKind::BW}));
  EXPECT_EQ(parseError("\"0F0,0B0\n"),
            "row 1, column 1: '\\\"0F0' is not an action; expected stage, one "
            "of F B I W SEND_F RECV_F SEND_B RECV_B, micro-batch, such as 0F3");
}

static std::string writeError(Action action) {
  Schedule schedule({/*ranks=*/1, /*microbatches=*/1});
  schedule.add(0, std::move(action));
  std::string text;
  raw_string_ostream os(text);
  return toString(writeCsv(schedule, os));
}

TEST(Csv, RefusesWhatItCannotExpress) {
  EXPECT_EQ(writeError(ActionKind::R),
            "PyTorch's format cannot express R of stage 0, micro-batch 0; use "
            "JSON");
  EXPECT_EQ(writeError(ActionKind::Step),
            "PyTorch's format cannot express the update; use JSON");
  EXPECT_EQ(
      writeError({ActionKind::Group,
                  0,
                  0,
                  0,
                  {{ActionKind::SendF, 0, 0}, {ActionKind::RecvB, 0, 0}}}),
      "PyTorch's format cannot express that SEND_F of stage 0, "
      "micro-batch 0 with RECV_B of stage 0, micro-batch 0 are posted "
      "together; use JSON");
}

TEST(Csv, RefusesAStageOnTwoRanks) {
  EXPECT_EQ(parseError("0F0,0B0\n0F1,0B1\n"),
            "row 2, column 1: stage 0 is on rank 0 already; a stage has one "
            "rank");
}

TEST(Csv, RefusesGapsAndEmptyFiles) {
  EXPECT_EQ(parseError("0F0\n2F0\n"),
            "stage 1 has no action; stages go up to 2");
  EXPECT_EQ(parseError("\n\n"), "the file has no action");
}

TEST(Csv, RefusesSizesThatDoNotFit) {
  std::string text;
  for (int stage = 0; stage < 17; ++stage)
    text += std::to_string(stage) + "F1048575\n";
  EXPECT_EQ(parseError(text),
            "the file has 17 stages and 1048576 micro-batches; their product "
            "may be 16777216 at most");
}
