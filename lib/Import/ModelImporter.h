//===- ModelImporter.h - One model while it is being imported ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_IMPORT_MODELIMPORTER_H
#define PIPEWRIGHT_LIB_IMPORT_MODELIMPORTER_H

#include "AbsentRows.h"
#include "GraphScope.h"
#include "ModelInputs.h"
#include "WeightCopies.h"

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Import/Import.h"
#include "pipewright/Import/OnnxFile.h"
#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/StringSet.h"

#include <map>

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
  llvm::ArrayRef<mlir::Value> getSequence(mlir::Value value) override;
  mlir::Value makeSequence(llvm::ArrayRef<mlir::Value> elements) override;
  void addConditionalRows(ConditionalRows rows) override;
  unsigned getUnsignedBits(mlir::Value value) override {
    return unsignedBits.lookup(value);
  }
  void remarkOnce(llvm::StringRef message) override;
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  importGraph(const onnx::GraphProto &graph,
              llvm::ArrayRef<mlir::Value> arguments) override;

  // What can be said before any op is made.
  void checkModel();
  void checkOperators(GraphScope &scope);
  std::optional<int64_t> getOpset(const onnx::NodeProto &node) const;

  void createModel();
  void importNodes(llvm::ArrayRef<int> order);
  void importNode(int index);
  void defineResults(int index, const OnnxNode &node);
  mlir::Value holdUnsigned(mlir::Value value, unsigned bits);
  bool checkTensor(mlir::Value value, llvm::StringRef reader);
  mlir::Value createConstant(const onnx::TensorContents &contents);
  void noteStage(const onnx::NodeProto &node);
  void noteTypes();
  void importReturn();
  void removeConditionalRows();
  void describeInputs();
  void removeUnused();
  void checkElements();

  /// The value called \p name; null if the node that defines it failed.
  mlir::Value lookup(const std::string &name);
  mlir::Value lookup(const std::string &name, GraphScope &scope);
  mlir::FailureOr<mlir::Value>
  importInitializer(const onnx::TensorProto &tensor);
  mlir::FailureOr<mlir::Value> importCopy(const onnx::TensorProto &tensor,
                                          const onnx::WeightCopy &copy);
  mlir::Value createParameter(const onnx::TensorContents &contents,
                              llvm::StringRef name,
                              const onnx::TensorProto *initializer);

  onnx::OnnxFile &file;
  const ImportOptions &options;
  mlir::MLIRContext *context;
  GraphScope root;
  GraphScope *scope = &root; ///< that is being imported
  GraphReport &report = root.report;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pp::ModelOp model;
  NNBuilder builder;
  llvm::SmallVector<ModelInput> inputs;
  std::string batchDim; ///< empty: it has no name
  /// The initializers that are copies of others.
  llvm::StringMap<onnx::WeightCopy> copies;
  /// What initializers with names of an exporter's own making are really
  /// called.
  llvm::StringMap<std::string> weightNames;
  /// Initializers that PyTorch does not train.
  llvm::StringSet<> buffers;
  /// Values of initializers, which a body that is imported several times
  /// shares.
  llvm::DenseMap<const onnx::TensorProto *, mlir::Value> imported;
  /// The elements of values that stand for sequences.
  llvm::DenseMap<mlir::Value, std::vector<mlir::Value>> sequences;
  /// Values that hold unsigned integers, and how many bits those have.
  llvm::DenseMap<mlir::Value, unsigned> unsignedBits;
  /// Parameters by name, with their tensors if these are initializers.
  llvm::StringMap<const onnx::TensorProto *> parameters;
  /// In which order the nodes of graphs within graphs are imported.
  std::map<const onnx::GraphProto *, std::vector<int>> orders;
  int64_t depth = 0; ///< of the graph within graphs
  int64_t nodes = 0; ///< that were imported
  mlir::Value randomKey;
  int64_t randomStreams = 0;
  std::vector<ConditionalRows> conditionalRows;
  llvm::StringSet<> remarks;
};

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_IMPORT_MODELIMPORTER_H
