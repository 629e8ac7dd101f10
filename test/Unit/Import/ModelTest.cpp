//===- ModelTest.cpp - Tests that import models
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelTest.h"

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Import/Import.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace mlir;
using namespace pipewright;
using namespace pipewright::onnx;

ModelTest::ModelTest() {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  context.appendDialectRegistry(registry);
}

void ModelTest::SetUp() {
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("onnx-suite", folder));
}

void ModelTest::TearDown() { llvm::sys::fs::remove_directories(folder); }

OwningOpRef<ModuleOp> ModelTest::import(const ModelProto &model,
                                        ImportNotes *notes) {
  ImportOptions options;
  options.path = (folder + "/model.onnx").str();
  options.notes = notes;
  std::error_code error;
  llvm::raw_fd_ostream(options.path, error) << model.SerializeAsString();
  errors.clear();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
    if (diag.getSeverity() == DiagnosticSeverity::Error)
      errors.push_back(diag.str());
    return success();
  });
  return importOnnx(options, &context);
}

OwningOpRef<ModuleOp> ModelTest::importEither(const SuiteTest &test,
                                              ImportNotes *notes) {
  if (OwningOpRef<ModuleOp> module = import(test.model, notes))
    return module;
  if (!test.hasTensors())
    return {};
  return import(test.promoteInputs(), notes);
}

std::string pipewright::getSuite() {
  const char *place = std::getenv("PIPEWRIGHT_ONNX_TESTS");
  return place ? place : "/usr/share/libonnx-testdata/data";
}

/// The suite's `real` models are only links to large files.
std::vector<std::string> pipewright::listSuite() {
  std::vector<std::string> tests;
  for (const char *folder :
       {"node", "pytorch-converted", "pytorch-operator", "simple"})
    for (const std::string &name : listFolders(getSuite() + "/" + folder))
      tests.push_back(std::string(folder) + "/" + name);
  return tests;
}

std::string
pipewright::describeParam(const testing::TestParamInfo<std::string> &info) {
  return StringRef(info.param).rsplit('/').second.str();
}
