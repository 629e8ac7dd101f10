//===- FlatIndex.h - Coordinates in several axes as one number --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `nn.gather` and `nn.scatter_add` index one axis. Look-ups by coordinates in
// several axes are look-ups in a table of which these axes are one.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_FLATINDEX_H
#define PIPEWRIGHT_LIB_IMPORT_FLATINDEX_H

#include "pipewright/Import/OnnxNode.h"

namespace pipewright {

/// Names slices of a table by numbers of the form (i0 * size1 + i1) * size2 +
/// i2.
class FlatIndex {
public:
  /// The next axis has \p size elements, of which \p coordinate is one.
  void addAxis(NNBuilder &b, mlir::Value coordinate, int64_t size);
  /// As above for a coordinate that counts from the end where it is negative.
  void addIndex(NNBuilder &b, mlir::Value index, int64_t size);

  /// The shape of all slices of \p table together.
  llvm::SmallVector<int64_t> getSlicesShape(mlir::Value table) const;
  /// The slices of \p table.
  mlir::Value gather(NNBuilder &b, mlir::Value table) const;
  /// A tensor of the shape of \p table with the sum of the \p updates of each
  /// slice, and zeros elsewhere.
  mlir::Value scatter(NNBuilder &b, mlir::Value updates,
                      mlir::Value table) const;

  /// \p table with the \p updates of each slice combined into it by \p kind:
  /// their product, or the extreme of one direction.
  /// Every update is compared with every slice; null if these are too many.
  mlir::Value combine(NNBuilder &b, nn::Reduction kind, mlir::Value updates,
                      mlir::Value table) const;

private:
  llvm::SmallVector<int64_t> getFlatShape(mlir::Value table) const;

  mlir::Value position;
  int64_t elements = 1;
  int64_t axes = 0;
};

/// An element for each index, which says where along \p axis; along the other
/// axes it is that of the index itself.
mlir::FailureOr<FlatIndex> indexElements(OnnxNode &node, mlir::Value table,
                                         mlir::Value indices, int64_t axis);

/// A slice for each row of indices, whose elements are coordinates in the axes
/// of \p table after \p batchAxes, which both share.
mlir::FailureOr<FlatIndex> indexSlices(OnnxNode &node, mlir::Value table,
                                       mlir::Value indices, int64_t batchAxes);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_FLATINDEX_H
