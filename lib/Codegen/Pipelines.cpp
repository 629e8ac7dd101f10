//===- Pipelines.cpp - The passes of code generation, in order
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Codegen/Target.h"
#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/SubsetInsertionOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace pipewright;

void pipewright::buildBufferizePipeline(
    OpPassManager &pm, const CodegenTarget *library,
    const TargetOptions &options,
    llvm::function_ref<void(OpPassManager &)> addBufferPasses) {
  // Buffers for arguments and results first: what the library computes can
  // then be written where it is wanted.
  pm.addPass(createLowerFunctions());
  // Whole, where the library has it.
  if (library)
    pm.addPass(createAttentionToLibrary({library->getName().str()}));
  pm.addPass(createExpandAttention());
  // Before the other ops turn to linalg, while contractions are still whole.
  if (library)
    pm.addPass(createToLibrary({library->getName().str(),
                                options.libraryConvolutions.value_or(true)}));

  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createToLinalg());
  functions.addPass(createCanonicalizerPass());
  functions.addPass(createCSEPass());
  // On tensors, where what a value depends on is in plain sight.
  functions.addPass(createFuseElementwise());
  // Merges what fusion copied into several users.
  functions.addPass(createCSEPass());
  // Also merged what has to be apart in the buffers of results.
  functions.addPass(createSeparateFills());
  // Results are computed in the buffers of the function.
  functions.addPass(bufferization::createEmptyTensorEliminationPass());
  // What is not a result is computed where an operand was.
  functions.addPass(createReuseOperands());

  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferAlignment = 0;
  pm.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // A result that is where it belongs leaves a copy onto itself; the second
  // run deletes it.
  OpPassManager &buffered = pm.nest<func::FuncOp>();
  buffered.addPass(createCanonicalizerPass());
  buffered.addPass(createCSEPass());
  buffered.addPass(createCanonicalizerPass());
  if (library)
    library->addBufferPasses(buffered);
  if (addBufferPasses)
    addBufferPasses(buffered);
  buffered.addPass(createPlanWorkspace());
}

void pipewright::buildLayerPipeline(OpPassManager &pm,
                                    const CodegenTarget &target,
                                    const TargetOptions &options) {
  buildBufferizePipeline(pm, &target, options);
  target.addLoweringPasses(pm, options);
}

namespace {
/// Bufferization sees that the tensors are read, and nothing else.
struct KeepBufferization
    : bufferization::BufferizableOpInterface::ExternalModel<KeepBufferization,
                                                            nn::KeepOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const bufferization::AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const bufferization::AnalysisState &) const {
    return false;
  }
  bufferization::AliasingValueList
  getAliasingValues(Operation *, OpOperand &,
                    const bufferization::AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &,
                          bufferization::BufferizationState &) const {
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void pipewright::registerCodegenDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, bufferization::BufferizationDialect,
                  func::FuncDialect, linalg::LinalgDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerSubsetOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    nn::KeepOp::attachInterface<KeepBufferization>(*context);
  });
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerKernelDialects(registry);
}

namespace {
struct LayerOptions : PassPipelineOptions<LayerOptions> {
  Option<std::string> processor{
      *this, "processor",
      llvm::cl::desc("The processor, by the target's own names"),
      llvm::cl::init("native")};
};
} // namespace

void pipewright::registerCodegenPipelines() {
  for (const auto &entry : TargetRegistry::get().getTargets()) {
    const CodegenTarget *target = entry.get();
    PassPipelineRegistration<>(
        "pp-bufferize-" + target->getName().str(),
        "turn layer functions into bufferized ones that call the library of "
        "the target '" +
            target->getName().str() + "'",
        [target](OpPassManager &pm) {
          buildBufferizePipeline(pm, target, TargetOptions());
        });
    PassPipelineRegistration<LayerOptions>(
        "pp-codegen-" + target->getName().str(),
        "compile layer functions to the LLVM dialect for the target '" +
            target->getName().str() + "'",
        [target](OpPassManager &pm, const LayerOptions &options) {
          buildLayerPipeline(pm, *target, TargetOptions{options.processor});
        });
  }
  registerKernelPipelines();
}
