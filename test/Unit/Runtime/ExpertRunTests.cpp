//===- ExpertRunTests.cpp - Whole runs of replicas that share experts -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch.h"
#include "RunLog.h"
#include "data/Safetensors.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>

using namespace pprt;
using nlohmann::json;

namespace {
constexpr int64_t width = 3;
constexpr double rate = 0.01;

/// The experts' model, as one that has all experts trains it.
struct Reference {
  explicit Reference(int64_t experts) : gradients(2 * experts) {
    for (int64_t i = 0; i < 2 * experts; ++i)
      parameters.push_back(0.5f + 0.25f * i);
  }

  void addGradients(const float *x, const float *target) {
    size_t experts = parameters.size() / 2;
    const double *expert = parameters.data(), *factor = expert + experts;
    double product = std::inner_product(expert, factor, factor, 0.0);
    for (int64_t i = 0; i < width; ++i) {
      double error = product * x[i] - target[i];
      loss += error * error;
      for (size_t j = 0; j < experts; ++j) {
        gradients[j] += 2 * error * factor[j] * x[i];
        gradients[experts + j] += 2 * error * expert[j] * x[i];
      }
    }
  }

  void update(int64_t samples) {
    loss /= samples * width;
    norm = 0;
    for (size_t i = 0; i < parameters.size(); ++i) {
      double gradient = gradients[i] / (samples * width);
      norm += gradient * gradient;
      parameters[i] -= rate * gradient;
    }
    norm = std::sqrt(norm);
    gradients.assign(parameters.size(), 0);
  }

  std::vector<double> parameters; ///< experts, then their factors
  std::vector<double> gradients;
  double loss = 0, norm = 0;
};

class ExpertRunTest : public testing::Test {
protected:
  void prepare(int64_t samples, int64_t experts) {
    for (int64_t i = 0; i < samples * width; ++i) {
      x.push_back(std::sin(i + 1.0f));
      target.push_back(std::cos(3.0f * i));
    }
    writeNpy(folder.getPath("x.npy"), {samples, width}, x);
    writeNpy(folder.getPath("target.npy"), {samples, width}, target);
    SafetensorsIndex index;
    for (const char *name : {"expert", "factor"})
      index[name] = {PPRT_F32, {experts}, 0, experts * sizeof(float)};
    std::ofstream file(folder.getPath("weights"), std::ios::binary);
    file << layOutSafetensors(index);
    for (double value : Reference(experts).parameters) {
      float number = static_cast<float>(value);
      file.write(reinterpret_cast<const char *>(&number), sizeof number);
    }
  }

  Outcome run(int processes, const std::string &spec,
              const std::string &options) {
    return launch(processes,
                  std::string(FAKE_RANK) +
                      " model=experts,width=" + std::to_string(width) + "," +
                      spec + " --data x=" + folder.getPath("x.npy") +
                      " --data target=" + folder.getPath("target.npy") +
                      " --weights " + folder.getPath("weights") +
                      " --save-parameters " + folder.getPath("saved") + " " +
                      options,
                  folder);
  }

  std::vector<float> getSaved() {
    std::vector<float> saved = readTensor(folder.getPath("saved"), "expert");
    for (float value : readTensor(folder.getPath("saved"), "factor"))
      saved.push_back(value);
    return saved;
  }

  std::vector<float> x, target;
  TemporaryFolder folder;
};
} // namespace

// Two groups of two, one of four, and one of two, whose blocks are sent from
// one slot; as processes and as threads, with the same bits.
TEST_F(ExpertRunTest, GroupsTrainAsOneThatHasAllExperts) {
  constexpr int64_t steps = 3, microbatches = 2;
  for (auto [replicas, group, more] :
       {std::tuple(4, 2, ""), std::tuple(4, 4, ""),
        std::tuple(2, 2, ",slots=1")}) {
    int64_t samples = replicas * microbatches;
    x.clear();
    target.clear();
    prepare(steps * samples, group);
    std::string spec = "replicas=" + std::to_string(replicas) +
                       ",group=" + std::to_string(group) + ",microbatches=2" +
                       more;
    std::string options = "--steps 3 --lr 0.01 --log jsonl --timeout 30";
    Outcome outcome = run(replicas, spec, options);
    ASSERT_EQ(outcome.statuses, std::vector<int>(replicas, 0))
        << outcome.messages;
    std::vector<json> lines = parseLines(outcome.output);
    ASSERT_EQ(lines.size(), size_t(steps)) << outcome.output;
    Reference reference(group);
    for (int64_t step = 0; step < steps; ++step) {
      reference.loss = 0;
      for (int64_t i = step * samples; i < (step + 1) * samples; ++i)
        reference.addGradients(&x[i * width], &target[i * width]);
      reference.update(samples);
      EXPECT_NEAR(lines[step]["loss"], reference.loss, 1e-4);
      EXPECT_NEAR(lines[step]["grad_norm"], reference.norm, 1e-4);
    }
    std::vector<float> saved = getSaved();
    ASSERT_EQ(saved.size(), reference.parameters.size());
    for (size_t i = 0; i < saved.size(); ++i)
      EXPECT_NEAR(saved[i], reference.parameters[i], 1e-5) << i;

    Outcome threads = run(1, spec, options + " --transport threads");
    ASSERT_EQ(threads.statuses, std::vector<int>(1, 0)) << threads.messages;
    EXPECT_EQ(getSaved(), saved);
  }
}

