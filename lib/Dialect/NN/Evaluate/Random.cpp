//===- Random.cpp - What random ops compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EvaluatorRegistry.h"

#include "pipewright/Dialect/NN/Philox.h"

#include <cmath>

using namespace mlir;
using namespace pipewright::nn;

static void evaluateDropoutMask(DropoutMaskOp op, ArrayRef<HostTensor> operands,
                                HostTensor &result) {
  ArrayRef<int64_t> key = operands[0].getIntegers();
  uint64_t mixed = static_cast<uint64_t>(key[0]) ^
                   static_cast<uint64_t>(key[1]) * 0x9E3779B97F4A7C15u;
  std::array<uint32_t, 2> words = {static_cast<uint32_t>(mixed),
                                   static_cast<uint32_t>(mixed >> 32)};
  double ratio = op.getRatio().convertToDouble();
  uint64_t threshold = std::floor(std::ldexp(ratio, 32));
  double kept = 1 / (1 - ratio);

  std::array<uint32_t, 4> random;
  for (auto [index, element] : llvm::enumerate(result.getFloats())) {
    uint64_t block = index / 4;
    if (index % 4 == 0)
      random = philox4x32({static_cast<uint32_t>(block),
                           static_cast<uint32_t>(block >> 32),
                           static_cast<uint32_t>(op.getStream()), 0},
                          words);
    element = random[index % 4] >= threshold ? kept : 0;
  }
}

namespace pipewright::nn {
void registerRandom(EvaluatorRegistry &registry) {
  registry.add<DropoutMaskOp>(evaluateDropoutMask);
}
} // namespace pipewright::nn
