//===- Device.h - How long work takes on a device ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The roofline model (Williams et al., CACM 2009, doi:10.1145/1498765.1498785):
// an op is bound either by arithmetic or by memory. Small ops reach a smaller
// part of either limit, so that both have a curve of efficiency over size. It
// includes no MLIR header.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_DEVICE_H
#define PIPEWRIGHT_COST_DEVICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace pipewright {

/// What an op, a function or a layer does.
struct Work {
  int64_t flops = 0;
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
  /// Those of the FLOPs that units for products of matrices cannot do.
  int64_t vectorFlops = 0;

  Work &operator+=(const Work &other) {
    flops += other.flops;
    bytesRead += other.bytesRead;
    bytesWritten += other.bytesWritten;
    vectorFlops += other.vectorFlops;
    return *this;
  }
};

/// Element types that devices have a peak for.
enum class FloatKind { F64, F32, BF16, F16 };

/// The part of a peak that an op of some size reaches: linear in the logarithm
/// of the size between the points, and as at the nearest point beyond them.
class EfficiencyCurve {
public:
  struct Point {
    double size;
    double fraction;
  };

  /// Reaches the peak at any size.
  EfficiencyCurve() = default;
  /// Sizes are above 0 and ascend; fractions are above 0 and at most 1.
  explicit EfficiencyCurve(std::vector<Point> points)
      : points(std::move(points)) {}

  double at(double size) const;

private:
  std::vector<Point> points;
};

/// Where a figure of a device comes from.
struct FigureSource {
  std::string figure, source;
};

/// A device that runs one op after the other.
struct Device {
  std::string name, description;
  /// Peaks in FLOP/s, by FloatKind: of products of matrices, and of all else.
  std::array<double, 4> flopsPerSecond = {1, 1, 1, 1};
  std::array<double, 4> vectorFlopsPerSecond = {1, 1, 1, 1};
  double bytesPerSecond = 1;
  int64_t memoryBytes = 0;
  /// To start an op.
  double launchSeconds = 0;
  /// Over the FLOPs of an op of either sort, and over the bytes that it moves.
  EfficiencyCurve computeEfficiency, vectorEfficiency, memoryEfficiency;
  std::vector<FigureSource> sources;

  /// How long one op that does \p work on elements of \p kind takes.
  double seconds(const Work &work, FloatKind kind) const;
};

/// The names of the devices that come with the program, sorted.
llvm::ArrayRef<llvm::StringRef> getDeviceNames();

/// The device that is meant by \p nameOrFile: one that comes with the program,
/// or a file that ends in `.json` or `.toml`; docs/Devices.md tells its keys.
/// The error names the file and the key that is missing, unknown or wrong.
llvm::Expected<Device> loadDevice(llvm::StringRef nameOrFile);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_DEVICE_H
