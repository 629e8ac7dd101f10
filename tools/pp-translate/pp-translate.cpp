//===- pp-translate.cpp - Other formats to and from IR
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  pipewright::registerEmitSchedule();
  pipewright::registerImportOnnx();
  pipewright::registerImportScheduleCsv();
  pipewright::registerMlirToLlvmir();
  return mlir::failed(
      mlir::mlirTranslateMain(argc, argv, "Pipewright translation driver"));
}
