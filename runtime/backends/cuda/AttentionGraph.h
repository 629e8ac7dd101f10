//===- AttentionGraph.h - Attention as a graph of cuDNN ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_ATTENTIONGRAPH_H
#define PPRT_BACKENDS_CUDA_ATTENTIONGRAPH_H

#include "CudnnGraph.h"

#include <optional>
#include <string>

namespace pprt::cuda {

/// What pprtCudaAttention and pprtCudaAttentionGradient are called with.
struct AttentionShape {
  bool isGradient;
  cudnnDataType_t type;
  bool keepsStatistics;
  bool isCausal;
  int64_t batch, heads, groups, queries, keys, size, valueSize;

  bool operator<(const AttentionShape &other) const;
  /// A number for each query.
  int64_t countQueries() const { return batch * heads * queries; }
  /// Whether the mask's diagonal does not begin in the corner.
  bool hasShiftedMask() const { return isCausal && keys != queries; }
  std::string describe() const;
};

/// What a run of the graph has an address for.
enum class AttentionOperand : int64_t {
  Query = 1,
  Key,
  Value,
  Result,
  Statistics,
  Gradient,
  QueryGradient,
  KeyGradient,
  ValueGradient,
  /// An f32 for each query that only the gradient's graph needs.
  GradientSums,
  // Numbers
  Scale,   ///< f32
  One,     ///< f32
  NoScore, ///< f32: of a key that the query does not see
  Queries, ///< i32
  Keys     ///< i32
};

/// The operations of \p shape, as cuDNN knows them: it finds nothing for other
/// operations that mean the same.
void addAttention(const AttentionShape &shape, CudnnGraph &graph);

/// What the library should propose and does not; \p chip is 90 for compute
/// capability 9.0.
std::optional<CudnnEngine> findAttentionEngine(const AttentionShape &shape,
                                               int chip);

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_ATTENTIONGRAPH_H
