//===- ExpertTiles.h - What a block of expert kernels computes --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both the host's compiler and the device's read this.
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_EXPERTTILES_H
#define PPRT_BACKENDS_CUDA_EXPERTTILES_H

namespace pprt::cuda {

/// Rows and columns of a result that one block computes.
constexpr int tileSize = 64;
/// How much of a sum it adds up at a time.
constexpr int tileDepth = 32;
constexpr int tileThreads = 128;
constexpr int sortThreads = 256;

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_EXPERTTILES_H
