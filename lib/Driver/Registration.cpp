//===- Registration.cpp - Everything a tool needs to know
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/Registration.h"

#include "pipewright/Cost/Passes.h"
#include "pipewright/Dialect/NN/NN.h"
#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Passes.h"
#include "pipewright/Layers/Passes.h"
#include "pipewright/Program/Passes.h"
#include "pipewright/Schedule/Passes.h"
#include "pipewright/Training/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void pipewright::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<nn::NNDialect, pp::PPDialect>();
}

void pipewright::registerPasses() {
  mlir::registerTransformsPasses();
  registerCostPasses();
  registerImportPasses();
  registerLayersPasses();
  registerProgramPasses();
  registerSchedulePasses();
  registerTrainingPasses();
}
