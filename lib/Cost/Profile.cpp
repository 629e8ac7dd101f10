//===- Profile.cpp - Measured times of a model's layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Cost/Profile.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

#include <cassert>
#include <numeric>
#include <tuple>

using namespace llvm;
using namespace pipewright;

/// The value below which the part \p share of sorted \p samples lies, between
/// neighbours on the line that joins them.
static double getQuantile(ArrayRef<double> samples, double share) {
  double position = share * (samples.size() - 1);
  size_t below = static_cast<size_t>(position);
  size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] +
         (position - below) * (samples[above] - samples[below]);
}

Measurement Measurement::of(std::vector<double> samples) {
  assert(!samples.empty() && "nothing was measured");
  llvm::sort(samples);
  double longest = longestPerMedian * getQuantile(samples, 0.5);
  auto end = llvm::upper_bound(samples, longest);
  return {std::accumulate(samples.begin(), end, 0.0) /
              std::distance(samples.begin(), end),
          getQuantile(samples, 0.75) - getQuantile(samples, 0.25),
          static_cast<int64_t>(samples.size())};
}

const MeasuredLayer *Profile::find(StringRef key) const {
  for (const MeasuredLayer &layer : layers)
    if (layer.key == key)
      return &layer;
  return nullptr;
}

const MeasuredLink *Profile::getTypicalLink() const {
  if (links.empty())
    return nullptr;
  std::vector<const MeasuredLink *> bySpeed;
  for (const MeasuredLink &link : links)
    bySpeed.push_back(&link);
  llvm::sort(bySpeed, [](const MeasuredLink *a, const MeasuredLink *b) {
    return std::tie(b->bytesPerSecond, a->ranks) <
           std::tie(a->bytesPerSecond, b->ranks);
  });
  return bySpeed[bySpeed.size() / 2];
}

void pipewright::fitLink(MeasuredLink &link) {
  // Weighted least squares for t = a + c n with weights 1 / t^2.
  double sum = 0, sumN = 0, sumNN = 0, sumT = 0, sumNT = 0;
  for (const MeasuredLink::Point &point : link.points) {
    double n = point.bytes, t = point.time.seconds;
    double weight = 1 / (t * t);
    sum += weight;
    sumN += weight * n;
    sumNN += weight * n * n;
    sumT += weight * t;
    sumNT += weight * n * t;
  }
  double determinant = sum * sumNN - sumN * sumN;
  double latency = (sumNN * sumT - sumN * sumNT) / determinant;
  double perByte = (sum * sumNT - sumN * sumT) / determinant;
  if (latency < 0) {
    latency = 0;
    perByte = sumNT / sumNN;
  }
  if (perByte <= 0) {
    // Larger messages were not slower: the largest one is a bound.
    const MeasuredLink::Point &last = link.points.back();
    perByte = last.time.seconds / last.bytes;
  }
  link.latencySeconds = latency;
  link.bytesPerSecond = 1 / perByte;
}
