//===- RunTests.cpp - Whole runs of fake ranks ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "RunLog.h"
#include "data/Safetensors.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

using nlohmann::json;

namespace {
/// Runs of the chain with x = 1, target = 0 and all weights 1.
class RunTest : public testing::Test {
protected:
  /// Writes the data of \p samples samples and the weights.
  void prepare(int64_t samples, int64_t layers, int64_t width = 1) {
    std::vector<float> ones(samples * width, 1), zeros(samples * width);
    writeNpy(folder.getPath("x.npy"), {samples, width}, ones);
    writeNpy(folder.getPath("target.npy"), {samples, width}, zeros);
    std::vector<std::string> names;
    for (int64_t i = 0; i < layers; ++i)
      names.push_back("w" + std::to_string(i));
    writeWeights(folder.getPath("weights"), names, 1, 1.0f);
  }

  std::string getCommand(int ranks, const std::string &spec,
                         const std::string &options) {
    return std::string(FAKE_RANK) + " ranks=" + std::to_string(ranks) + "," +
           spec + " --data x=" + folder.getPath("x.npy") +
           " --data target=" + folder.getPath("target.npy") + " --weights " +
           folder.getPath("weights") + " --save-parameters " +
           folder.getPath("saved") + " " + options;
  }

  Outcome run(int ranks, const std::string &spec, const std::string &options) {
    return launch(ranks, getCommand(ranks, spec, options), folder);
  }

  float getSaved(int64_t layer) {
    std::vector<float> value =
        readTensor(folder.getPath("saved"), "w" + std::to_string(layer));
    return value.size() == 1 ? value[0] : NAN;
  }

  TemporaryFolder folder;
};
} // namespace

TEST_F(RunTest, TransportsConform) {
  for (auto [ranks, name] : {std::pair(1, "self"), std::pair(1, "threads"),
                             std::pair(2, "mpi"), std::pair(3, "mpi")}) {
    Outcome outcome =
        launch(ranks, std::string(CONFORMANCE) + " " + name, folder);
    EXPECT_TRUE(outcome.succeeded)
        << name << outcome.output << outcome.messages;
  }
}

/// A port that nobody listens at.
static std::string findPort() {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  socklen_t length = sizeof address;
  auto *generic = reinterpret_cast<sockaddr *>(&address);
  EXPECT_EQ(bind(listener, generic, length), 0);
  EXPECT_EQ(getsockname(listener, generic, &length), 0);
  close(listener);
  return std::to_string(ntohs(address.sin_port));
}

/// A shell's command that starts \p command for each of \p ranks ranks, the
/// last first, and fails if one fails. It knows $RANK.
static std::string startEach(int ranks, const std::string &command) {
  std::string last = std::to_string(ranks - 1);
  return "sh -c 'for RANK in $(seq " + last + " -1 0); do export RANK; " +
         command +
         " & all=\"$all $!\"; done; for each in $all; do wait $each || exit 1; "
         "done'";
}

TEST_F(RunTest, TcpConforms) {
  Outcome outcome = launch(
      1, startEach(3, std::string(CONFORMANCE) + " tcp $RANK 3 " + findPort()),
      folder);
  EXPECT_TRUE(outcome.succeeded) << outcome.output << outcome.messages;
}

// As torchrun starts them: without MPI.
TEST_F(RunTest, RanksMeetWhereTheEnvironmentSays) {
  prepare(8, 2);
  std::string options = "--steps 3 --lr 0.1 --log jsonl";
  Outcome expected = run(2, "layers=2", options);
  std::string environment =
      "env WORLD_SIZE=2 MASTER_ADDR=localhost MASTER_PORT=" + findPort() + " ";
  Outcome outcome =
      launch(1, startEach(2, environment + getCommand(2, "layers=2", options)),
             folder);
  EXPECT_TRUE(outcome.succeeded) << outcome.messages;
  std::vector<json> lines = parseLines(outcome.output);
  std::vector<json> expectedLines = parseLines(expected.output);
  ASSERT_EQ(lines.size(), 3u) << outcome.output << outcome.messages;
  ASSERT_EQ(expectedLines.size(), 3u);
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(lines[i]["loss"], expectedLines[i]["loss"]);
}

