//===- PartitionSpeed.cpp - How fast layers are cut into stages
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PartitionSpeed [LAYERS STAGES]: layers of random weights, all alike, and
// random ones with one that outweighs all others.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Stages/Partition.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <random>

using namespace pipewright;

enum class Kind { Random, Alike, OneHeavy };

static PartitionProblem makeProblem(Kind kind, size_t layers, size_t stages) {
  PartitionProblem problem;
  problem.stages = stages;
  std::mt19937 random(3);
  for (size_t layer = 0; layer < layers; ++layer)
    problem.weights.push_back(kind == Kind::Alike ? 7 : 1 + random() % 1000);
  if (kind == Kind::OneHeavy)
    problem.weights[layers / 3] = 1000 * layers;
  return problem;
}

static void measure(const char *name, Kind kind, size_t layers, size_t stages) {
  PartitionProblem problem = makeProblem(kind, layers, stages);
  double best = INFINITY;
  for (int round = 0; round < 3; ++round) {
    auto start = std::chrono::steady_clock::now();
    llvm::cantFail(partitionLayers(problem));
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    best = std::min(best, seconds.count());
  }
  llvm::outs() << name << ": " << llvm::format("%.3f", 1e3 * best) << " ms\n";
}

int main(int argc, char **argv) {
  size_t layers = argc > 2 ? std::atoll(argv[1]) : 100000;
  size_t stages = argc > 2 ? std::atoll(argv[2]) : 512;
  if (stages == 0 || layers < stages) {
    llvm::errs() << "usage: PartitionSpeed [LAYERS STAGES]\n";
    return 2;
  }
  llvm::outs() << layers << " layers on " << stages << " stages\n";
  measure("random", Kind::Random, layers, stages);
  measure("alike", Kind::Alike, layers, stages);
  measure("one heavy", Kind::OneHeavy, layers, stages);
  return 0;
}
