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

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pipewright/Codegen/Passes.h.inc"

/// Takes layer functions (`nn.function`) to bufferized linalg ops in functions
/// whose last argument is their workspace.
void buildBufferizePipeline(mlir::OpPassManager &pm,
                            const CodegenTarget &target);

/// The whole way of layer functions, from `nn.function` to the LLVM dialect.
void buildLayerPipeline(mlir::OpPassManager &pm, const CodegenTarget &target);

/// The upstream dialects that code generation passes through.
void registerCodegenDialects(mlir::DialectRegistry &registry);

/// A pipeline `pp-codegen-<target>` for the layer functions of each target.
void registerCodegenPipelines();

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_PASSES_H
