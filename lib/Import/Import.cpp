//===- Import.cpp - ONNX model to nn ops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/Import.h"

#include "InlineFunctions.h"
#include "InputWeights.h"
#include "MergedWeights.h"
#include "ModelImporter.h"
#include "Proto/Onnx.pb.h"

using namespace mlir;
using namespace pipewright;

llvm::Error pipewright::parseBindings(ArrayRef<std::string> arguments,
                                      llvm::StringMap<int64_t> &bind) {
  for (const std::string &argument : arguments) {
    auto [name, size] = StringRef(argument).rsplit('=');
    int64_t number;
    if (name.empty() || size.getAsInteger(10, number) || number < 0)
      return llvm::createStringError("'%s' is not DIM=N with a size N",
                                     argument.c_str());
    if (!bind.try_emplace(name, number).second)
      return llvm::createStringError("dimension '%s' is given twice",
                                     name.str().c_str());
  }
  return llvm::Error::success();
}

/// Reports each of \p problems of the model in \p path.
static LogicalResult report(ArrayRef<std::string> problems, StringRef path,
                            MLIRContext *context) {
  for (const std::string &problem : problems)
    emitError(UnknownLoc::get(context)) << "'" << path << "' " << problem;
  return success(problems.empty());
}

static void separateWeights(onnx::OnnxFile &file, MLIRContext *context) {
  GraphReport nodes(file.getPath(), file.getModel().graph(), context);
  std::vector<std::string> added =
      onnx::separateMergedWeights(file, [&](int index) {
        return cast<NameLoc>(nodes.getNodeLoc(index)).getName().str();
      });
  if (!added.empty())
    emitRemark(UnknownLoc::get(context))
        << "'" << file.getPath() << "' stores equal weights of several modules "
        << "once; " << added.size() << " of them, from '" << added.front()
        << "' on, are parameters of their own";
}

static bool isOperator(StringRef name) {
  return OnnxOpRegistry::get().find(/*domain=*/"", name) != nullptr;
}

OwningOpRef<ModuleOp> pipewright::importOnnx(const ImportOptions &options,
                                             MLIRContext *context) {
  context->loadDialect<nn::NNDialect, pp::PPDialect>();
  onnx::OnnxFileOptions fileOptions;
  fileOptions.allowExternalSymlinks = options.allowExternalSymlinks;
  llvm::Expected<std::unique_ptr<onnx::OnnxFile>> file =
      onnx::OnnxFile::open(options.path, fileOptions);
  if (!file) {
    emitError(UnknownLoc::get(context)) << toString(file.takeError());
    return {};
  }
  if (failed(report(onnx::promoteInputs(**file, options.paramsFromInputs,
                                        options.weights),
                    options.path, context)) ||
      failed(report(onnx::inlineFunctions((*file)->getModel(), isOperator),
                    options.path, context)))
    return {};
  separateWeights(**file, context);
  return ModelImporter(**file, options, context).run();
}
