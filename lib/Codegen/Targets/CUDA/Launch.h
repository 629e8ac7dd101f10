//===- Launch.h - Launches of kernels ---------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_LAUNCH_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_LAUNCH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace pipewright::cuda {

/// Threads that take part in a shuffle.
constexpr int64_t warpSize = 32;

/// How many blocks of how many threads run a kernel.
struct LaunchShape {
  int64_t blocks;
  int64_t threadsX, threadsY = 1;
};

/// Makes the launches of one function.
class Launcher {
public:
  /// Kernels of \p function are in a module with a name made of its.
  explicit Launcher(llvm::StringRef function);

  /// Creates a launch whose body is empty, and sets \p builder to it. The name
  /// of the kernel begins with \p kind.
  mlir::gpu::LaunchOp create(mlir::ImplicitLocOpBuilder &builder,
                             LaunchShape shape, llvm::StringRef kind);

private:
  std::string moduleName;
  int64_t count = 0;
};

/// Moves copies of what the body of \p launch uses into it, as far as the
/// device has to compute it itself: constants, and what follows from them and
/// from elements of buffers. Fails, with an error, if such an element may have
/// been overwritten by then.
mlir::LogicalResult sinkOperands(mlir::gpu::LaunchOp launch);

mlir::Value createIndex(mlir::ImplicitLocOpBuilder &builder, int64_t value);

/// Whether \p index is below \p bound.
mlir::Value isBelow(mlir::ImplicitLocOpBuilder &builder, mlir::Value index,
                    int64_t bound);

/// The indices of loops with \p extents in iteration \p number of them all.
llvm::SmallVector<mlir::Value> delinearize(mlir::ImplicitLocOpBuilder &builder,
                                           mlir::Value number,
                                           llvm::ArrayRef<int64_t> extents);

/// \p index times \p factor plus \p summand.
mlir::Value multiplyAdd(mlir::ImplicitLocOpBuilder &builder, mlir::Value index,
                        int64_t factor, mlir::Value summand);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_LAUNCH_H
