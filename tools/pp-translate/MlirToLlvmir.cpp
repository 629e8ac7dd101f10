//===- MlirToLlvmir.cpp - The LLVM dialect to LLVM IR
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "pipewright/Driver/Registration.h"

#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

/// Upstream's own translation, which it does not export, for what
/// `pp-opt --pp-codegen-cpu` prints.
static LogicalResult translate(Operation *op, raw_ostream &output) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translateModuleToLLVMIR(op, context);
  if (!module)
    return failure();
  module->print(output, nullptr);
  return success();
}

void pipewright::registerMlirToLlvmir() {
  TranslateFromMLIRRegistration registration(
      "mlir-to-llvmir", "translate the LLVM dialect to LLVM IR", translate,
      [](DialectRegistry &registry) {
        pipewright::registerDialects(registry);
        registry.insert<DLTIDialect>();
        registerAllToLLVMIRTranslations(registry);
      });
}
