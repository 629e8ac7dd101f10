//===- Device.cpp - How long work takes on a device
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Device.h"

#include <algorithm>
#include <cmath>

using namespace pipewright;

double EfficiencyCurve::at(double size) const {
  if (points.empty())
    return 1;
  auto next = std::find_if(points.begin(), points.end(),
                           [=](Point point) { return point.size >= size; });
  if (next == points.begin())
    return points.front().fraction;
  if (next == points.end())
    return points.back().fraction;
  Point low = *std::prev(next);
  double share = std::log(size / low.size) / std::log(next->size / low.size);
  return low.fraction + share * (next->fraction - low.fraction);
}

double Device::seconds(const Work &work, FloatKind kind) const {
  auto number = static_cast<size_t>(kind);
  int64_t products = work.flops - work.vectorFlops;
  double computing =
      products / (flopsPerSecond[number] * computeEfficiency.at(products)) +
      work.vectorFlops / (vectorFlopsPerSecond[number] *
                          vectorEfficiency.at(work.vectorFlops));
  double bytes = static_cast<double>(work.bytesRead) + work.bytesWritten;
  double moving = bytes / (bytesPerSecond * memoryEfficiency.at(bytes));
  return std::max(computing, moving) + launchSeconds;
}
