//===- ProfileTests.cpp - What layers are timed with ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pprt/Descriptor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

//===----------------------------------------------------------------------===//
// Two layers
//===----------------------------------------------------------------------===//

static constexpr int64_t count = 1000;
static constexpr uint64_t bytes = count * sizeof(int64_t);

// The calls of the first round: a letter each, and the first pointer.
static std::string calls;
static std::vector<void *> places;

template <char letter>
static void call(void *const *pointers) {
  calls += letter;
  places.push_back(pointers[0]);
}

/// Runs one round after those that warm up, and returns what it printed.
static std::string timeLayers(const PprtDescriptor &descriptor) {
  const char *words[] = {"profiler", "layers", "1", "0", "1"};
  calls.clear();
  places.clear();
  testing::internal::CaptureStdout();
  EXPECT_EQ(pprtProfileMain(5, const_cast<char **>(words), &descriptor), 0);
  fflush(stdout);
  return testing::internal::GetCapturedStdout();
}

TEST(Profile, RunsForwardsInOrderAndGradientsInReverse) {
  // The first layer has two copies.
  uint64_t offsets[] = {0, 64, 128};
  PprtBuffer buffers[] = {
      {PPRT_BUFFER_SAVED, 2, offsets, 64, nullptr, 0, 0},
      {PPRT_BUFFER_SAVED, 1, offsets + 2, 64, nullptr, 0, 0}};
  PprtBinding first = {PPRT_BIND_BUFFER, 0, 0},
              second = {PPRT_BIND_BUFFER, 1, 0};
  PprtTask tasks[] = {{"l0.F", PPRT_ROLE_F, 0, call<'f'>, 1, &first},
                      {"l0.B", PPRT_ROLE_B, 0, call<'b'>, 1, &first},
                      {"l0.W", PPRT_ROLE_W, 0, call<'w'>, 1, &first},
                      {"l1.F", PPRT_ROLE_F, 1, call<'F'>, 1, &second},
                      {"l1.B", PPRT_ROLE_B, 1, call<'B'>, 1, &second}};
  PprtDescriptor descriptor = {};
  descriptor.arenaBytes = 192;
  descriptor.bufferCount = 2;
  descriptor.buffers = buffers;
  descriptor.taskCount = 5;
  descriptor.tasks = tasks;

  std::string printed = timeLayers(descriptor);
  EXPECT_EQ(calls, "ffFBbwbw"
                   "ffFBbwbw"
                   "ffFBbwbw");
  auto *start = static_cast<char *>(places[0]);
  for (auto [index, offset] :
       {std::pair(0, 0), std::pair(1, 64), std::pair(2, 128), std::pair(3, 128),
        std::pair(4, 64), std::pair(5, 64), std::pair(6, 0), std::pair(7, 0)})
    EXPECT_EQ(places[index], start + offset) << index;

  // A line for each call of the round that counts: layer, role, time.
  std::string roles;
  unsigned layer, role;
  long long time;
  int length = 0;
  for (const char *line = printed.c_str();
       sscanf(line, "%u %u %lld\n%n", &layer, &role, &time, &length) == 3;
       line += length) {
    roles += std::to_string(layer) + std::to_string(role) + " ";
    EXPECT_GE(time, 0);
  }
  EXPECT_EQ(roles, "00 00 10 11 01 02 01 02 ");
}

//===----------------------------------------------------------------------===//
// Made-up inputs
//===----------------------------------------------------------------------===//

namespace {
struct MadeInput {
  uint32_t dtype;
  int64_t axis = 0, labelClasses = 0, indexLimit = 0;
};
} // namespace

// What the task saw.
static std::vector<uint8_t> seen;

static void look(void *const *pointers) {
  const auto *data = static_cast<const uint8_t *>(pointers[0]);
  seen.assign(data, data + bytes);
}

