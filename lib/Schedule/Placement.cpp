//===- Placement.cpp - Which rank holds which stage
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Schedule/Placement.h"

using namespace pipewright;

Placement pipewright::placeInLoops(int64_t ranks, int64_t chunks) {
  std::vector<int64_t> list;
  for (int64_t stage = 0; stage < ranks * chunks; ++stage)
    list.push_back(stage % ranks);
  return {list};
}

Placement pipewright::placeInWaves(int64_t ranks, int64_t chunks) {
  std::vector<int64_t> list;
  for (int64_t stage = 0; stage < ranks * chunks; ++stage) {
    int64_t position = stage % ranks;
    bool goesBack = stage / ranks % 2 == 1;
    list.push_back(goesBack ? ranks - 1 - position : position);
  }
  return {list};
}

Placement pipewright::placeBothWays(int64_t ranks) {
  std::vector<int64_t> down, up;
  for (int64_t stage = 0; stage < ranks; ++stage) {
    down.push_back(stage);
    up.push_back(ranks - 1 - stage);
  }
  return {down, up};
}
