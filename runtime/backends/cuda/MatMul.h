//===- MatMul.h - Matrix products on cuBLASLt -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PPRT_BACKENDS_CUDA_MATMUL_H
#define PPRT_BACKENDS_CUDA_MATMUL_H

namespace pprt::cuda {

/// Gives back how the products of all shapes are computed.
void forgetProducts();

} // namespace pprt::cuda

#endif // PPRT_BACKENDS_CUDA_MATMUL_H
