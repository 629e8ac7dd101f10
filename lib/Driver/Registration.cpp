//===- Registration.cpp - Everything a tool needs to know
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/Registration.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Comm/Passes.h"
#include "pipewright/Cost/Passes.h"
#include "pipewright/Dialect/NN/NN.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Passes.h"
#include "pipewright/Layers/Passes.h"
#include "pipewright/Program/Passes.h"
#include "pipewright/Remat/Passes.h"
#include "pipewright/Schedule/Passes.h"
#include "pipewright/Stages/Passes.h"
#include "pipewright/Training/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void pipewright::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<nn::NNDialect, pp::PPDialect>();
  registerCodegenDialects(registry);
}

void pipewright::registerPasses() {
  mlir::registerTransformsPasses();
  // Between ours: bufferization.
  mlir::bufferization::registerBufferizationPasses();
  registerCodegenPasses();
  registerCodegenPipelines();
  registerCommPasses();
  registerCostPasses();
  registerImportPasses();
  registerLayersPasses();
  registerProgramPasses();
  registerSchedulePasses();
  registerRematPasses();
  registerStagesPasses();
  registerTrainingPasses();
}
