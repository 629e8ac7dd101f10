//===- CsvTests.cpp - PyTorch's format is read strictly
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Formats.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

static std::string parseError(StringRef text) {
  Expected<Schedule> schedule = parseScheduleCsv(text);
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
  // Each is one that a pattern matched at its start only would accept, or the
  // letters of an older version of the format.
  for (StringRef cell : {"0F0x", "0F", "F0", "0X0", "0BW0", "0R0", "-1F0",
                         "0F0 1", "0f0", "0F99999999999999999999", "(0F0;0F1)",
                         "(0B0;0F1)OVERLAP_F_B", "0GROUP0"}) {
    std::string message = parseError(("0F1," + cell + "\n").str());
    EXPECT_NE(
        message.find("row 1, column 2: '" + cell.str() + "' is not an action"),
        std::string::npos)
        << message;
  }
}

TEST(Csv, RefusesShardingByName) {
  EXPECT_EQ(parseError("0UNSHARD\n"),
            "row 1, column 1: 'UNSHARD' belongs to sharded data parallelism, "
            "which this format is not read for; remove it");
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
