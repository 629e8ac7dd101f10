//===- Workspace.h - Where short-lived buffers lie --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tasks and layer functions never allocate: their intermediate values lie at
// fixed offsets of a workspace, and values that are never needed at the same
// time may share memory.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_WORKSPACE_H
#define PIPEWRIGHT_CODEGEN_WORKSPACE_H

#include "pipewright/Program/Arena.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>

namespace pipewright {

/// Offsets of buffers are multiples of this many bytes: the workspace is a part
/// of the arena.
inline constexpr int64_t workspaceAlignment = arenaAlignment;

/// A buffer of `bytes` bytes that is needed from step `first` to step `last`,
/// both included, of whatever sequence its owner counts.
struct BufferLifetime {
  int64_t bytes;
  int64_t first;
  int64_t last;
};

/// The offset of each buffer, in bytes, and the size of all of them together.
struct WorkspacePlan {
  llvm::SmallVector<int64_t> offsets;
  int64_t bytes = 0;
};

/// Places large buffers first, each as low as those that live at the same time
/// allow. The plan depends on nothing but \p lifetimes.
WorkspacePlan planWorkspace(llvm::ArrayRef<BufferLifetime> lifetimes);

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_WORKSPACE_H
