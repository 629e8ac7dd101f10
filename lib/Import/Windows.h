//===- Windows.h - Kernels that slide over images ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What convolutions and pooling have in common. An image has the axes batch,
// channels, and then the spatial ones, of which everything here has an entry
// each.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_WINDOWS_H
#define PIPEWRIGHT_LIB_IMPORT_WINDOWS_H

#include "pipewright/Import/OnnxNode.h"

namespace pipewright {

/// Where the windows of a kernel lie.
struct Windows {
  llvm::SmallVector<int64_t> kernel, strides, dilations;
  /// Elements that are missing before and after an axis. The node asks for
  /// `low` and `high`; windows that go on reach over `beyond` more.
  llvm::SmallVector<int64_t> low, high, beyond;
  /// How many windows there are.
  llvm::SmallVector<int64_t> positions;

  /// The number of elements between the ends of a window.
  int64_t getReach(int64_t axis) const {
    return (kernel[axis] - 1) * dilations[axis] + 1;
  }
};

/// The kernel's shape, its strides and dilations as the attributes of \p node
/// say, without padding. \p kernel: by default.
mlir::FailureOr<Windows>
getKernel(OnnxNode &node, std::optional<llvm::ArrayRef<int64_t>> kernel);

/// The windows of operand 0, with the padding that the node asks for.
mlir::FailureOr<Windows>
getWindows(OnnxNode &node,
           std::optional<llvm::ArrayRef<int64_t>> kernel = std::nullopt);

/// The elements of all \p windows of \p image as a tensor with the axes of
/// `nn.im2col`, \p value where elements are missing.
mlir::Value extractWindows(NNBuilder &b, mlir::Value image,
                           const Windows &windows, double value);

/// The sizes of the spatial axes of \p image.
llvm::ArrayRef<int64_t> getSpatialShape(mlir::Value image);

/// Their numbers.
llvm::SmallVector<int64_t> getSpatialAxes(mlir::Value image);

/// Fails unless \p image has spatial axes.
mlir::LogicalResult checkIsImage(OnnxNode &node, mlir::Value image);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_WINDOWS_H
