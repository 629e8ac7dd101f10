//===- Random.cpp - Verifiers of random ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/NN.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright::nn;

LogicalResult DropoutMaskOp::verify() {
  double ratio = getRatio().convertToDouble();
  if (!(ratio >= 0 && ratio < 1))
    return emitOpError("has ratio ") << ratio << ", which is not in [0, 1)";
  // The stream is one word of the generator's counter.
  if (!llvm::isUInt<32>(getStream()))
    return emitOpError("has stream ") << static_cast<int64_t>(getStream())
                                      << ", which is not in [0, 2^32)";
  return success();
}
