//===- LoweringPasses.cpp - From bufferized ops to the LLVM dialect
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CPU.h"

#include "../Host/Host.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace pipewright;

void cpu::addLoweringPasses(OpPassManager &pm) {
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createLowerToLoops());
  // f16 and bf16 are how values are stored; sums and functions are of f32.
  arith::ArithEmulateUnsupportedFloatsOptions narrow;
  narrow.sourceTypeStrs = {"f16", "bf16"};
  functions.addPass(arith::createArithEmulateUnsupportedFloats(narrow));
  functions.addPass(math::createMathExtendToSupportedTypes());
  pm.addPass(createExpandBFloat16());
  // Scalar polynomials: LLVM's loop vectorizer widens them with their loops.
  OpPassManager &expanded = pm.nest<func::FuncOp>();
  expanded.addPass(createApproximateMath());
  expanded.addPass(createCanonicalizerPass());
  expanded.addPass(createCSEPass());
  host::addLLVMPasses(pm);
}
