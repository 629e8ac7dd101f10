//===- BruteForce.cpp - All cuts and all policies
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"

using namespace pipewright;
using namespace pipewright::test;

std::vector<PlanLayer> test::makeRandomLayers(std::mt19937 &random,
                                              size_t count) {
  std::vector<PlanLayer> layers(count);
  for (PlanLayer &layer : layers) {
    layer.forward = 1 + random() % 9;
    layer.backward = random() % 9;
    layer.weight = random() % 9;
    layer.parameterBytes = random() % 6;
    layer.bytesBefore = &layer == &layers.front() ? 0 : 1 + random() % 3;
    layer.savedBytes = 1 + random() % 9;
    layer.selectiveBytes = random() % (layer.savedBytes + 1);
    layer.selectiveTime = random() % (layer.forward + 1);
  }
  return layers;
}

static void continueCut(std::vector<size_t> &begins, size_t layers,
                        size_t stages,
                        std::function<void(const std::vector<size_t> &)> &f) {
  if (begins.size() == stages)
    return f(begins);
  for (size_t next = begins.back() + 1; next < layers; ++next) {
    begins.push_back(next);
    continueCut(begins, layers, stages, f);
    begins.pop_back();
  }
}

void test::forEachCut(
    size_t layers, size_t stages,
    std::function<void(const std::vector<size_t> &)> function) {
  std::vector<size_t> begins = {0};
  continueCut(begins, layers, stages, function);
}

void test::forEachRemats(
    size_t layers, RematSet allowed,
    std::function<void(const std::vector<Remat> &)> function) {
  size_t combinations = 1;
  for (size_t layer = 0; layer < layers; ++layer)
    combinations *= 3;
  for (size_t number = 0; number < combinations; ++number) {
    std::vector<Remat> remats;
    bool isAllowed = true;
    for (size_t layer = 0, rest = number; layer < layers; ++layer, rest /= 3) {
      remats.push_back(static_cast<Remat>(rest % 3));
      isAllowed &= allowed.contains(remats.back());
    }
    if (isAllowed)
      function(remats);
  }
}

int64_t test::getHeldBytes(llvm::ArrayRef<PlanLayer> layers,
                           llvm::ArrayRef<Remat> remats,
                           const InFlight &inFlight) {
  int64_t bytes = 0;
  for (size_t i = 0; i < layers.size(); ++i) {
    const PlanLayer &layer = layers[i];
    switch (remats[i]) {
    case Remat::None:
      bytes += inFlight.kept * layer.savedBytes;
      break;
    case Remat::Selective:
      bytes += inFlight.kept * layer.selectiveBytes +
               inFlight.recomputed * (layer.savedBytes - layer.selectiveBytes);
      break;
    case Remat::Full:
      if (i == 0 || remats[i - 1] != Remat::Full)
        bytes += inFlight.kept * layer.bytesBefore;
      bytes += inFlight.recomputed * layer.savedBytes;
      break;
    }
  }
  return bytes;
}

int64_t test::getAddedTime(llvm::ArrayRef<PlanLayer> layers,
                           llvm::ArrayRef<Remat> remats) {
  int64_t time = 0;
  for (size_t i = 0; i < layers.size(); ++i)
    time += remats[i] == Remat::Full        ? layers[i].forward
            : remats[i] == Remat::Selective ? layers[i].selectiveTime
                                            : 0;
  return time;
}

std::optional<int64_t> test::findLeastTime(llvm::ArrayRef<PlanLayer> layers,
                                           RematSet allowed,
                                           const InFlight &inFlight,
                                           int64_t limit) {
  std::optional<int64_t> least;
  forEachRemats(layers.size(), allowed, [&](const std::vector<Remat> &remats) {
    if (getHeldBytes(layers, remats, inFlight) > limit)
      return;
    int64_t time = getAddedTime(layers, remats);
    least = std::min(least.value_or(time), time);
  });
  return least;
}