// The mean over micro-batches is taken once: neither the number of
// micro-batches nor that of stages scales the gradient, 2.
TEST_F(RunTest, EveryWeightMovesByTwiceTheRate) {
  for (int64_t microbatches : {1, 2, 8}) {
    prepare(microbatches, 2);
    for (int ranks : {1, 2}) {
      Outcome outcome =
          run(ranks, "microbatches=" + std::to_string(microbatches),
              "--lr 0.125 --log jsonl");
      ASSERT_EQ(outcome.statuses, std::vector<int>(ranks, 0))
          << outcome.messages;
      EXPECT_EQ(getSaved(0), 0.75f) << ranks << " ranks";
      EXPECT_EQ(getSaved(1), 0.75f) << ranks << " ranks";
      std::vector<json> lines = parseLines(outcome.output);
      ASSERT_EQ(lines.size(), 1u) << outcome.output;
      EXPECT_EQ(lines[0]["step"], 1);
      EXPECT_EQ(lines[0]["loss"], 1.0);
      EXPECT_FLOAT_EQ(lines[0]["grad_norm"], std::sqrt(8.0f));
      EXPECT_EQ(lines[0]["lr"], 0.125);
      EXPECT_GT(lines[0]["step_time_s"], 0.0);
      EXPECT_GT(lines[0]["tokens_per_s"], 0.0);
    }
  }
}

// One process, four in a row, and two folded into a V, whose loss is on rank 0
// and which has a channel from a rank to itself.
TEST_F(RunTest, LayoutsGiveTheSameBits) {
  prepare(6, 4, 3);
  std::string options = "--steps 7 --lr 0.01 --clip-grad-norm 3 "
                        "--lr-schedule cosine,warmup=2 --log jsonl";
  for (const char *optimizer : {"adamw=0", "adamw=1"}) {
    std::string spec =
        std::string("layers=4,width=3,microbatches=3,") + optimizer;
    std::vector<std::string> losses, parameters;
    for (auto [ranks, shape] : {std::pair(1, ""), std::pair(4, ""),
                                std::pair(2, ""), std::pair(2, ",v=1")}) {
      Outcome outcome = run(ranks, spec + shape, options);
      ASSERT_EQ(outcome.statuses, std::vector<int>(ranks, 0))
          << outcome.messages;
      std::string series;
      for (const json &line : parseLines(outcome.output))
        series += line["loss"].dump() + " " + line["grad_norm"].dump() + "\n";
      losses.push_back(series);
      parameters.push_back(readFile(folder.getPath("saved")));
    }
    for (size_t i = 1; i < losses.size(); ++i) {
      EXPECT_EQ(losses[i], losses[0]);
      EXPECT_EQ(parameters[i], parameters[0]);
    }
  }
}

// The sender has one slot and the receiver is slow: a slot is not written
// before it has been sent.
TEST_F(RunTest, SlowReceiverSeesWhatWasSent) {
  int64_t width = 100000;
  prepare(8, 2, width);
  // Each micro-batch its own numbers.
  std::vector<float> x(8 * width);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(1 + i / width);
  writeNpy(folder.getPath("x.npy"), {8, width}, x);
  std::string spec = "microbatches=8,slots=1,width=" + std::to_string(width);
  Outcome slow =
      run(2, spec + ",slow=1",
          "--eval --log jsonl --save-outputs " + folder.getPath("slow"));
  ASSERT_EQ(slow.statuses, std::vector<int>(2, 0)) << slow.messages;
  std::string expected = readFile(folder.getPath("x.npy"));
  EXPECT_TRUE(readFile(folder.getPath("slow/prediction.npy")) == expected);
  Outcome trained = run(2, spec + ",slow=1", "--lr 0.001 --log jsonl");
  Outcome alone = run(1, spec, "--lr 0.001 --log jsonl");
  EXPECT_EQ(parseLines(trained.output)[0]["loss"],
            parseLines(alone.output)[0]["loss"]);
}

