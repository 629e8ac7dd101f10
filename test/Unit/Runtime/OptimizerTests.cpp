//===- OptimizerTests.cpp - Updates, norms and learning rates -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "core/LearningRate.h"
#include "core/Optimizers.h"
#include "core/Random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>
#include <vector>

using namespace pprt;

// Expected values are those of torch.optim of PyTorch 1.13, for the parameters
// (1, -2, 0.5) and the gradients (0.1, -0.2, 3) and (-0.4, 0.3, 1).
static const std::vector<float> start = {1, -2, 0.5f};
static const std::vector<std::vector<float>> gradients = {{0.1f, -0.2f, 3},
                                                          {-0.4f, 0.3f, 1}};

TEST(Sgd, HasMomentumAndCoupledDecay) {
  std::vector<float> parameter = start, velocity(3);
  Sgd<float> rule = {0.1f, 0.9f, 0.01f, 1};
  for (const std::vector<float> &gradient : gradients)
    rule.update(parameter.data(), gradient.data(), velocity.data(), 3);
  const float expected[] = {1.018110990f, -1.986222029f, -0.171149507f};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(parameter[i], expected[i], 1e-6) << i;
}

TEST(AdamW, HasDecoupledDecayAndBiasCorrection) {
  std::vector<float> parameter = start, mean(3), square(3);
  for (int step = 1; step <= 2; ++step) {
    AdamW<float> rule(0.1, 0.9, 0.999, 1e-8, 0.01, 1, step);
    rule.update(parameter.data(), gradients[step - 1].data(), mean.data(),
                square.data(), 3);
  }
  const float expected[] = {0.954051375f, -1.920872211f, 0.311994106f};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(parameter[i], expected[i], 1e-6) << i;
}

// Expected values by PyTorch 2.15 in float64.
TEST(Optimizers, HaveAllDigitsOfF64) {
  const double slopes[2][3] = {{0.5, 0.1, -1}, {0.25, -0.3, 2}};
  std::vector<double> adam = {1, -2, 0.5}, mean(3), square(3);
  std::vector<double> descent = {1, -2}, velocity(2);
  for (int step = 1; step <= 2; ++step) {
    AdamW<double>(0.1, 0.9, 0.999, 1e-8, 0.01, 1, step)
        .update(adam.data(), slopes[step - 1], mean.data(), square.data(), 3);
    Sgd<double>{0.1, 0.9, 0.01, 1}.update(descent.data(), slopes[step - 1],
                                          velocity.data(), 2);
  }
  const double expected[] = {0.8048830404754623, -2.0464830088899344,
                             0.5622901465289252};
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(adam[i], expected[i], 1e-14) << i;
  EXPECT_NEAR(descent[0], 0.877151, 1e-14);
  EXPECT_NEAR(descent[1], -1.983192, 1e-14);
}

TEST(AdamW, ScalesTheGradientOnce) {
  std::vector<float> parameter = start, mean(3), square(3);
  std::vector<float> sum = {0.4f, -0.8f, 12};
  AdamW<float>(0.1, 0.9, 0.999, 1e-8, 0.01, 0.25, 1)
      .update(parameter.data(), sum.data(), mean.data(), square.data(), 3);
  std::vector<float> other = start, otherMean(3), otherSquare(3);
  AdamW<float>(0.1, 0.9, 0.999, 1e-8, 0.01, 1, 1)
      .update(other.data(), gradients[0].data(), otherMean.data(),
              otherSquare.data(), 3);
  EXPECT_EQ(parameter, other);
  EXPECT_EQ(mean, otherMean);
}

// An element's bits do not depend on its place: a loop that is vectorized up
// to a remainder computes the same in both.
TEST(AdamW, ElementsDoNotDependOnTheirPlace) {
  std::vector<float> values(37, 0.3f), slopes(37, 0.7f), mean(37), square(37);
  for (int step = 1; step <= 5; ++step)
    AdamW<float>(0.1, 0.9, 0.999, 1e-8, 0.01, 0.3, step)
        .update(values.data(), slopes.data(), mean.data(), square.data(), 37);
  for (float value : values)
    EXPECT_EQ(value, values[0]);
}

TEST(SumSquares, CountsEachElement) {
  std::vector<float> values;
  double expected = 0;
  for (int i = 0; i < 21; ++i) {
    EXPECT_EQ(sumSquares(values.data(), i), expected);
    values.push_back(float(i + 1));
    expected += (i + 1) * (i + 1);
  }
}

// Squares that overflow f32 do not overflow the norm.
TEST(SumSquares, IsInDouble) {
  float large = 1e30f;
  EXPECT_DOUBLE_EQ(sumSquares(&large, 1), double(large) * large);
}

TEST(LearningRate, RisesThenFalls) {
  LearningRateSchedule schedule;
  ASSERT_TRUE(parseSchedule("linear,warmup=2", schedule));
  const double expected[] = {0.5, 1, 1, 0.75, 0.5, 0.25};
  for (int step = 1; step <= 6; ++step)
    EXPECT_DOUBLE_EQ(getLearningRate(schedule, 1, step, 6), expected[step - 1])
        << step;
}

TEST(LearningRate, CosineIsHalfwayInTheMiddle) {
  LearningRateSchedule schedule;
  ASSERT_TRUE(parseSchedule("cosine", schedule));
  EXPECT_DOUBLE_EQ(getLearningRate(schedule, 2, 1, 4), 2);
  EXPECT_DOUBLE_EQ(getLearningRate(schedule, 2, 3, 4), 1);
}

TEST(LearningRate, ConstantStays) {
  LearningRateSchedule schedule;
  ASSERT_TRUE(parseSchedule("constant", schedule));
  EXPECT_EQ(getLearningRate(schedule, 3, 100, 100), 3);
}

TEST(LearningRate, RefusesWhatItDoesNotKnow) {
  LearningRateSchedule schedule;
  for (const char *text : {"", "cosin", "cosine,", "cosine,warmup=",
                           "cosine,warmup=-1", "linear,warmup=3x"})
    EXPECT_FALSE(parseSchedule(text, schedule)) << text;
}

TEST(Random, KeysDiffer) {
  std::set<uint64_t> keys;
  for (uint64_t step = 0; step < 30; ++step)
    for (uint64_t layer = 0; layer < 30; ++layer)
      keys.insert(mix(step, layer));
  EXPECT_EQ(keys.size(), 900u);
}
