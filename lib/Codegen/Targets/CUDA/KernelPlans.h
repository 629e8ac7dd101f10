//===- KernelPlans.h - Which ops become which kernel ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_KERNELPLANS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_KERNELPLANS_H

#include "KernelGroups.h"

namespace pipewright::cuda {

/// Splits \p ops, between which nothing else touches memory, into groups. An op
/// that fits into no group is alone in one without ops.
struct KernelPlan {
  KernelGroup group;
  /// The op, if it is in no group.
  mlir::linalg::GenericOp single = {};
  /// The op that fills the result of the single one before, if that is known.
  mlir::linalg::GenericOp fill = {};
};
/// Ops may go before others that have nothing to do with them.
std::vector<KernelPlan>
planKernels(llvm::ArrayRef<mlir::linalg::GenericOp> ops);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_KERNELPLANS_H
