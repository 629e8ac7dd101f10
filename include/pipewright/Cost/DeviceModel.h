//===- DeviceModel.h - How long work takes on a device ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roofline model: an op is bound either by arithmetic or by memory. It
// includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_DEVICEMODEL_H
#define PIPEWRIGHT_COST_DEVICEMODEL_H

#include <cstdint>

namespace pipewright {

/// What an op, a function or a layer does.
struct Work {
  int64_t flops = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;

  Work &operator+=(const Work &other) {
    flops += other.flops;
    bytesRead += other.bytesRead;
    bytesWritten += other.bytesWritten;
    return *this;
  }
};

/// A device that runs one op after the other. The defaults are one CPU core.
struct DeviceModel {
  double flopsPerSecond = 200e9;
  double bytesPerSecond = 20e9;
  double launchSeconds = 100e-9;

  /// How long one op that does \p work takes.
  double seconds(const Work &work) const;
};

} // namespace pipewright

#endif // PIPEWRIGHT_COST_DEVICEMODEL_H
