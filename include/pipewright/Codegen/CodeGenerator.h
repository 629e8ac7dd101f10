//===- CodeGenerator.h - From layers and programs to executables *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_CODEGEN_CODEGENERATOR_H
#define PIPEWRIGHT_CODEGEN_CODEGENERATOR_H

#include "pipewright/Codegen/RankDescription.h"
#include "pipewright/Codegen/Target.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <vector>

namespace pipewright {

/// Compiles for one target, and remembers each layer function that it has
/// compiled: all ranks that run a layer link the very same object file. That
/// is what makes results independent of the cut, and building fast.
class CodeGenerator {
public:
  CodeGenerator(const CodegenTarget &target, TargetOptions options = {});
  ~CodeGenerator();

  /// The bytes of workspace that each task of \p module needs, by the task's
  /// name. Works from phase Stages on; does not change the module.
  llvm::FailureOr<llvm::StringMap<int64_t>>
  computeTaskWorkspaces(mlir::ModuleOp module);

  /// The bytes of workspace that each layer function called in \p module needs.
  llvm::FailureOr<llvm::StringMap<int64_t>>
  computeLayerWorkspaces(mlir::ModuleOp module);

  /// Compiles what \p rank runs: its programs, the tasks that \p description
  /// lists, and their layer functions, and links them with \p runtimeLibrary
  /// (the path of libpprt) to an executable at \p path. Needs the programs of
  /// \p rank in \p module, which is not changed.
  llvm::LogicalResult emitExecutable(mlir::ModuleOp module, int64_t rank,
                                     const RankDescription &description,
                                     llvm::StringRef runtimeLibrary,
                                     llvm::StringRef path);

  /// The object files that `emitExecutable` links: first that of the rank,
  /// then one for each layer function that its tasks call.
  llvm::FailureOr<std::vector<const ObjectCode *>>
  emitObjects(mlir::ModuleOp module, int64_t rank,
              const RankDescription &description);

private:
  struct Layer;
  struct TemporaryFiles;

  /// A copy of \p module in which task bodies only call.
  mlir::OwningOpRef<mlir::ModuleOp> prepareTasks(mlir::ModuleOp module);
  /// The layer compiled down to its bufferized form, or null.
  Layer *getLayer(nn::FunctionOp function);
  llvm::FailureOr<const ObjectCode *> getObject(Layer &layer);

  const CodegenTarget &target;
  TargetOptions options;
  /// By the function's text, which includes its name.
  llvm::StringMap<std::unique_ptr<Layer>> layers;
  std::vector<std::unique_ptr<ObjectCode>> rankObjects;
  std::unique_ptr<TemporaryFiles> files;
};

} // namespace pipewright

#endif // PIPEWRIGHT_CODEGEN_CODEGENERATOR_H
