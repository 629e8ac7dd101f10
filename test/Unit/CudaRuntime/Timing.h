//===- Timing.h - How long work takes on a device ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUDARUNTIME_TIMING_H
#define CUDARUNTIME_TIMING_H

#include <functional>

namespace pprt::cuda {

/// The least time of several rounds of what \p work puts on the compute stream
/// of the calling thread.
double measureSeconds(const std::function<void()> &work);

/// The time of a copy on the device that reads and writes \p bytes together.
double measureCopySeconds(int64_t bytes);

} // namespace pprt::cuda

#endif // CUDARUNTIME_TIMING_H