TEST_F(ExpertRunTest, EvaluationExchangesRowsToo) {
  prepare(4, 2);
  Outcome outcome = run(2, "replicas=2,group=2,microbatches=2",
                        "--eval --log jsonl --timeout 30");
  ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
  Reference reference(2);
  for (int64_t i = 0; i < 4; ++i)
    reference.addGradients(&x[i * width], &target[i * width]);
  reference.update(4);
  std::vector<json> lines = parseLines(outcome.output);
  ASSERT_EQ(lines.size(), 1u) << outcome.output;
  EXPECT_NEAR(lines[0]["loss"], reference.loss, 1e-5);
}

TEST_F(ExpertRunTest, ExchangesAreInTheTrace) {
  prepare(4, 2);
  Outcome outcome = run(2, "replicas=2,group=2,microbatches=2",
                        "--trace " + folder.getPath("trace.json"));
  ASSERT_EQ(outcome.statuses, std::vector<int>(2, 0)) << outcome.messages;
  json trace = json::parse(readFile(folder.getPath("trace.json")), nullptr,
                           /*allow_exceptions=*/false);
  std::map<std::string, int> counts;
  for (const json &event : trace["traceEvents"])
    if (event["ph"] == "X" && event["cat"] == "communication")
      ++counts[event["name"].get<std::string>()];
  EXPECT_EQ(counts.size(), 16u);
  for (const char *name : {"SEND x.0 mb0", "RECV x.0 mb0", "SEND x.1 mb1",
                           "RECV x.2 mb0", "SEND x.3 mb1", "RECV x.3 mb1"})
    EXPECT_EQ(counts[name], 1) << name;
}

TEST_F(ExpertRunTest, AReplicaThatHangsEndsTheRun) {
  prepare(4, 2);
  Outcome outcome = run(2, "replicas=2,group=2,microbatches=2,hang=1",
                        "--steps 5 --timeout 2");
  EXPECT_LT(outcome.seconds, soon);
  EXPECT_EQ(outcome.statuses, std::vector<int>(2, 11)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages,
                       "exchanging rows of 'x.0' with other pipelines (stage "
                       "0, micro-batch 0) in step 2"))
      << outcome.messages;
}

// Those with other experts skip the step too.
TEST_F(ExpertRunTest, AnExpertThatOverflowsIsSeenByAll) {
  for (const char *replica : {"0", "1", "2", "3"}) {
    x.clear();
    target.clear();
    prepare(16, 2);
    Outcome outcome = run(
        4, std::string("replicas=4,group=2,microbatches=2,overflow=") + replica,
        "--steps 2 --lr 0.01 --loss-scale dynamic,init=16 --log jsonl");
    ASSERT_EQ(outcome.statuses, std::vector<int>(4, 0)) << outcome.messages;
    std::vector<json> lines = parseLines(outcome.output);
    ASSERT_EQ(lines.size(), 2u) << outcome.output;
    EXPECT_FALSE(lines[0].contains("skipped"));
    EXPECT_EQ(lines[1]["skipped"], true);
    Reference reference(2);
    for (int64_t i = 0; i < 8; ++i)
      reference.addGradients(&x[i * width], &target[i * width]);
    reference.update(8);
    std::vector<float> saved = getSaved();
    for (size_t i = 0; i < saved.size(); ++i)
      EXPECT_NEAR(saved[i], reference.parameters[i], 1e-5) << i;
  }
}

TEST_F(ExpertRunTest, GroupsThatDoNotFitDoNotStart) {
  prepare(6, 2);
  Outcome outcome = run(3, "replicas=3,group=2,microbatches=2", "");
  EXPECT_EQ(outcome.statuses, std::vector<int>(3, 14)) << outcome.messages;
  EXPECT_TRUE(contains(outcome.messages,
                       "built for groups of 2 pipelines that share experts, "
                       "but there are 3"))
      << outcome.messages;
}
