//===- ImportOnnx.cpp - pp-translate --import-onnx
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translations.h"

#include "pipewright/Import/Import.h"

#include "mlir/Tools/mlir-translate/Translation.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Declared when the tool registers its translations: there are no static
/// constructors.
struct ImportOnnxOptions {
  llvm::cl::list<std::string> bind{
      "bind", llvm::cl::CommaSeparated, llvm::cl::value_desc("DIM=N"),
      llvm::cl::desc("Size of a symbolic dimension of an ONNX model")};
  llvm::cl::opt<int64_t> microbatchSize{
      "microbatch-size", llvm::cl::init(0),
      llvm::cl::desc("Size of the batch dimension, in samples")};
  llvm::cl::opt<std::string> batchDim{
      "batch-dim", llvm::cl::value_desc("DIM"),
      llvm::cl::desc("Dimension along which a batch is cut (default: the one "
                     "called batch, or else that of axis 0 of the first "
                     "input)")};
  llvm::cl::opt<bool> allowExternalSymlinks{
      "allow-external-symlinks",
      llvm::cl::desc("Read external data through symbolic links")};
  llvm::cl::opt<bool> separateCopies{
      "separate-copies",
      llvm::cl::desc("Two parameters for a weight that is stored twice")};
  llvm::cl::opt<std::string> paramsFromInputs{
      "params-from-inputs", llvm::cl::value_desc("REGEX"),
      llvm::cl::desc("Inputs whose name matches are parameters, with the "
                     "values in --weights")};
  llvm::cl::opt<std::string> weights{
      "weights", llvm::cl::value_desc("FILE"),
      llvm::cl::desc("A safetensors file with the values of "
                     "--params-from-inputs")};
};
} // namespace

static OwningOpRef<ModuleOp> translate(const ImportOnnxOptions &flags,
                                       const llvm::SourceMgr &sources,
                                       MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  ImportOptions options;
  // The model is opened again by its name: external data lies beside it.
  options.path = buffer->getBufferIdentifier().str();
  options.batchDim = flags.batchDim;
  options.allowExternalSymlinks = flags.allowExternalSymlinks;
  options.tieCopies = !flags.separateCopies;
  options.paramsFromInputs = flags.paramsFromInputs;
  options.weights = flags.weights;
  if (flags.microbatchSize.getNumOccurrences() > 0)
    options.microbatchSize = flags.microbatchSize;
  if (llvm::Error error = parseBindings(
          SmallVector<std::string>(flags.bind.begin(), flags.bind.end()),
          options.bind)) {
    emitError(UnknownLoc::get(context))
        << "option --bind: " << toString(std::move(error));
    return {};
  }
  return importOnnx(options, context);
}

void pipewright::registerImportOnnx() {
  static ImportOnnxOptions flags;
  static TranslateToMLIRRegistration registration(
      "import-onnx", "read an ONNX model",
      [](const llvm::SourceMgr &sources, MLIRContext *context) {
        return translate(flags, sources, context);
      });
}
