//===- MutationTests.cpp - Damaged files are refused, never a crash
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Checker.h"
#include "pipewright/Schedule/Communication.h"
#include "pipewright/Schedule/Formats.h"
#include "pipewright/Schedule/LayerLayout.h"
#include "pipewright/Schedule/ScheduleRegistry.h"

#include <gtest/gtest.h>

#include <random>

using namespace llvm;
using namespace pipewright;

namespace {
/// Damages texts, the same way in each run.
class Mutator {
public:
  explicit Mutator(StringRef alphabet) : alphabet(alphabet) {}

  /// \p text with one to three characters or stretches changed.
  std::string mutate(std::string text) {
    for (size_t edits = 1 + pick(3); edits > 0 && !text.empty(); --edits)
      edit(text);
    return text;
  }

private:
  size_t pick(size_t count) { return random() % count; }

  void edit(std::string &text) {
    size_t place = pick(text.size());
    size_t length = 1 + pick(8);
    switch (pick(5)) {
    case 0:
      text[place] = alphabet[pick(alphabet.size())];
      return;
    case 1:
      text.insert(text.begin() + place, alphabet[pick(alphabet.size())]);
      return;
    case 2:
      text.erase(place, length);
      return;
    case 3:
      text.insert(pick(text.size()), text.substr(place, length));
      return;
    default:
      text[place] = static_cast<char>(random());
    }
  }

  std::string alphabet;
  std::mt19937 random{1};
};

struct Counts {
  int accepted = 0;
  int refused = 0;
};
} // namespace

/// Reads \p text as a file and does with it what the tools do. Whatever was
/// accepted must bear being checked and, if it is valid, run and drawn.
static void read(StringRef text,
                 function_ref<Expected<Schedule>(StringRef)> parse,
                 Counts &counts) {
  Expected<Schedule> schedule = parse(text);
  if (!schedule) {
    ++counts.refused;
    EXPECT_FALSE(toString(schedule.takeError()).empty()) << text.str();
    return;
  }
  ++counts.accepted;
  if (!checkSchedule(*schedule).empty())
    return;
  Timeline timeline = simulate(*schedule, makeUniformCosts(*schedule, {}));
  std::string picture;
  raw_string_ostream os(picture);
  writeSvg(*schedule, timeline, os);
  writeTable(*schedule, timeline, measure(*schedule, timeline), os);
  writeTrace(*schedule, timeline, os);
}

static constexpr int rounds = 4000;

/// Each schedule of the registry, with its messages, in a small size that it
/// serves.
static std::vector<Schedule> getSeeds() {
  std::vector<Schedule> seeds;
  for (const ScheduleInfo &info : ScheduleRegistry::get().getEntries()) {
    Expected<Schedule> schedule = buildSchedule(info.name, {2, 4, 0});
    if (!schedule) {
      consumeError(schedule.takeError());
      continue;
    }
    seeds.push_back(
        addCommunication(*schedule, makeUniformCosts(*schedule, {})));
    seeds.push_back(std::move(*schedule));
  }
  return seeds;
}

static void
damage(StringRef alphabet,
       function_ref<std::optional<std::string>(const Schedule &)> write,
       function_ref<Expected<Schedule>(StringRef)> parse) {
  Mutator mutator(alphabet);
  Counts counts;
  std::vector<std::string> texts;
  for (const Schedule &seed : getSeeds())
    if (std::optional<std::string> text = write(seed))
      texts.push_back(std::move(*text));
  ASSERT_FALSE(texts.empty());
  for (int round = 0; round < rounds; ++round)
    read(mutator.mutate(texts[round % texts.size()]), parse, counts);
  // Both ways were tried.
  EXPECT_GT(counts.accepted, 0);
  EXPECT_GT(counts.refused, rounds / 4);
}

TEST(Mutation, Json) {
  damage(
      "{}[]\",:0123456789-.eFBWR",
      [](const Schedule &schedule) -> std::optional<std::string> {
        std::string text;
        raw_string_ostream os(text);
        CostModel costs = makeUniformCosts(schedule, {});
        writeJson(schedule, measure(schedule, simulate(schedule, costs)), os);
        return text;
      },
      [](StringRef text) { return parseScheduleJson(text); });
}

TEST(Mutation, Csv) {
  damage(
      "0123456789FBIW,;()_\"\n\r ",
      [](const Schedule &schedule) -> std::optional<std::string> {
        std::string text;
        raw_string_ostream os(text);
        if (Error error = writeCsv(schedule, os)) {
          consumeError(std::move(error));
          return std::nullopt;
        }
        return text;
      },
      [](StringRef text) { return parseScheduleCsv(text); });
}

TEST(Mutation, LayerLayout) {
  Mutator mutator("EtmL|()*,0123456789");
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    std::string text = mutator.mutate("Et*3|(tt|)*29,m|L");
    Expected<LayerLayout> layout = parseLayerLayout(text);
    if (!layout) {
      EXPECT_FALSE(toString(layout.takeError()).empty()) << text;
      continue;
    }
    ++accepted;
    Expected<LayerLayout> again = parseLayerLayout(toString(*layout));
    ASSERT_TRUE(bool(again)) << text << toString(again.takeError());
    EXPECT_EQ(*again, *layout) << text;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_LT(accepted, rounds);
}
