//===- UpdateTests.cpp - Gradients and parameters on a device -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an update makes of a parameter has the bits that it has on the CPU.
//
//===----------------------------------------------------------------------===//

#include "DeviceTest.h"

#include "UpdateTables.h"
#include "Updates.h"
#include "core/Optimizers.h"

#include <cmath>

using namespace pprt;
using namespace pprt::cuda;

/// Less than a vector, whole vectors, a bit more than one chunk, several.
static const std::vector<int64_t> sizes = {
    1, 3, 4, 257, 1024, chunkElements + 5, 2 * chunkElements, 9};

template <typename RealTy>
static std::vector<RealTy> makeNumbers(int64_t count, double seed) {
  std::vector<RealTy> numbers(count);
  for (int64_t i = 0; i < count; ++i)
    numbers[i] = RealTy(std::sin(seed + 0.37 * double(i)));
  return numbers;
}

template <typename RealTy>
static std::vector<RealTy> makeSquares(int64_t count, double seed) {
  std::vector<RealTy> numbers = makeNumbers<RealTy>(count, seed);
  for (RealTy &number : numbers)
    number *= number;
  return numbers;
}

namespace {
/// A parameter on the host, and where it is on the device.
template <typename RealTy>
struct Parameter {
  std::vector<RealTy> value, gradient, first, second;
  RealTy *at[4];
  double weightDecay;

  ParameterUpdate getUpdate() const {
    constexpr bool isWide = sizeof(RealTy) == sizeof(double);
    return {{at[0], static_cast<int64_t>(value.size()), isWide},
            at[1],
            {at[2], at[3]},
            weightDecay};
  }
};

class Updates : public DeviceTest {
protected:
  UpdateMemory makeMemory(size_t parameters) {
    uint64_t bytes = getUpdateBytes(parameters);
    return {static_cast<uint8_t *>(allocate(bytes)),
            static_cast<uint8_t *>(allocatePinned(bytes)), bytes};
  }

  /// Parameters of all sizes, each \p shift elements from where a vector of 16
  /// bytes may begin.
  template <typename RealTy>
  std::vector<Parameter<RealTy>> makeParameters(size_t shift) {
    std::vector<Parameter<RealTy>> parameters;
    for (int64_t size : sizes) {
      auto seed = static_cast<double>(size);
      Parameter<RealTy> made{makeNumbers<RealTy>(size, seed),
                             makeNumbers<RealTy>(size, seed + 1),
                             makeNumbers<RealTy>(size, seed + 2),
                             makeSquares<RealTy>(size, seed + 3),
                             {},
                             size % 2 ? 0.01 : 0};
      made.at[0] = upload(made.value, shift);
      made.at[1] = upload(made.gradient, shift);
      made.at[2] = upload(made.first, shift);
      made.at[3] = upload(made.second, shift);
      parameters.push_back(std::move(made));
    }
    return parameters;
  }

  /// Updates all at once, and each as \p onHost does.
  template <typename RealTy, typename OnHostT>
  void expectSameUpdates(const UpdateRule &rule, size_t shift, OnHostT onHost) {
    auto parameters = makeParameters<RealTy>(shift);
    std::vector<ParameterUpdate> all;
    for (const Parameter<RealTy> &parameter : parameters)
      all.push_back(parameter.getUpdate());
    UpdateMemory memory = makeMemory(all.size());
    prepareUpdates();
    prepare(false);
    update(rule, all, memory);
    for (Parameter<RealTy> &parameter : parameters) {
      onHost(parameter);
      size_t count = parameter.value.size();
      EXPECT_EQ(download(parameter.at[0], count), parameter.value) << count;
      EXPECT_EQ(download(parameter.at[2], count), parameter.first) << count;
      EXPECT_EQ(download(parameter.at[3], count), parameter.second) << count;
    }
    freeMemory();
  }

  template <typename RealTy>
  void expectSameSgd(size_t shift) {
    UpdateRule rule = {PPRT_SGD, 0.1, 0.25, 0.9, 0, 0, 0, 0};
    expectSameUpdates<RealTy>(rule, shift, [&](Parameter<RealTy> &on) {
      Sgd<RealTy>{RealTy(0.1), RealTy(0.9), RealTy(on.weightDecay),
                  RealTy(0.25)}
          .update(on.value.data(), on.gradient.data(), on.first.data(),
                  static_cast<int64_t>(on.value.size()));
    });
  }

  template <typename RealTy>
  void expectSameAdamW(size_t shift) {
    UpdateRule rule = {PPRT_ADAMW, 3e-4, 0.125, 0, 0.9, 0.95, 1e-8, 3};
    expectSameUpdates<RealTy>(rule, shift, [&](Parameter<RealTy> &on) {
      AdamW<RealTy>(3e-4, 0.9, 0.95, 1e-8, on.weightDecay, 0.125, 3)
          .update(on.value.data(), on.gradient.data(), on.first.data(),
                  on.second.data(), static_cast<int64_t>(on.value.size()));
    });
  }
};
} // namespace

