//===- Random.cpp - Work of random numbers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/FormulaRegistry.h"
#include "pipewright/Dialect/PP/PP.h"

using namespace mlir;
using namespace pipewright;

namespace pipewright {
void registerRandom(FormulaRegistry &registry) {
  // Ten rounds of Philox make four words; comparison and scale per element.
  registry.addPerResultElement<nn::DropoutMaskOp>(27);
}
} // namespace pipewright