// Two layers give (10, 10) each; the norm is that of the sum (20, 20), and
// both copies move alike.
TEST_F(RunTest, TiedGradientsAreSummedAndCountedOnce) {
  prepare(1, 0);
  writeWeights(folder.getPath("weights"), {"shared"}, 2, 1.0f);
  for (int ranks : {1, 2}) {
    Outcome outcome =
        run(ranks, "model=tied", "--steps 2 --lr 0.01 --log jsonl");
    ASSERT_EQ(outcome.statuses, std::vector<int>(ranks, 0)) << outcome.messages;
    for (const json &line : parseLines(outcome.output))
      EXPECT_DOUBLE_EQ(line["grad_norm"], std::sqrt(800.0));
    // 1 - 2 * 0.01 * 20
    for (float value : readTensor(folder.getPath("saved"), "shared"))
      EXPECT_FLOAT_EQ(value, 0.6f);
  }
}

TEST_F(RunTest, ClippingScalesAllRanksAlike) {
  prepare(1, 2);
  Outcome outcome = run(2, "", "--lr 0.5 --clip-grad-norm 1");
  ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
  // The gradient (2, 2) becomes (1, 1) / sqrt(2).
  EXPECT_NEAR(getSaved(0), 1 - 0.5 / std::sqrt(2.0), 1e-6);
  EXPECT_EQ(getSaved(0), getSaved(1));
}

TEST_F(RunTest, LostRankIsNamedByAllOthers) {
  prepare(2, 4);
  for (int victim : {0, 2, 3}) {
    Outcome outcome =
        run(4, "layers=4,microbatches=2,die=" + std::to_string(victim),
            "--steps 1000000");
    EXPECT_LT(outcome.seconds, soon);
    for (int rank = 0; rank < 4; ++rank) {
      if (rank == victim)
        continue;
      EXPECT_EQ(outcome.statuses[rank], 10) << outcome.messages;
      EXPECT_TRUE(contains(outcome.messages,
                           "pprt: rank " + std::to_string(rank) +
                               ": error: rank " + std::to_string(victim) +
                               " was lost while this rank was "))
          << outcome.messages;
    }
  }
}

TEST_F(RunTest, RankThatHangsEndsTheRun) {
  prepare(2, 2);
  Outcome outcome =
      run(2, "layers=2,microbatches=2,hang=0", "--steps 5 --timeout 2");
  EXPECT_LT(outcome.seconds, soon);
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 11)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages,
                       "receiving 'a.0' from rank 0 (stage 1, micro-batch 0) "
                       "in step 2"))
      << outcome.messages;
}

// What was posted arrives while the rank does what comes before its use: here,
// what the other rank needs to make it.
TEST_F(RunTest, PostedReceivesHoldNothingUp) {
  prepare(4, 2);
  std::vector<std::string> outputs;
  for (const char *spec : {"microbatches=2", "microbatches=2,early=1"}) {
    Outcome outcome = run(2, spec, "--steps 5 --timeout 20 --log jsonl");
    ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
    outputs.push_back(readFile(folder.getPath("saved")));
    EXPECT_EQ(parseLines(outcome.output).size(), 5u) << outcome.output;
  }
  EXPECT_EQ(outputs[0], outputs[1]);
}

