//===- KeyCache.h - Keys and values of earlier positions --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_KEYCACHE_H
#define PIPEWRIGHT_LIB_IMPORT_KEYCACHE_H

#include "pipewright/Import/OnnxNode.h"

namespace pipewright {

/// Where the new keys of each sample lie among all, in a cache whose samples
/// may be filled to different lengths.
struct CacheLayout {
  int64_t added; ///< new keys, as many as queries
  int64_t past;  ///< keys in the past operand, not all of which need count
  int64_t total; ///< keys of the longest sample
  /// How many keys each sample has, an i64; null if they all have `total`.
  mlir::Value filled;
  /// The same, but for a first prompt, which fills the cache from its start in
  /// all samples.
  mlir::Value ends;

  /// The keys that the cache has room for.
  int64_t getCapacity() const { return std::max(past, total); }
  /// Whether the cache is the past with the new keys behind it.
  bool isConcatenation() const { return !ends && past + added == total; }
};

/// A cache of \p past in which the last keys of each sample are \p added, with
/// zeros behind them. Tensors are [batch, heads, keys, size of a head].
mlir::Value putIntoCache(NNBuilder &b, mlir::Value past, mlir::Value added,
                         const CacheLayout &layout);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_KEYCACHE_H
