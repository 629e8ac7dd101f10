//===- Backend.cpp - The CPU backend's start ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backend.h"

// Of the OpenMP library that oneDNN uses; its header belongs to one compiler.
extern "C" void omp_set_num_threads(int count);

void pprt::startCpuBackend() { omp_set_num_threads(1); }
