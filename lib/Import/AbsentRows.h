//===- AbsentRows.h - Rows of which only some are there ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How many elements NonZero finds is not known before the model runs, and all
// shapes are. So every element gets its coordinates; those that NonZero would
// not find are absent, and so is each row that is computed from them. That is
// the model if absent rows reach nothing else: they may be scattered, as what
// an expert computed for its tokens is, and then are not added.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_ABSENTROWS_H
#define PIPEWRIGHT_LIB_IMPORT_ABSENTROWS_H

#include "pipewright/Dialect/NN/NN.h"

#include <string>

namespace pipewright {

/// The coordinates of all elements of a tensor, for NonZero.
struct ConditionalRows {
  mlir::Value coordinates; ///< [axes, elements], the result of its own op
  mlir::Value condition;   ///< [elements]: which are there
  std::string node;        ///< that wants them, for diagnostics
};

/// Takes what absent rows contribute out of the model, replaces the coordinates
/// by constants, and multiplies only rows that are there. Reports an error
/// where absent rows reach what must not see them.
mlir::LogicalResult removeAbsentRows(llvm::ArrayRef<ConditionalRows> all);

/// Warns of a router that chooses among more experts than there are: those
/// that no token went to when a model was traced are not in its file.
void warnOfMissingExperts(llvm::ArrayRef<ConditionalRows> rows);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_ABSENTROWS_H
