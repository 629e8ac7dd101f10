//===- Passes.h - From layers and programs to LLVM --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_PASSES_H
#define PIPEWRIGHT_CODEGEN_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pipewright {

class CodegenTarget;
struct TargetOptions;

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pipewright/Codegen/Passes.h.inc"

/// Takes layer functions (`nn.function`) to bufferized linalg ops in functions
/// whose last argument is their workspace. Contractions and convolutions become
/// calls of the library of the target \p library, as \p options say; without
/// one they are ops like any other.
/// The workspace is planned after the passes on functions that the target, or
/// \p addBufferPasses, adds.
void buildBufferizePipeline(
    mlir::OpPassManager &pm, const CodegenTarget *library,
    const TargetOptions &options,
    llvm::function_ref<void(mlir::OpPassManager &)> addBufferPasses = {});

/// The whole way of layer functions, from `nn.function` to the LLVM dialect.
void buildLayerPipeline(mlir::OpPassManager &pm, const CodegenTarget &target,
                        const TargetOptions &options);

/// Adds the passes that put all code of bufferized functions into kernels. They
/// come before the workspace is planned: what stays in registers needs none,
/// and ops whose buffers share memory cannot share a kernel.
void addKernelPasses(mlir::OpPassManager &functions);

/// Takes bufferized layer functions, of which some may be in kernels already,
/// to kernels in the NVVM dialect and to launches of them.
void buildKernelPipeline(mlir::OpPassManager &pm);

/// The upstream dialects that code generation passes through.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// Pipelines for the layer functions of each target: `pp-codegen-<target>`, and
/// `pp-bufferize-<target>`, which is its first part.
void registerCodegenPipelines();

/// What the two functions above register for code on devices.
void registerKernelDialects(mlir::DialectRegistry &registry);
void registerKernelPipelines();

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_PASSES_H
