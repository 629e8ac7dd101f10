//===- Normalization.h - What softmax and losses share ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_LINALG_NORMALIZATION_H
#define PIPEWRIGHT_LIB_CODEGEN_LINALG_NORMALIZATION_H

#include "Generic.h"

namespace pipewright {

/// `max` x and `sum` exp(x - max x) along one axis, which they lack.
struct SoftmaxParts {
  mlir::Value max;
  mlir::Value sum;
};

SoftmaxParts createSoftmaxParts(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value operand, int64_t axis);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_LINALG_NORMALIZATION_H
