//===- Verification.h - What verifiers of shaped ops share ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DIALECT_NN_VERIFICATION_H
#define PIPEWRIGHT_LIB_DIALECT_NN_VERIFICATION_H

#include "pipewright/Dialect/NN/NN.h"

#include <string>

namespace pipewright::nn {

inline llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

inline int64_t getRank(mlir::Value value) { return getShape(value).size(); }

/// A shape as diagnostics show it: `[2, 16]`.
std::string formatShape(llvm::ArrayRef<int64_t> shape);

/// Checks that \p value, which diagnostics call \p name, has the shape that
/// follows from the op's other values.
mlir::LogicalResult verifyShape(mlir::Operation *op, llvm::StringRef name,
                                mlir::Value value,
                                llvm::ArrayRef<int64_t> expected);

/// Checks that \p result has the element type of \p operand, or of sums of
/// products of such elements.
mlir::LogicalResult verifySumType(mlir::Operation *op, mlir::Value operand,
                                  mlir::Value result);

/// `count * step + offset` of numbers that are not negative, as an attribute
/// may say them: the largest number if that would overflow.
int64_t multiplyAdd(int64_t count, int64_t step, int64_t offset);

/// Checks that \p axis names one of \p rank axes.
mlir::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis, int64_t rank);

/// Checks that \p axes are axes of a tensor of \p rank, sorted, each once.
mlir::LogicalResult verifyAxes(mlir::Operation *op,
                               llvm::ArrayRef<int64_t> axes, int64_t rank);

/// Checks that a list of one number an axis, which diagnostics call \p name,
/// has \p rank of them and none below \p minimum.
mlir::LogicalResult verifyPerAxis(mlir::Operation *op, llvm::StringRef name,
                                  llvm::ArrayRef<int64_t> numbers, int64_t rank,
                                  int64_t minimum);

} // namespace pipewright::nn

#endif // PIPEWRIGHT_LIB_DIALECT_NN_VERIFICATION_H
