//===- StageRunner.cpp - The stages of a pipeline in one process
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageRunner.h"

#include "CompiledFunction.h"

#include "pipewright/Codegen/TaskSignature.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// A task as a function
//===----------------------------------------------------------------------===//

/// What the entry point of the rank's object was called with.
static const PprtDescriptor *descriptor;

static int keepDescriptor(int, char **, const PprtDescriptor *given) {
  descriptor = given;
  return 0;
}

/// Forward tasks alone are run; no program asks the runtime for more.
static void fail() { ADD_FAILURE() << "a task calls the runtime"; }

static std::unique_ptr<llvm::orc::LLJIT>
loadObjects(ArrayRef<const ObjectCode *> objects) {
  std::unique_ptr<llvm::orc::LLJIT> loader = createLoader();
  define(*loader, "pprtMain", reinterpret_cast<void *>(keepDescriptor));
  for (const char *name : {"pprtRun", "pprtSend", "pprtRecv", "pprtUpdate"})
    define(*loader, name, reinterpret_cast<void *>(fail));
  for (const ObjectCode *object : objects)
    load(*loader, *object);
  return loader;
}

/// The type of the value behind each of the task's bindings, as its signature
/// orders them; the last, of the workspace, is null.
static SmallVector<Type> getTypes(pp::TaskOp task,
                                  const TaskSignature &signature) {
  SmallVector<Type> types(signature.bindings.size());
  for (BlockArgument argument : task.getBody().getArguments())
    types[signature.indexOf(task.getArgumentBinding(argument.getArgNumber()))] =
        argument.getType();
  for (OpOperand &value : task.getYield()->getOpOperands())
    types[signature.indexOf(task.getResultBinding(value.getOperandNumber()))] =
        value.get().getType();
  return types;
}

static std::string getKey(pp::BindingAttr binding) {
  return pp::stringifyBindingKind(binding.getKind()).str() + " " +
         binding.getName().str();
}

void StageRunner::runTask(pp::TaskOp task, Memory &memory, ReadFn read) {
  RankDescription description;
  description.tasks = {{task.getSymName().str(), PPRT_ROLE_F, 0, {}}};
  auto objects = generator.emitObjects(module, /*rank=*/0, description);
  auto workspaces = generator.computeTaskWorkspaces(module);
  ASSERT_TRUE(succeeded(objects) && succeeded(workspaces));
  std::unique_ptr<llvm::orc::LLJIT> loader = loadObjects(*objects);
  auto main =
      llvm::cantFail(loader->lookup("main")).toPtr<int (*)(int, char **)>();
  main(0, nullptr);

  TaskSignature signature(task);
  std::vector<void *> pointers;
  Buffer workspace(workspaces->lookup(task.getSymName()));
  for (auto [binding, type] :
       llvm::zip_equal(signature.bindings, getTypes(task, signature))) {
    if (binding.getKind() == pp::BindingKind::Workspace) {
      pointers.push_back(workspace.getData());
      continue;
    }
    auto [buffer, isNew] =
        memory.try_emplace(getKey(binding), Buffer(pp::getBytes(type)));
    bool isGiven = binding.getKind() == pp::BindingKind::Input ||
                   binding.getKind() == pp::BindingKind::Parameter;
    if (isGiven)
      buffer->second.write(getElementTypeOrSelf(type), read(binding));
    pointers.push_back(buffer->second.getData());
  }
  descriptor->tasks[0].function(pointers.data());

  EXPECT_TRUE(workspace.isIntact());
  for (const auto &[name, buffer] : memory)
    EXPECT_TRUE(buffer.isIntact()) << name;
  for (auto [binding, type, pointer] :
       llvm::zip_equal(signature.bindings, getTypes(task, signature), pointers))
    if (binding.getKind() == pp::BindingKind::Output)
      outputs[binding.getName().str()].assign(static_cast<char *>(pointer),
                                              static_cast<char *>(pointer) +
                                                  pp::getBytes(type));
}

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

void StageRunner::receive(pp::StageOp stage) {
  Memory &target = memories[stage.getSymName().str()];
  for (auto channel : module.getOps<pp::ChannelOp>()) {
    if (channel.getTarget() != stage.getSymName())
      continue;
    std::string key = getKey(pp::BindingAttr::get(
        module.getContext(), pp::BindingKind::Channel, channel.getSymName()));
    Memory &source = memories[channel.getSource().str()];
    auto sent = source.find(key);
    ASSERT_NE(sent, source.end()) << key << " is never made";
    int64_t bytes = pp::getBytes(channel.getType());
    Buffer received(bytes);
    std::memcpy(received.getData(), sent->second.getData(), bytes);
    target.emplace(key, std::move(received));
  }
}

std::map<std::string, std::vector<char>> StageRunner::run(ReadFn read) {
  for (auto stage : module.getOps<pp::StageOp>()) {
    receive(stage);
    for (auto task : module.getOps<pp::TaskOp>())
      if (task.getStage() == stage.getSymName())
        runTask(task, memories[stage.getSymName().str()], read);
  }
  return outputs;
}
