//===- Backend.h - The CPU backend's start ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CPU_BACKEND_H
#define PPRT_BACKENDS_CPU_BACKEND_H

namespace pprt {

/// Keeps the library's kernels on the calling thread: one core per rank, and
/// sums whose order does not depend on the number of cores.
void startCpuBackend();

} // namespace pprt

#endif // PPRT_BACKENDS_CPU_BACKEND_H
