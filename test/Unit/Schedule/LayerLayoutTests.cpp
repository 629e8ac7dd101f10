//===- LayerLayoutTests.cpp - Megatron's layouts, read and written
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/LayerLayout.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipewright;

static LayerLayout parse(StringRef text) {
  Expected<LayerLayout> layout = parseLayerLayout(text);
  if (layout)
    return *layout;
  ADD_FAILURE() << toString(layout.takeError());
  return {{""}};
}

static std::string parseError(StringRef text) {
  Expected<LayerLayout> layout = parseLayerLayout(text);
  return layout ? "" : toString(layout.takeError());
}

/// `stages` joined by '|', nothing abbreviated.
static std::string writeOut(const LayerLayout &layout) {
  std::string text = layout.stages.front();
  for (StringRef stage : ArrayRef(layout.stages).drop_front())
    text += ("|" + stage).str();
  return text;
}

// The example of Megatron's own documentation.
TEST(LayerLayout, ReadsTheDocumentedExample) {
  LayerLayout layout = parse("Et*3|(tt|)*29,m|L");
  ASSERT_EQ(layout.getStages(), 32);
  EXPECT_EQ(layout.stages[0], "Ettt");
  for (int stage = 1; stage < 30; ++stage)
    EXPECT_EQ(layout.stages[stage], "tt");
  EXPECT_EQ(layout.stages[30], "m");
  EXPECT_EQ(layout.stages[31], "L");
}

// The examples beside Megatron's parser, between an embedding and a loss.
TEST(LayerLayout, RepeatsGroupsAcrossStages) {
  EXPECT_EQ(writeOut(parse("Et(t|t|m)*1L")), "Ett|t|mL");
  EXPECT_EQ(writeOut(parse("Ett(tt|t|tt)*2,tL")), "Etttt|t|tttt|t|tttL");
  EXPECT_EQ(writeOut(parse("Ett,(tt|)*2L")), "Etttt|tt|L");
  EXPECT_EQ(writeOut(parse("E(|tt)*2,ttL")), "E|tt|ttttL");
  EXPECT_EQ(writeOut(parse("E(t*2|)*2L")), "Ett|tt|L");
  EXPECT_EQ(writeOut(parse("E|*3L")), "E|||L");
  EXPECT_EQ(writeOut(parse("Et*0|(tt|)*0L")), "E|L");
}

TEST(LayerLayout, WritesTheShortestUsualForm) {
  for (StringRef text :
       {"Et*3|(tt|)*29,m|L", "E|L", "EL", "E(|)*3,L", "Ett|tt|ttL",
        "E|(t|)*3,(tt|)*3,L", "Ett|L|", "E|(t*4m|)*1L"}) {
    LayerLayout layout = parse(text);
    EXPECT_EQ(parse(toString(layout)), layout) << toString(layout);
  }
  EXPECT_EQ(toString(parse("Ettt|tt|tt|tt|ttL")), "Et*3|(tt|)*3,ttL");
  EXPECT_EQ(toString(parse("Et*3|(tt|)*29,m|L")), "Et*3|(tt|)*29,m|L");
}

TEST(LayerLayout, RefusesByCharacter) {
  EXPECT_EQ(parseError("Et tL"),
            "layout, character 3: ' ' is no layer; expected E, t, m or L, '|' "
            "between stages, or a group such as (tt|)*4");
  EXPECT_EQ(parseError("E(tt|L"), "layout, character 7: expected ')'");
  EXPECT_EQ(parseError("E(tt|)L"),
            "layout, character 7: expected '*' and a number after a group");
  EXPECT_EQ(parseError("Et*L"),
            "layout, character 3: expected a number after '*'");
  EXPECT_EQ(parseError("E(t(t)*2)*2L"),
            "layout, character 4: groups do not nest");
  EXPECT_EQ(parseError("Et*99999999L"),
            "layout, character 3: the layout is too long; 1048576 layers and "
            "stages are the most");
}

TEST(LayerLayout, RefusesMisplacedLayers) {
  StringRef embedding = "layout: expected one embedding, E, as the first layer";
  for (StringRef text : {"", "ttL", "tEL", "EEL"})
    EXPECT_EQ(parseError(text), embedding) << text.str();
  StringRef loss = "layout: expected one loss, L, as the last layer";
  for (StringRef text : {"Et", "ELt", "ELL"})
    EXPECT_EQ(parseError(text), loss) << text.str();
  EXPECT_EQ(parseError("EtmtL"), "layout: expected decoder layers, t, before "
                                 "multi-token prediction, m");
}

TEST(LayerLayout, SharesStagesOutAmongRanks) {
  LayerLayout layout = parse("Ett|tt|tt|ttL");
  int64_t chunks = 0;
  EXPECT_EQ(toString(setChunks(layout, 2, chunks)), "");
  EXPECT_EQ(chunks, 2);
  EXPECT_EQ(toString(setChunks(layout, 3, chunks)),
            "layout: 4 stages cannot be shared out evenly among 3 ranks; the "
            "ranks must divide the stages");
}

// 8 decoder layers and a loss that takes as long as 2 of them: 10 in all. 2
// ranks with 5 each do the work of 20, so a layer takes 2 of b and 1 of f.
TEST(LayerLayout, SharesCostsOutByLayers) {
  std::vector<StageCost> costs =
      getStageCosts(parse("Ett|tt|tt|ttL"), /*ranks=*/2, {5, 10, 0},
                    {/*embedding=*/0, /*mtp=*/1, /*loss=*/2});
  ASSERT_EQ(costs.size(), 4u);
  EXPECT_DOUBLE_EQ(costs[0].f, 2);
  EXPECT_DOUBLE_EQ(costs[1].b, 4);
  EXPECT_DOUBLE_EQ(costs[3].f, 4);
  EXPECT_DOUBLE_EQ(costs[3].b, 8);
  EXPECT_DOUBLE_EQ(costs[3].w, 0);
}
