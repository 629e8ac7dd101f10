//===- OptionTests.cpp - The command line of a rank -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/Options.h"
#include "log/StepLog.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace pprt;

static Status parse(std::vector<const char *> arguments, CommandLine &result,
                    PprtOptimizer optimizer = PPRT_ADAMW) {
  arguments.insert(arguments.begin(), "rank-000");
  return parseOptions(arguments.size(), arguments.data(), optimizer, result);
}

static std::string getError(std::vector<const char *> arguments,
                            PprtOptimizer optimizer = PPRT_ADAMW) {
  CommandLine commandLine;
  Status status = parse(std::move(arguments), commandLine, optimizer);
  EXPECT_EQ(status.getCode(), ExitCode::Usage);
  return status.getMessage();
}

TEST(Options, TheSeedOfDelaysComesFromTheEnvironment) {
  CommandLine commandLine;
  unsetenv("PIPEWRIGHT_FUZZ_DELAY");
  ASSERT_FALSE(parse({}, commandLine).failed());
  EXPECT_FALSE(commandLine.options.fuzzSeed);
  setenv("PIPEWRIGHT_FUZZ_DELAY", "12", 1);
  ASSERT_FALSE(parse({}, commandLine).failed());
  EXPECT_EQ(commandLine.options.fuzzSeed, 12u);
  setenv("PIPEWRIGHT_FUZZ_DELAY", "soon", 1);
  std::string error = getError({});
  EXPECT_NE(error.find("PIPEWRIGHT_FUZZ_DELAY cannot be 'soon'"),
            std::string::npos)
      << error;
  unsetenv("PIPEWRIGHT_FUZZ_DELAY");
}

TEST(Options, ValuesFollowInBothForms) {
  CommandLine commandLine;
  ASSERT_FALSE(
      parse({"--steps", "20", "--lr=3e-4", "--lr-schedule", "cosine,warmup=5",
             "--log", "jsonl", "--shuffle", "--seed=18446744073709551615",
             "--data", "a=1,b=2", "--data=corpus,1.txt"},
            commandLine)
          .failed());
  const RankOptions &options = commandLine.options;
  EXPECT_EQ(options.steps, 20);
  EXPECT_EQ(options.learningRate, 3e-4);
  EXPECT_EQ(options.schedule.warmup, 5);
  EXPECT_EQ(options.logFormat, LogFormat::Jsonl);
  EXPECT_TRUE(options.data.shuffle);
  EXPECT_EQ(options.data.seed, UINT64_MAX);
  EXPECT_EQ(options.data.files,
            (std::vector<std::string>{"a=1", "b=2", "corpus,1.txt"}));
}

TEST(Options, MistakesAreNamed) {
  EXPECT_EQ(getError({"--stepz", "1"}), "unknown option '--stepz'; see --help");
  EXPECT_EQ(getError({"--resume=auto"}),
            "unknown option '--resume'; see --help");
  EXPECT_EQ(getError({"--steps"}), "option '--steps' needs a value");
  EXPECT_EQ(getError({"--steps", "0"}),
            "option '--steps' cannot be '0': training steps, or batches to "
            "evaluate (default 1)");
  std::string scale = getError({"--loss-scale", "dynamic,init=0.5"});
  EXPECT_EQ(scale.find("option '--loss-scale' cannot be 'dynamic,init=0.5': "),
            0u)
      << scale;
  EXPECT_EQ(getError({"--eval=yes"}), "option '--eval' takes no value");
  EXPECT_EQ(getError({"--momentum", "0.9"}),
            "option '--momentum' is of SGD, and this was built with "
            "'--optimizer adamw'");
  EXPECT_EQ(getError({"--beta1", "0.9"}, PPRT_SGD),
            "options '--beta1', '--beta2' and '--eps' are of AdamW, and this "
            "was built with '--optimizer sgd'");
  EXPECT_EQ(getError({"--beta2", "1"}),
            "options '--beta1' and '--beta2' must be below 1");
}

TEST(Options, HelpShowsAnExample) {
  CommandLine commandLine;
  ASSERT_FALSE(parse({"--help"}, commandLine).failed());
  EXPECT_TRUE(commandLine.help);
  std::string help = getHelp("rank-000");
  EXPECT_NE(help.find("example: mpirun -n 4"), std::string::npos);
  EXPECT_NE(help.find("--clip-grad-norm X"), std::string::npos);
}

TEST(StepLog, LossReadsBackToTheSameFloat) {
  StepRecord record = {};
  record.step = 3;
  record.steps = 10;
  record.hasLoss = record.trained = true;
  record.loss = 0.1f + 0.2f;
  record.gradientNorm = 2;
  record.learningRate = 0.001;
  record.seconds = 0.25;
  record.tokensPerSecond = 1024;
  EXPECT_EQ(formatJsonl(record),
            "{\"step\":3,\"loss\":0.3,\"grad_norm\":2,\"lr\":0.001,"
            "\"step_time_s\":0.25,\"tokens_per_s\":1024}\n");
  record.loss = std::nextafter(0.3f, 1.0f);
  std::string line = formatJsonl(record);
  EXPECT_EQ(std::stof(line.substr(line.find("loss") + 6)), record.loss);
  record.loss = std::nextafter(0.3, 1.0);
  record.hasWideLoss = true;
  line = formatJsonl(record);
  EXPECT_EQ(std::stod(line.substr(line.find("loss") + 6)), record.loss);
}

TEST(StepLog, SkippedStepsSaySo) {
  StepRecord record = {};
  record.step = record.steps = 1;
  record.trained = record.skipped = true;
  record.gradientNorm = INFINITY;
  record.seconds = 1;
  EXPECT_EQ(formatJsonl(record),
            "{\"step\":1,\"grad_norm\":Infinity,\"lr\":0,\"skipped\":true,"
            "\"step_time_s\":1,\"tokens_per_s\":0}\n");
  EXPECT_EQ(formatText(record),
            "step 1/1  gradient norm       inf  lr 0.000e+00  skipped  1.000 s "
            " 0 tokens/s\n");
}

TEST(StepLog, ScaleIsShownIfUsed) {
  StepRecord record = {};
  record.step = record.steps = 1;
  record.trained = true;
  record.lossScale = 32768;
  record.seconds = 1;
  EXPECT_EQ(formatJsonl(record),
            "{\"step\":1,\"grad_norm\":0,\"lr\":0,\"loss_scale\":32768,"
            "\"step_time_s\":1,\"tokens_per_s\":0}\n");
  EXPECT_EQ(formatText(record),
            "step 1/1  gradient norm    0.0000  lr 0.000e+00  loss scale 32768"
            "  1.000 s  0 tokens/s\n");
}

TEST(StepLog, EvaluationHasNoNorm) {
  StepRecord record = {};
  record.step = record.steps = 1;
  record.hasLoss = true;
  record.loss = NAN;
  record.seconds = 1;
  EXPECT_EQ(formatJsonl(record), "{\"step\":1,\"loss\":NaN,\"step_time_s\":1,"
                                 "\"tokens_per_s\":0}\n");
  EXPECT_EQ(formatText(record),
            "step 1/1  loss       nan  1.000 s  0 tokens/s\n");
}
