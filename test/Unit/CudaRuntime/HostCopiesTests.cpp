//===- HostCopiesTests.cpp - What a step copies from and to the host ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceTest.h"

#include "HostCopies.h"

using namespace pprt::cuda;

namespace {
class HostCopiesTests : public DeviceTest {
protected:
  static constexpr int count = 7;
  static constexpr size_t size = 48; ///< of a buffer: three have room in a half
  static constexpr uint64_t bytes = size * sizeof(float);

  HostCopiesTests() : events(/*timed=*/false), copies(to, events) {
    events.reserve(4 * count);
    copies.start({count * bytes, bytes, count}, /*numbers=*/count,
                 /*arrivalBytes=*/3 * bytes);
    target = upload(std::vector<float>(size, -1));
    kept = upload(std::vector<float>(count * size, -1));
    prepare(true);
    prepare(false);
  }

  /// What a step must not give back is given back after it.
  void TearDown() override { prepare(true); }

  /// Stages buffers of different numbers to one place, one after the other, and
  /// keeps what was there.
  void runStep(float first) {
    events.reset();
    copies.beginStep();
    for (int i = 0; i < count; ++i) {
      uint8_t *staged = copies.stage(bytes);
      ASSERT_NE(staged, nullptr);
      std::vector<float> numbers(size, first + i);
      memcpy(staged, numbers.data(), bytes);
      copies.commit(target, bytes);
      check(cudaMemcpyAsync(kept + i * size, target, bytes,
                            cudaMemcpyDeviceToDevice, to.stream),
            "copy");
    }
  }

  std::vector<float> expect(float first) {
    std::vector<float> numbers;
    for (int i = 0; i < count; ++i)
      numbers.insert(numbers.end(), size, first + i);
    return numbers;
  }

  Events events;
  HostCopies copies;
  float *target, *kept;
};
} // namespace

TEST_F(HostCopiesTests, InputsArriveInOrder) {
  for (float first : {10.f, 20.f}) {
    runStep(first);
    synchronize();
    EXPECT_EQ(download(kept, count * size), expect(first));
  }
}

TEST_F(HostCopiesTests, StagesNoMoreThanThereIs) {
  runStep(0);
  EXPECT_EQ(copies.stage(bytes), nullptr);
  synchronize();
  copies.resetStage();
  EXPECT_NE(copies.stage(bytes), nullptr);
}

TEST_F(HostCopiesTests, NumbersAreReadWhereTheyWere) {
  runStep(1);
  float read[count] = {};
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(copies.readLater(&read[i], kept + i * size, sizeof(float),
                                 /*isRecorded=*/false));
    // What is there later is not what was asked for.
    check(cudaMemsetAsync(kept + i * size, 0, bytes, to.stream), "clear");
    if (i == 2)
      copies.fetch();
  }
  copies.fetch();
  synchronize();
  copies.finishReadings();
  for (int i = 0; i < count; ++i)
    EXPECT_EQ(read[i], 1.f + i);
}

TEST_F(HostCopiesTests, ReadsNoMoreThanThereIs) {
  runStep(1);
  double read;
  for (int i = 0; i < count; ++i)
    EXPECT_TRUE(copies.readLater(&read, kept + 2 * i, sizeof read,
                                 /*isRecorded=*/false));
  EXPECT_FALSE(
      copies.readLater(&read, kept, sizeof read, /*isRecorded=*/false));
  copies.fetch();
  synchronize();
  copies.finishReadings();
  EXPECT_TRUE(copies.readLater(&read, kept, sizeof read, /*isRecorded=*/false));
  synchronize();
}