// A program that the compiler's checker refuses: each rank waits for what
// another sends only later.
TEST_F(RunTest, RanksThatWaitForEachOtherEndTheRun) {
  prepare(2, 4);
  for (int ranks : {2, 4}) {
    std::string layers = "layers=" + std::to_string(ranks);
    Outcome outcome = run(ranks, layers + ",microbatches=2,crossed=1",
                          "--steps 5 --timeout 2");
    EXPECT_LT(outcome.seconds, soon);
    EXPECT_EQ(outcome.statuses, std::vector<int>(ranks, 11))
        << outcome.messages;
    EXPECT_TRUE(contains(outcome.messages,
                         "receiving 'g.1' from rank 1 (stage 0, micro-batch 0) "
                         "in step 1"))
        << outcome.messages;
  }
}

TEST_F(RunTest, RanksOfTwoPlansDoNotStart) {
  prepare(1, 2);
  Outcome outcome = run(2, "other-plan=1", "");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 14)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages,
                       "rank 1 was built from another plan than rank 0"))
      << outcome.messages;
}

TEST_F(RunTest, RanksInTheWrongPlaceDoNotStart) {
  prepare(1, 2);
  Outcome outcome = run(2, "shift=1", "");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 14)) << outcome.messages;
  EXPECT_TRUE(
      contains(outcome.messages, "process 0 runs the executable of rank 1"))
      << outcome.messages;
}

TEST_F(RunTest, TooFewProcessesDoNotStart) {
  prepare(1, 2);
  Outcome outcome =
      launch(1, std::string(FAKE_RANK) + " ranks=2 --data x=none", folder);
  EXPECT_EQ(outcome.statuses[0], 14) << outcome.messages;
  EXPECT_TRUE(
      contains(outcome.messages, "built for 2 ranks, but started with 1"))
      << outcome.messages;
}

// Only rank 0 reads x; all must stop.
TEST_F(RunTest, DataMissingOnOneRankStopsAll) {
  prepare(2, 2);
  writeNpy(folder.getPath("x.npy"), {1, 1}, {1});
  Outcome outcome = run(2, "microbatches=2", "");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 3)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages, "' has 1 samples, but '"))
      << outcome.messages;
}

TEST_F(RunTest, MissingParameterIsNamed) {
  prepare(1, 1);
  Outcome outcome = run(2, "", "");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 3)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages, "tensor 'w1' is missing"))
      << outcome.messages;
}

TEST_F(RunTest, NumericFailureStopsAllRanks) {
  prepare(1, 2);
  writeNpy(folder.getPath("target.npy"), {1, 1}, {NAN});
  Outcome outcome = run(2, "", "--fail-on-nan --steps 3 --log jsonl");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 13)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages, "the loss is not finite in step 1"))
      << outcome.messages;
}

// Only rank 1 has an infinite gradient; the loss is as good as ever.
TEST_F(RunTest, OverflowOnOneRankStopsAllRanks) {
  prepare(1, 2);
  Outcome outcome = run(2, "overflow=1", "--fail-on-nan --steps 3 --log jsonl");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 13)) << outcome.messages;
  EXPECT_TRUE(
      contains(outcome.messages, "the gradient norm is not finite in step 2"))
      << outcome.messages;
  EXPECT_LT(outcome.seconds, soon);
}

// The step after the skipped one is the first for the optimizer: the result is
// that of a run without the bad step.
TEST_F(RunTest, OverflowOnOneRankIsSkippedOnAll) {
  prepare(1, 2);
  for (const char *optimizer : {",adamw=0", ",adamw=1"}) {
    std::string spec = std::string("step=1,overflow=1") + optimizer;
    Outcome outcome =
        run(2, spec, "--skip-nan --steps 2 --lr 0.125 --log jsonl");
    ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
    EXPECT_LT(outcome.seconds, soon);
    std::istringstream lines(outcome.output);
    std::string first, second;
    ASSERT_TRUE(std::getline(lines, first) && std::getline(lines, second));
    EXPECT_TRUE(contains(first, "\"skipped\":true")) << first;
    EXPECT_TRUE(contains(second, "\"loss\":1,")) << second;
    EXPECT_FALSE(contains(second, "skipped")) << second;
    float skipped[] = {getSaved(0), getSaved(1)};
    outcome = run(2, optimizer + 1, "--steps 1 --lr 0.125");
    ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
    EXPECT_EQ(getSaved(0), skipped[0]);
    EXPECT_EQ(getSaved(1), skipped[1]);
    EXPECT_NE(getSaved(0), 1.0f);
  }
}

