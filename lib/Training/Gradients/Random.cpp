//===- Random.cpp - Gradients of random tensors
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Gradients.h"

namespace pipewright {

void registerRandom(GradientRegistry &registry) {
  registry.addConstant<nn::DropoutMaskOp>({0});
}

} // namespace pipewright