TEST_F(Updates, OfSgdAreThoseOfTheCpu) {
  expectSameSgd<float>(/*shift=*/0);
  expectSameSgd<float>(/*shift=*/1);
  expectSameSgd<double>(/*shift=*/0);
  expectSameSgd<double>(/*shift=*/1);
}

TEST_F(Updates, OfAdamWAreThoseOfTheCpu) {
  expectSameAdamW<float>(/*shift=*/0);
  expectSameAdamW<float>(/*shift=*/3);
  expectSameAdamW<double>(/*shift=*/0);
  expectSameAdamW<double>(/*shift=*/1);
}

TEST_F(Updates, TakeParametersOfBothTypes) {
  UpdateRule rule = {PPRT_SGD, 0.5, 1, 0, 0, 0, 0, 0};
  float *narrow = upload<float>({1, 2}), *slopes = upload<float>({2, 2});
  float *velocity = upload<float>({0, 0});
  double *wide = upload<double>({1, 2, 3}),
         *wideSlopes = upload<double>({4, 4, 4});
  double *wideVelocity = upload<double>({0, 0, 0});
  prepareUpdates();
  update(rule,
         {{{wide, 3, true}, wideSlopes, {wideVelocity, nullptr}, 0},
          {{narrow, 2, false}, slopes, {velocity, nullptr}, 0}},
         makeMemory(2));
  EXPECT_EQ(download(narrow, 2), (std::vector<float>{0, 1}));
  EXPECT_EQ(download(wide, 3), (std::vector<double>{-1, 0, 1}));
}

TEST_F(Updates, AddGradients) {
  for (size_t shift : {0, 2})
    for (int64_t size : sizes) {
      auto sum = makeNumbers<float>(size, 1),
           more = makeNumbers<float>(size, 2);
      float *target = upload(sum, shift), *addend = upload(more);
      prepareUpdates();
      add({target, size, false}, addend);
      addTo(sum.data(), more.data(), size);
      EXPECT_EQ(download(target, size), sum) << size;
    }
  double *target = upload<double>({1, 2, 3}),
         *addend = upload<double>({4, 5, 6});
  add({target, 3, true}, addend);
  EXPECT_EQ(download(target, 3), (std::vector<double>{5, 7, 9}));
}

TEST_F(Updates, SumSquaresInOneOrder) {
  std::vector<Reals> all;
  std::vector<double> expected;
  for (int64_t size : sizes) {
    auto narrow = makeNumbers<float>(size, 1);
    auto wide = makeNumbers<double>(size, 2);
    all.push_back({upload(narrow), size, false});
    all.push_back({upload(wide), size, true});
    // The same numbers elsewhere have the same bits.
    all.push_back({upload(narrow, /*shift=*/1), size, false});
    expected.push_back(pprt::sumSquares(narrow.data(), size));
    expected.push_back(pprt::sumSquares(wide.data(), size));
    expected.push_back(expected[expected.size() - 2]);
  }
  UpdateMemory memory = makeMemory(all.size());
  prepareUpdates();
  prepare(false);
  cuda::sumSquares(all, memory);
  auto sums = download(reinterpret_cast<double *>(memory.device), all.size());
  for (size_t i = 0; i < all.size(); ++i)
    EXPECT_NEAR(sums[i], expected[i], 1e-13 * expected[i]) << all[i].count;
  for (size_t i = 0; i < all.size(); i += 3)
    EXPECT_EQ(sums[i], sums[i + 2]) << all[i].count;
}

// More than a tensor's parts, so that each has several rounds of a block.
TEST_F(Updates, SumSquaresOfALargeTensor) {
  constexpr int64_t count = chunkElements * mostParts + 3;
  std::vector<float> numbers(count, 0.5F);
  UpdateMemory memory = makeMemory(1);
  float *data = upload(numbers);
  prepareUpdates();
  cuda::sumSquares({{data, count, false}}, memory);
  EXPECT_EQ(download(reinterpret_cast<double *>(memory.device), 1)[0],
            0.25 * count);
}

TEST_F(Updates, OfNothingAreNothing) {
  prepareUpdates();
  UpdateMemory memory = makeMemory(1);
  cuda::sumSquares({}, memory);
  update({PPRT_SGD, 1, 1, 0, 0, 0, 0, 0}, {}, memory);
  add({nullptr, 0, false}, nullptr);
  float *data = upload<float>({7});
  cuda::sumSquares({{data, 0, false}}, memory);
  EXPECT_EQ(download(reinterpret_cast<double *>(memory.device), 1)[0], 0);
}