// Powers of two change no bit; another scale rounds.
TEST_F(RunTest, ScaledGradientsAreDividedByTheScale) {
  prepare(4, 3);
  for (const char *optimizer : {"adamw=0", "adamw=1"}) {
    std::string spec = std::string("layers=3,microbatches=2,") + optimizer;
    std::string options = "--steps 3 --lr 0.01 --clip-grad-norm 3 --log jsonl";
    Outcome plain = run(3, spec, options);
    ASSERT_EQ(plain.statuses, std::vector<int>(3, 0)) << plain.messages;
    std::string parameters = readFile(folder.getPath("saved"));
    for (auto [scale, number] :
         {std::pair("1024", 1024.0), std::pair("0.125", 0.125)}) {
      Outcome scaled =
          run(3, spec, options + " --loss-scale " + std::string(scale));
      ASSERT_EQ(scaled.statuses, std::vector<int>(3, 0)) << scaled.messages;
      std::vector<json> expected = parseLines(plain.output);
      std::vector<json> lines = parseLines(scaled.output);
      ASSERT_EQ(lines.size(), 3u);
      for (size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(lines[i]["loss"], expected[i]["loss"]);
        EXPECT_EQ(lines[i]["grad_norm"], expected[i]["grad_norm"]);
        EXPECT_EQ(lines[i]["loss_scale"], number);
        EXPECT_FALSE(expected[i].contains("loss_scale"));
      }
      EXPECT_EQ(readFile(folder.getPath("saved")), parameters);
    }
    float weight = getSaved(0);
    Outcome scaled = run(3, spec, options + " --loss-scale 3");
    EXPECT_NEAR(getSaved(0), weight, 1e-6);
  }
}

// The gradient of each weight is a little below 2 times the scale, and one
// rank holds no more than 65504: 2^14 is the largest scale that it bears.
TEST_F(RunTest, DynamicScaleFallsWhereOneRankOverflows) {
  prepare(1, 3);
  std::vector<double> scales = {65536, 32768, 16384, 16384,
                                32768, 16384, 16384};
  std::vector<int> updates = {0, 0, 1, 2, 2, 3, 4}; // After each step.
  for (int half : {0, 1, 2}) {
    Outcome plain = run(3, "layers=3", "--steps 5 --lr 1e-6 --log jsonl");
    std::vector<json> expected = parseLines(plain.output);
    ASSERT_EQ(expected.size(), 5u) << plain.messages;
    run(3, "layers=3", "--steps 4 --lr 1e-6");
    std::string parameters = readFile(folder.getPath("saved"));
    Outcome outcome = run(3, "layers=3,half=" + std::to_string(half),
                          "--steps 7 --lr 1e-6 --log jsonl --fail-on-nan "
                          "--loss-scale dynamic,growth-interval=2");
    ASSERT_EQ(outcome.statuses, std::vector<int>(3, 0)) << outcome.messages;
    EXPECT_LT(outcome.seconds, soon);
    std::vector<json> lines = parseLines(outcome.output);
    ASSERT_EQ(lines.size(), scales.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      int before = i == 0 ? 0 : updates[i - 1];
      bool skipped = updates[i] == before;
      EXPECT_EQ(lines[i]["loss_scale"], scales[i]) << "step " << i + 1;
      EXPECT_EQ(lines[i].value("skipped", false), skipped);
      EXPECT_EQ(lines[i]["loss"], expected[before]["loss"]);
      if (!skipped)
        EXPECT_EQ(lines[i]["grad_norm"], expected[before]["grad_norm"]);
    }
    EXPECT_EQ(readFile(folder.getPath("saved")), parameters);
  }
}

