//===- CutSpeed.cpp - How fast layers are cut for links and memory
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// CutSpeed [LAYERS STAGES]: the exact cut of layers with random and with equal
// costs, for stages with links, with memory enough for all, and with so little
// that they recompute.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Plan/Cut.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <random>

using namespace pipewright;

static std::vector<PlanLayer> makeLayers(size_t count, bool areAlike) {
  std::mt19937 random(3);
  auto vary = [&](int64_t usual) {
    return areAlike ? usual : usual / 2 + int64_t(random() % usual);
  };
  std::vector<PlanLayer> layers(count);
  for (PlanLayer &layer : layers) {
    layer.forward = vary(1'000'000);
    layer.backward = layer.weight = layer.forward;
    layer.selectiveTime = layer.forward / 10;
    layer.parameterBytes = vary(1'000'000);
    layer.bytesBefore = vary(20'000);
    layer.savedBytes = vary(200'000);
    layer.selectiveBytes = layer.savedBytes / 2;
  }
  return layers;
}

/// Memory as a part of what the first stage would hold without recomputation.
static void measure(const char *name, bool areAlike, size_t count,
                    size_t stages, double part) {
  std::vector<PlanLayer> layers = makeLayers(count, areAlike);
  CutProblem problem;
  problem.layers = layers;
  double perStage = double(count) / stages;
  for (size_t stage = 0; stage < stages; ++stage) {
    StageSlot slot;
    slot.inFlight.kept = stages - stage;
    slot.linkLatency = 1000;
    slot.linkTimePerByte = 10;
    slot.memory = part * perStage * (1e6 + 200e3 * stages);
    problem.slots.push_back(slot);
  }
  double best = INFINITY;
  bool fits = false;
  for (int round = 0; round < 3; ++round) {
    auto start = std::chrono::steady_clock::now();
    fits = cutLayers(problem).has_value();
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  llvm::outs() << name << ": " << llvm::format("%.1f", 1e3 * best) << " ms"
               << (fits ? "" : ", nothing fits") << '\n';
}

int main(int argc, char **argv) {
  size_t layers = argc > 2 ? std::atoll(argv[1]) : 1000;
  size_t stages = argc > 2 ? std::atoll(argv[2]) : 64;
  if (stages == 0 || layers < stages) {
    llvm::errs() << "usage: CutSpeed [LAYERS STAGES]\n";
    return 2;
  }
  llvm::outs() << layers << " layers on " << stages << " stages\n";
  measure("alike", true, layers, stages, 2);
  measure("alike, short of memory", true, layers, stages, 0.3);
  measure("random", false, layers, stages, 2);
  measure("random, short of memory", false, layers, stages, 0.3);
  measure("random, without memory", false, layers, stages, 0.05);
  return 0;
}
