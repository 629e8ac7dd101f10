//===- BuildOptions.h - What a build is asked for -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DRIVER_BUILDOPTIONS_H
#define PIPEWRIGHT_DRIVER_BUILDOPTIONS_H

#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pipewright {

/// The options of `pipewright build`, under the names of the command line.
struct BuildOptions {
  /// `.onnx`, or `.mlir` as imported.
  std::string model;
  std::string output;
  bool force = false;

  int64_t ranks = 1;
  int64_t chunks = 1;
  int64_t microbatches = 8;
  /// Samples in a micro-batch; absent: as the model or `bind` says.
  std::optional<int64_t> microbatchSize;
  /// Samples in a step; absent: micro-batches times their size.
  std::optional<int64_t> globalBatch;
  llvm::StringMap<int64_t> bind;
  bool allowExternalSymlinks = false;

  std::string loss;
  int64_t ignoreIndex = -100;
  std::string optimizer = "adamw";
  std::string train, freeze;
  bool forwardOnly = false;

  std::string balance = "time";
  std::vector<std::string> splitAt;
  std::string remat = "none";
  std::string schedule = "1f1b";
  /// Limit for the arena of a rank, in bytes; 0: none.
  int64_t memory = 0;

  std::string target = "cpu";
  /// The processor, by the target's own names.
  std::string processor = "native";
  /// Where the IR after each phase goes; empty: nowhere.
  std::string emitIr;
};

} // namespace pipewright

#endif // PIPEWRIGHT_DRIVER_BUILDOPTIONS_H
