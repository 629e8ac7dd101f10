//===- Machine.h - The device that tests run on -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests are linked with StandIn.cpp, for machines without a GPU, or with
// RealDevice.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef CUDARUNTIME_MACHINE_H
#define CUDARUNTIME_MACHINE_H

#include <string>
#include <vector>

namespace pprt::cuda {

/// The stand-in's results are those of a device, but much later.
extern const bool isStandIn;

/// Forgets what was there, and chooses the device.
void startMachine();
/// What kernels are to be compiled for; 90: compute capability 9.0.
int getChip();
/// From here on, to allocate or to load is a problem.
void beginSteps();
void endSteps();
/// What went wrong since the start, and what was not given back.
std::vector<std::string> getProblems();

} // namespace pprt::cuda

#endif // CUDARUNTIME_MACHINE_H