// A scale of 1 does not fall: gradients that overflow nevertheless are as bad
// as without a scale, and so is a bad loss under any scale.
TEST_F(RunTest, DynamicScaleDoesNotHideFailures) {
  prepare(1, 2);
  std::string options = "--fail-on-nan --steps 3 --loss-scale dynamic,init=";
  Outcome outcome = run(2, "overflow=1", options + "2");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
  outcome = run(2, "overflow=1", options + "1");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 13)) << outcome.messages;
  EXPECT_TRUE(
      contains(outcome.messages, "the gradient norm is not finite in step 2"))
      << outcome.messages;
  writeNpy(folder.getPath("target.npy"), {1, 1}, {NAN});
  outcome = run(2, "", options + "1024");
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 13)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages, "the loss is not finite in step 1"))
      << outcome.messages;
}

TEST_F(RunTest, TraceHasTheActionsOfAllRanks) {
  prepare(2, 2);
  Outcome outcome = run(2, "microbatches=2",
                        "--steps 2 --trace " + folder.getPath("trace.json"));
  ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
  json trace = json::parse(readFile(folder.getPath("trace.json")), nullptr,
                           /*allow_exceptions=*/false);
  ASSERT_TRUE(trace.is_object());
  std::map<std::string, int> counts;
  for (const json &event : trace["traceEvents"])
    if (event["ph"] == "X")
      ++counts[event["pid"].dump() + " " + event["name"].get<std::string>()];
  for (const char *name :
       {"0 F s0 mb0", "0 F s0 mb1", "1 F s1 mb1", "1 BW s1 mb0", "0 BW s0 mb1",
        "0 SEND a.0 mb0", "1 RECV a.0 mb0", "0 update", "1 update"})
    EXPECT_EQ(counts[name], 2) << name;
}

// Stage 0 sends a large message and computes on; it arrives meanwhile, even
// where the receiver cannot fetch it from the sender's memory.
TEST_F(RunTest, MessagesArriveWhileTheSenderComputes) {
  int64_t width = 32768;
  prepare(4, 2, width);
  for (const char *mechanism : {"cma", "none"}) {
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", mechanism, 1);
    Outcome outcome =
        run(2, "microbatches=4,slow=0,width=" + std::to_string(width),
            "--trace " + folder.getPath("trace.json"));
    ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
    json trace = json::parse(readFile(folder.getPath("trace.json")), nullptr,
                             /*allow_exceptions=*/false);
    double received = 0, lastForward = 0;
    for (const json &event : trace["traceEvents"]) {
      if (event["name"] == "RECV a.0 mb0")
        received = event["ts"].get<double>() + event["dur"].get<double>();
      if (event["name"] == "F s0 mb3")
        lastForward = event["ts"];
    }
    EXPECT_LT(received, lastForward) << mechanism;
  }
  unsetenv("OMPI_MCA_btl_vader_single_copy_mechanism");
}

TEST_F(RunTest, ReportedMemoryIsTheArena) {
  prepare(1, 2);
  Outcome outcome = run(2, "", "--report " + folder.getPath("report.json"));
  ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
  json report = json::parse(readFile(folder.getPath("report.json")), nullptr,
                            /*allow_exceptions=*/false);
  ASSERT_EQ(report["ranks"].size(), 2u);
  EXPECT_EQ(report["ranks"][1]["rank"], 1);
  EXPECT_GT(report["ranks"][1]["arena_bytes"], 0);
  EXPECT_EQ(report["ranks"][1]["parameter_bytes"], 4);
  EXPECT_TRUE(contains(outcome.output, "memory, MiB")) << outcome.output;
}
