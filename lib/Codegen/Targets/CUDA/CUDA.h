//===- CUDA.h - The parts of the CUDA target --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CUDA_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CUDA_H

#include "pipewright/Codegen/Target.h"

#include "mlir/Pass/PassManager.h"

namespace pipewright::cuda {

/// Kernels, their code for \p chips, and the LLVM dialect with bare pointers
/// for the host, which launches them.
void addLoweringPasses(mlir::OpPassManager &pm, llvm::StringRef chips);

/// Whether convolutions and pooling are calls of cuDNN, if that is what is \p
/// asked, or nothing; an error if the runtime was built without it.
llvm::Expected<bool> resolveConvolutions(std::optional<bool> asked);

/// Whether cuDNN computes with numbers of type \p element.
bool isLibraryFloat(mlir::Type element);

/// Whether cuDNN, which has 32 bits for it, counts the elements of \p tensor.
bool isCountable(mlir::Value tensor);

/// Whether cuDNN computes \p call, which has tensors.
bool hasConvolution(const ConvolutionCall &call);

/// Emits a call of the `…Convolution…` for the operands' types. Names of the
/// runtime's functions begin with \p prefix.
void emitConvolution(const ConvolutionCall &call, llvm::StringRef prefix,
                     mlir::Location loc, mlir::OpBuilder &builder);

/// The same for pooling.
bool hasPooling(const PoolingCall &call);
void emitPooling(const PoolingCall &call, llvm::StringRef prefix,
                 mlir::Location loc, mlir::OpBuilder &builder);

/// Whether cuBLASLt computes \p call, which has tensors.
bool hasEpilogue(const EpilogueCall &call);

/// Emits a call of the `…Epilogue…` for the operands' type, as
/// `emitConvolution` does.
void emitEpilogue(const EpilogueCall &call, llvm::StringRef prefix,
                  mlir::Location loc, mlir::OpBuilder &builder);

/// Emits the loop in which the runtime chooses one of two ways, as
/// pprt/Cuda.h has it.
void emitEpilogueChoice(const EpilogueCall &call,
                        llvm::function_ref<void(mlir::OpBuilder &)> emitLibrary,
                        llvm::function_ref<void(mlir::OpBuilder &)> emitOthers,
                        llvm::StringRef prefix, mlir::Location loc,
                        mlir::OpBuilder &builder);

/// An error if attention is to be calls of cuDNN, as \p asked, and the runtime
/// was built without it.
llvm::Error checkAttention(bool asked);

/// Whether cuDNN computes \p call, which has tensors, and its gradient.
bool hasAttention(const AttentionCall &call);

/// The bytes that the runtime wants for the gradient of \p call.
int64_t getAttentionWorkspace(const AttentionCall &call);

/// Emit a call of `…Attention…`, or `…AttentionGradient…`, for the operands'
/// type.
void emitAttention(const AttentionCall &call, llvm::StringRef prefix,
                   mlir::Location loc, mlir::OpBuilder &builder);
void emitAttentionGradient(const AttentionGradientCall &call,
                           llvm::StringRef prefix, mlir::Location loc,
                           mlir::OpBuilder &builder);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CUDA_H
