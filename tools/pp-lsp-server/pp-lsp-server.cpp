//===- pp-lsp-server.cpp - Editors understand our IR
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Driver/Registration.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  pipewright::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
