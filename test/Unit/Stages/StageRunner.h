//===- StageRunner.h - The stages of a pipeline in one process --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_STAGES_STAGERUNNER_H
#define PIPEWRIGHT_TEST_UNIT_STAGES_STAGERUNNER_H

#include "Buffer.h"

#include "pipewright/Codegen/CodeGenerator.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace pipewright {

/// Runs the forward tasks of a module that went through Comm, with compiled
/// code. Each stage has a memory of its own: what it uses of another stage must
/// come over a channel.
class StageRunner {
public:
  /// The value of an input or a parameter.
  using ReadFn = llvm::function_ref<nn::HostTensor(pp::BindingAttr)>;

  /// \p generator keeps the layers that it has compiled.
  StageRunner(mlir::ModuleOp module, CodeGenerator &generator)
      : module(module), generator(generator) {}

  /// The bytes of each output of the model, by its name; the test has failed if
  /// there are none.
  std::map<std::string, std::vector<char>> run(ReadFn read);

private:
  using Memory = std::map<std::string, Buffer>;

  void runTask(pp::TaskOp task, Memory &memory, ReadFn read);
  /// Brings what is sent to \p stage from the memories of the others.
  void receive(pp::StageOp stage);

  mlir::ModuleOp module;
  CodeGenerator &generator;
  std::map<std::string, Memory> memories; ///< by stage
  std::map<std::string, std::vector<char>> outputs;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_STAGES_STAGERUNNER_H
