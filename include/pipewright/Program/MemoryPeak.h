//===- MemoryPeak.h - When a rank holds most, and what ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PROGRAM_MEMORYPEAK_H
#define PIPEWRIGHT_PROGRAM_MEMORYPEAK_H

#include "pipewright/Dialect/PP/PP.h"

#include <string>
#include <vector>

namespace pipewright {

/// What one tensor takes of a rank's memory, for all micro-batches that it is
/// kept for; or all that lasts of one kind.
struct MemoryPart {
  pp::BindingKind kind;
  /// "tensor<2x8xf32> of '/h.0/attn/Softmax' in layer 'h.0'", "parameters". A
  /// layer that shares its code with another has the node names of that one.
  std::string what;
  int64_t bytes = 0;
  /// Ascending; empty for what lasts and in eval, which has one at a time.
  std::vector<int64_t> microbatches;
  /// As long as the run.
  bool lasts = false;
};

/// The memory of one rank along its step, or along a micro-batch of eval if
/// that is all it does. Bytes count whole cache lines, as the arena does.
struct MemoryPeak {
  int64_t rank = 0;
  /// Of the arena: the bytes at the peak, and what packing leaves unused.
  int64_t arenaBytes = 0;
  /// Each action: "F s0 mb3", "SEND act.0.0 mb3", "F s0 mb3 + B s1 mb0"; and
  /// the bytes that are in use during it.
  std::vector<std::string> actions;
  llvm::SmallVector<int64_t> liveBytes;
  /// The first action during which most bytes are in use.
  int64_t peakAction = 0;
  /// What is in use then, the largest part first.
  std::vector<MemoryPart> parts;

  int64_t getPeakBytes() const {
    return liveBytes.empty() ? 0 : liveBytes[peakAction];
  }
};

/// The peak of each rank. Requires programs and tasks of known workspace, as
/// --pp-plan-arena does, and may be called after that has failed because memory
/// is too small. Fails, with a diagnostic, where they are not sound.
mlir::FailureOr<std::vector<MemoryPeak>> findMemoryPeaks(mlir::ModuleOp module);

/// "micro-batches 0-2, 5"; "" if there are none.
std::string formatMicrobatches(const MemoryPart &part);

} // namespace pipewright

#endif // PIPEWRIGHT_PROGRAM_MEMORYPEAK_H
