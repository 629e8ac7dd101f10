//===- LayerTimes.h - Times of layers that a file gives ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What someone measured with other tools, or expects, for a machine that is not
// at hand; docs/Devices.md tells the keys of the file. It includes no MLIR
// header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_LAYERTIMES_H
#define PIPEWRIGHT_COST_LAYERTIMES_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pipewright {

/// In seconds, for one micro-batch; what is not given is known from elsewhere.
struct RoleTimes {
  std::optional<double> forward, backwardInput, backwardWeight;
  /// What `--remat selective` adds.
  std::optional<double> recompute;
};

/// Of the layers whose names a pattern matches.
struct LayerTime : RoleTimes {
  /// With `*`, `?` and `[...]`, as in a shell.
  std::string pattern;

  bool matches(llvm::StringRef layer) const;
};

struct LayerTimes {
  /// Samples in the micro-batch of the times.
  int64_t microbatchSize = 1;
  std::vector<LayerTime> rows;

  /// The first row that matches \p layer, or null.
  const LayerTime *find(llvm::StringRef layer) const;
};

/// Reads the `.json` or `.toml` file at \p path. The error names the file and
/// the key that is missing, unknown or wrong.
llvm::Expected<LayerTimes> readLayerTimes(llvm::StringRef path);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_LAYERTIMES_H
