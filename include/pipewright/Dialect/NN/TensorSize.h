//===- TensorSize.h - Sizes that can be computed with -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_TENSORSIZE_H
#define PIPEWRIGHT_DIALECT_NN_TENSORSIZE_H

#include "llvm/ADT/ArrayRef.h"

namespace pipewright::nn {

/// Whether the axes of \p shape that are not empty have together at most 2^48
/// elements: then no size of a tensor, in bytes or along some of its axes,
/// overflows. A model may ask for any shape.
bool hasReasonableSize(llvm::ArrayRef<int64_t> shape);

} // namespace pipewright::nn

#endif // PIPEWRIGHT_DIALECT_NN_TENSORSIZE_H
