//===- ModelTest.h - Tests that import models -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_IMPORT_MODELTEST_H
#define PIPEWRIGHT_TEST_UNIT_IMPORT_MODELTEST_H

#include "SuiteTest.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallString.h"

#include <gtest/gtest.h>

namespace pipewright {

struct ImportNotes;

/// A folder for a model's file and a context to import it in.
class ModelTest : public testing::Test {
protected:
  ModelTest();
  void SetUp() override;
  void TearDown() override;

  mlir::OwningOpRef<mlir::ModuleOp> import(const onnx::ModelProto &model,
                                           ImportNotes *notes = nullptr);
  /// Imports the model with its inputs unknown or, if it must, known.
  mlir::OwningOpRef<mlir::ModuleOp> importEither(const SuiteTest &test,
                                                 ImportNotes *notes = nullptr);

  llvm::SmallString<128> folder;
  mlir::MLIRContext context;
  std::vector<std::string> errors; ///< of the last import
};

/// Where Debian has ONNX's own tests, unless the environment names another
/// place.
std::string getSuite();

/// The tests of the suite, as `node/test_add`.
std::vector<std::string> listSuite();

/// The last part of a test's name: no two folders share one.
std::string describeParam(const testing::TestParamInfo<std::string> &info);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_IMPORT_MODELTEST_H
