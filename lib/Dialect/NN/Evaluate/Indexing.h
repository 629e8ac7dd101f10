//===- Indexing.h - Walking over the elements of a tensor -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_INDEXING_H
#define PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_INDEXING_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace pipewright::nn {

inline int64_t countElements(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// Position in row-major order of the element at \p index.
inline int64_t linearize(llvm::ArrayRef<int64_t> index,
                         llvm::ArrayRef<int64_t> shape) {
  int64_t position = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    position = position * shape[axis] + index[axis];
  return position;
}

/// Calls `visit(index, position)` for each element in row-major order.
template <typename Visitor>
void forEachElement(llvm::ArrayRef<int64_t> shape, Visitor visit) {
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = countElements(shape);
  for (int64_t position = 0; position < count; ++position) {
    visit(llvm::ArrayRef<int64_t>(index), position);
    for (int64_t axis = shape.size() - 1; axis >= 0; --axis) {
      if (++index[axis] < shape[axis])
        break;
      index[axis] = 0;
    }
  }
}

/// A shape seen from one axis: `outer` times `size` times `inner` elements.
struct AxisView {
  int64_t outer;
  int64_t size;
  int64_t inner;

  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis)
      : outer(countElements(shape.take_front(axis))), size(shape[axis]),
        inner(countElements(shape.drop_front(axis + 1))) {}

  int64_t position(int64_t o, int64_t i, int64_t k) const {
    return (o * size + i) * inner + k;
  }

  /// Calls `visit(o, k)` for each line along the axis.
  template <typename Visitor>
  void forEachLine(Visitor visit) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t k = 0; k < inner; ++k)
        visit(o, k);
  }
};

} // namespace pipewright::nn

#endif // PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_INDEXING_H
