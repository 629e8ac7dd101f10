//===- Profiler.h - A program that times the layers of a model --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PACKAGE_PROFILER_H
#define PIPEWRIGHT_PACKAGE_PROFILER_H

#include "pipewright/Codegen/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <string>

namespace pipewright {

struct ProfilerOptions {
  std::string target;
  TargetOptions targetOptions;
  /// The runtime library, which is linked in place.
  std::string runtimeLibrary;
  /// Bytes that may be spent on copies of layers. A layer that the model has
  /// often is timed on several copies of its memory, as in a run, where its
  /// weights come from memory and not from a cache.
  int64_t copyBytes = int64_t(1) << 30;
};

/// Compiles the functions of each distinct layer of \p module as for a rank,
/// and links them with pprtProfileMain to a program at \p path. Its layers are
/// numbered as findLayerFunctions lists them. Requires the phase Training, or
/// Layers for inference; the module is not changed.
mlir::LogicalResult emitProfiler(mlir::ModuleOp module,
                                 const ProfilerOptions &options,
                                 llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_PACKAGE_PROFILER_H
