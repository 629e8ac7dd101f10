//===- RankLowering.h - Tasks and programs as LLVM functions ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_RANKLOWERING_H
#define PIPEWRIGHT_LIB_CODEGEN_RANKLOWERING_H

#include "pipewright/Codegen/RankDescription.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace llvm {
class Module;
} // namespace llvm

namespace pipewright {

class CodegenTarget;

/// Creates the `llvm.func` of \p task at the builder's place in a module, and
/// declares the layer functions that it calls. The task is not changed.
llvm::LogicalResult lowerTask(pp::TaskOp task, const CodegenTarget &target,
                              const llvm::StringMap<int64_t> &layerWorkspaces,
                              mlir::OpBuilder &builder);

/// The positions of tasks, channels and parameters in the tables of the
/// descriptor.
struct RankTables {
  llvm::StringMap<unsigned> tasks;
  llvm::StringMap<unsigned> channels;
  llvm::StringMap<unsigned> exchanges;
  llvm::StringMap<unsigned> parameters;
};

/// Creates the `llvm.func` of \p program, named `step` or `eval`, at the
/// builder's place in a module. Fails if an action names what the tables lack.
llvm::LogicalResult lowerProgram(pp::ProgramOp program,
                                 const RankTables &tables,
                                 mlir::OpBuilder &builder);

/// Adds to \p module, which defines the tasks and programs of a rank, its
/// descriptor, as `pprtDescriptor`, and a `main` that hands it to the runtime.
void emitDescriptor(llvm::Module &module, const RankDescription &description);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_RANKLOWERING_H
