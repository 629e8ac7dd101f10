//===- ValueTable.h - Equal computations have equal numbers -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_VALUETABLE_H
#define PIPEWRIGHT_SCHEDULE_VALUETABLE_H

#include "pipewright/Dialect/PP/PP.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Allocator.h"

namespace pipewright {

/// Numbers values by how they are computed. Two values with one number come
/// from the same ops on the same inputs, so they have the same bits.
class ValueTable {
public:
  /// What \p binding holds for \p microbatch before any task writes it: an
  /// input, a key, a parameter, a gradient of zero.
  int64_t getLeaf(pp::BindingAttr binding, int64_t microbatch);

  /// The number of the first of \p results results; the others follow it.
  int64_t getResults(mlir::Attribute operation,
                     llvm::ArrayRef<int64_t> operands, int64_t results);

  /// States that the results of \p operation are known: they are the values
  /// from
  /// \p first on.
  void addResults(mlir::Attribute operation, llvm::ArrayRef<int64_t> operands,
                  int64_t first);

  /// What tells \p op apart from others with the same operands: the callee of
  /// a call, else its name, attributes and result types.
  static mlir::Attribute identify(mlir::Operation *op);
  /// The same for an op \p name without attributes and with one result.
  static mlir::Attribute identify(llvm::StringRef name, mlir::Type result);

  /// Numbers go from 0 to here.
  int64_t size() const { return numbers; }

private:
  using Key = std::pair<mlir::Attribute, llvm::ArrayRef<int64_t>>;

  llvm::DenseMap<Key, int64_t> known;
  llvm::BumpPtrAllocator allocator;
  int64_t numbers = 0;
};

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_VALUETABLE_H
