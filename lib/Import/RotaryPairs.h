//===- RotaryPairs.h - Positions as rotations -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary position embeddings, which several operators contain: each pair of
// numbers of a head is a point that is rotated by its position's angle. (Su et
// al., arXiv:2104.09864)
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_ROTARYPAIRS_H
#define PIPEWRIGHT_LIB_IMPORT_ROTARYPAIRS_H

#include "pipewright/Import/OnnxNode.h"

namespace pipewright {

/// Cosines and sines of all angles: [batch, length, pairs of a head].
struct RotaryAngles {
  mlir::Value cosine, sine;
};

/// The angles in two tables of [positions, pairs of a head] for each of
/// \p positions.
mlir::FailureOr<RotaryAngles> lookUpAngles(OnnxNode &node, mlir::Value cosines,
                                           mlir::Value sines,
                                           mlir::Value positions);

/// As above for the positions from \p first on, of each sample of a batch.
mlir::FailureOr<RotaryAngles> takeAngles(OnnxNode &node, mlir::Value cosines,
                                         mlir::Value sines, int64_t first,
                                         int64_t length, int64_t batch);

/// Rotates the first pairs of all heads of \p x, as many as there are angles;
/// its axes are those of the angles, that of the heads at \p headAxis, and the
/// numbers of a head, which are pairs side by side if \p isInterleaved, else
/// first numbers before second ones. An error if angles do not fit.
mlir::FailureOr<mlir::Value> rotatePairs(OnnxNode &node, mlir::Value x,
                                         const RotaryAngles &angles,
                                         int64_t headAxis, bool isInterleaved);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_ROTARYPAIRS_H
