//===- ModelImporter.h - One model while it is being imported ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_MODELIMPORTER_H
#define PIPEWRIGHT_LIB_IMPORT_MODELIMPORTER_H

#include "GraphReport.h"
#include "ModelInputs.h"

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Import.h"
#include "pipewright/Import/OnnxFile.h"
#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/StringSet.h"

namespace pipewright {

class ModelImporter : private ImportContext {
public:
  ModelImporter(onnx::OnnxFile &file, const ImportOptions &options,
                mlir::MLIRContext *context);

  /// The module, or null if something was reported.
  mlir::OwningOpRef<mlir::ModuleOp> run();

private:
  mlir::FailureOr<mlir::Value> importConstant(const onnx::TensorProto &tensor,
                                              llvm::StringRef name) override;
  mlir::Value getRandomKey() override;
  int64_t takeRandomStream() override { return randomStreams++; }
  mlir::DenseElementsAttr getKnown(mlir::Value value) override;
  void keepFixed(mlir::Value value) override;
  void remarkOnce(llvm::StringRef message) override;

  // What can be said before any op is made.
  void checkModel();
  void checkOperators();
  std::optional<int64_t> getOpset(const onnx::NodeProto &node) const;

  void createModel();
  void importNodes(llvm::ArrayRef<int> order);
  void importNode(int index);
  void defineResults(int index, const OnnxNode &node);
  void importReturn();
  void describeInputs();
  void removeUnused();
  void checkElements();

  /// The value called \p name; null if the node that defines it failed.
  mlir::Value lookup(const std::string &name);
  mlir::FailureOr<mlir::Value>
  importInitializer(const onnx::TensorProto &tensor);
  /// The transpose of \p weight for \p tensor, which is a copy of it.
  mlir::FailureOr<mlir::Value> importCopy(const onnx::TensorProto &tensor,
                                          const std::string &weight);
  mlir::Value createParameter(const onnx::TensorContents &contents,
                              llvm::StringRef name, bool isTrainable);

  onnx::OnnxFile &file;
  const onnx::GraphProto &graph;
  const ImportOptions &options;
  mlir::MLIRContext *context;
  GraphReport report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pp::ModelOp model;
  NNBuilder builder;
  llvm::SmallVector<ModelInput> inputs;
  std::string batchDim; ///< empty: it has no name
  llvm::StringMap<const onnx::TensorProto *> initializers;
  /// The weights that initializers are transposed copies of.
  llvm::StringMap<std::string> transposedCopies;
  /// Values by their ONNX names; "" is never one of them.
  llvm::StringMap<mlir::Value> values;
  mlir::Value randomKey;
  int64_t randomStreams = 0;
  llvm::StringSet<> remarks;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_MODELIMPORTER_H
