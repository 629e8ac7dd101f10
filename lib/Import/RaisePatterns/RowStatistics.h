//===- RowStatistics.h - Values computed once a row -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms and softmax combine the elements along some axes (a row) to one value,
// which is repeated along the row again. Between the reduction and the repeat
// exporters reshape that value at will.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_ROWSTATISTICS_H
#define PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_ROWSTATISTICS_H

#include "pipewright/Dialect/NN/NN.h"

#include <optional>

namespace pipewright {

class RowStatistics {
public:
  /// Of the operand of \p reduction.
  explicit RowStatistics(nn::ReduceOp reduction);

  /// The statistics from which \p value is computed: those of the reduction
  /// that is found first by following operands that are not splats.
  static std::optional<RowStatistics> find(mlir::Value value);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  llvm::ArrayRef<int64_t> getAxes() const { return axes; }

  /// The value that \p value repeats along the row, or of which it has other
  /// axes of size 1; \p value itself if it is none of both.
  mlir::Value strip(mlir::Value value) const;

  /// What \p value is the reduction \p kind of. A mean may also be written as
  /// a sum and a division.
  mlir::Value getReduced(mlir::Value value, nn::Reduction kind) const;

private:
  bool isPerRow(mlir::Value value) const;
  int64_t getRowSize() const;

  llvm::SmallVector<int64_t> shape, axes;
  /// The shapes of a value per row: without the row's axes, and with size 1.
  llvm::SmallVector<int64_t> dropped, kept;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_RAISEPATTERNS_ROWSTATISTICS_H