/// The numbers that an input of `count` elements is filled with.
template <typename T>
static std::vector<T> fill(const MadeInput &made) {
  int64_t shape[] = {2, count / 2};
  PprtInput input = {{"", made.dtype, 2, shape, count * sizeof(T)},
                     made.axis,
                     made.labelClasses,
                     /*ignoreIndex=*/-100,
                     made.indexLimit,
                     /*read=*/1};
  uint64_t offset = 0;
  PprtBuffer buffer = {PPRT_BUFFER_INPUT, 1, &offset, bytes, nullptr, 0, 0};
  PprtBinding binding = {PPRT_BIND_BUFFER, 0, 0};
  PprtTask task = {"l0.F", PPRT_ROLE_F, 0, look, 1, &binding};
  PprtDescriptor descriptor = {};
  descriptor.arenaBytes = bytes;
  descriptor.bufferCount = 1;
  descriptor.buffers = &buffer;
  descriptor.taskCount = 1;
  descriptor.tasks = &task;
  descriptor.inputCount = 1;
  descriptor.inputs = &input;
  timeLayers(descriptor);
  std::vector<T> values(count);
  memcpy(values.data(), seen.data(), count * sizeof(T));
  return values;
}

/// The number that 16 bits are, of which so many are the exponent (IEEE 754).
static double decode(uint16_t bits, int exponentBits) {
  int fractionBits = 15 - exponentBits;
  int stored = (bits & 0x7fff) >> fractionBits;
  int fraction = bits & ((1 << fractionBits) - 1);
  int bias = (1 << (exponentBits - 1)) - 1;
  double value = stored == 0 ? std::ldexp(fraction, 1 - bias - fractionBits)
                             : std::ldexp(fraction + (1 << fractionBits),
                                          stored - bias - fractionBits);
  return bits & 0x8000 ? -value : value;
}

/// Whether \p values are spread over [-limit, limit).
template <typename T>
static void expectSpread(const std::vector<T> &values, double limit) {
  double sum = 0, squares = 0;
  for (double value : values) {
    EXPECT_GE(value, -limit);
    EXPECT_LT(value, limit);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / count, 0, 0.1 * limit);
  EXPECT_NEAR(squares / count, limit * limit / 3, 0.05 * limit * limit);
}

TEST(Profile, FillsActivationsWithNumbersUpToOne) {
  expectSpread(fill<float>({PPRT_F32}), 1);
  expectSpread(fill<double>({PPRT_F64}), 1);
  for (auto [dtype, exponentBits] :
       {std::pair(PPRT_BF16, 8), std::pair(PPRT_F16, 5)}) {
    std::vector<double> values;
    for (uint16_t value : fill<uint16_t>({uint32_t(dtype)}))
      values.push_back(decode(value, exponentBits));
    expectSpread(values, 1);
  }
}

TEST(Profile, FillsWeightsSoThatProductsStaySmall) {
  expectSpread(fill<float>({PPRT_F32, /*axis=*/-1}), std::sqrt(3.0 / 500));
}

TEST(Profile, FillsIndicesInTheirRange) {
  for (int64_t value :
       fill<int64_t>({PPRT_I64, 0, /*labelClasses=*/7, /*indexLimit=*/0})) {
    EXPECT_GE(value, 0);
    EXPECT_LT(value, 7);
  }
  std::vector<int32_t> indices =
      fill<int32_t>({PPRT_I32, 0, /*labelClasses=*/0, /*indexLimit=*/5});
  EXPECT_EQ(*std::min_element(indices.begin(), indices.end()), 0);
  EXPECT_EQ(*std::max_element(indices.begin(), indices.end()), 4);
  // Nothing is known of these, so 0 is the only safe one.
  EXPECT_EQ(fill<int64_t>({PPRT_I64}), std::vector<int64_t>(count, 0));
  EXPECT_EQ(fill<uint8_t>({PPRT_BOOL}), std::vector<uint8_t>(count, 1));
}

TEST(Profile, RefusesOtherWords) {
  const char *words[] = {"profiler", "layers"};
  PprtDescriptor descriptor = {};
  testing::internal::CaptureStderr();
  EXPECT_EQ(pprtProfileMain(2, const_cast<char **>(words), &descriptor), 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "usage: profiler layers ROUNDS SECONDS RANKS | updates ROUNDS | "
            "links ROUNDS | hosts\n");
}
