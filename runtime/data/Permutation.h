//===- Permutation.h - A random order without a table -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_DATA_PERMUTATION_H
#define PPRT_DATA_PERMUTATION_H

#include <cstdint>

namespace pprt {

/// Where \p index, below \p size, goes in the permutation of \p key.
int64_t permute(int64_t index, int64_t size, uint64_t key);

} // namespace pprt

#endif // PPRT_DATA_PERMUTATION_H
