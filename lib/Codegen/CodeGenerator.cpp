//===- CodeGenerator.cpp - From layers and programs to executables
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/CodeGenerator.h"

#include "RankLowering.h"
#include "TaskPlan.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace pipewright;

/// A layer function on its way to machine code.
struct CodeGenerator::Layer {
  /// The bufferized function, alone in its module; the LLVM dialect once the
  /// object exists.
  OwningOpRef<ModuleOp> module;
  int64_t workspaceBytes = 0;
  std::unique_ptr<ObjectCode> object;
};

/// The object files of layers, for as long as executables are linked.
struct CodeGenerator::TemporaryFiles {
  ~TemporaryFiles() {
    if (!folder.empty())
      llvm::sys::fs::remove_directories(folder);
  }

  /// The path of a file that holds \p object, which must stay where it is.
  llvm::Expected<std::string> write(const ObjectCode &object) {
    std::string &path = paths[&object];
    if (!path.empty())
      return path;
    if (folder.empty())
      if (std::error_code error = llvm::sys::fs::createUniqueDirectory(
              "pipewright-objects", folder))
        return llvm::createStringError(error,
                                       "cannot create a temporary folder");
    llvm::SmallString<128> name(folder);
    llvm::sys::path::append(name, std::to_string(paths.size()) + ".o");
    std::error_code error;
    llvm::raw_fd_ostream stream(name, error);
    stream.write(object.data(), object.size());
    stream.close();
    if (!error)
      error = stream.error();
    if (error) {
      stream.clear_error();
      return llvm::createStringError(error, "cannot write '" + name + "'");
    }
    return path = name.str().str();
  }

  llvm::SmallString<128> folder;
  llvm::DenseMap<const ObjectCode *, std::string> paths;
};

CodeGenerator::CodeGenerator(const CodegenTarget &target, TargetOptions options)
    : target(target), options(std::move(options)),
      files(std::make_unique<TemporaryFiles>()) {}

CodeGenerator::~CodeGenerator() = default;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

static void prepareContext(MLIRContext *context) {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  context->appendDialectRegistry(registry);
}

/// The text of \p function, its name included; locations say nothing about
/// what it computes.
static std::string getText(nn::FunctionOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

CodeGenerator::Layer *CodeGenerator::getLayer(nn::FunctionOp function) {
  std::unique_ptr<Layer> &layer = layers[getText(function)];
  if (layer)
    return layer.get();
  MLIRContext *context = function.getContext();
  prepareContext(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  OpBuilder::atBlockEnd(module->getBody()).clone(*function);

  PassManager pm(context);
  buildBufferizePipeline(pm, &target, options);
  if (failed(pm.run(*module)))
    return nullptr;
  auto lowered =
      module->lookupSymbol<func::FuncOp>(getLayerSymbol(function.getSymName()));
  layer = std::make_unique<Layer>();
  layer->workspaceBytes =
      cast<MemRefType>(lowered.getArgumentTypes().back()).getNumElements();
  layer->module = std::move(module);
  return layer.get();
}

/// \p module, which is in the LLVM dialect, as an object file.
static FailureOr<std::unique_ptr<ObjectCode>>
emit(ModuleOp module, const CodegenTarget &target, const TargetOptions &options,
     llvm::function_ref<void(llvm::Module &)> complete) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule =
      translateModuleToLLVMIR(module, context);
  if (!llvmModule)
    return failure();
  complete(*llvmModule);
  llvm::Expected<ObjectCode> object = target.emitObject(*llvmModule, options);
  if (!object)
    return module.emitError() << llvm::toString(object.takeError());
  return std::make_unique<ObjectCode>(std::move(*object));
}

FailureOr<const ObjectCode *> CodeGenerator::getObject(Layer &layer) {
  if (layer.object)
    return layer.object.get();
  PassManager pm(layer.module->getContext());
  target.addLoweringPasses(pm, options);
  if (failed(pm.run(*layer.module)))
    return failure();
  FailureOr<std::unique_ptr<ObjectCode>> object =
      emit(*layer.module, target, options, [](llvm::Module &) {});
  if (failed(object))
    return failure();
  layer.module = {};
  layer.object = std::move(*object);
  return layer.object.get();
}

FailureOr<llvm::StringMap<int64_t>>
CodeGenerator::computeLayerWorkspaces(ModuleOp module) {
  llvm::StringMap<int64_t> workspaces;
  WalkResult walk = module.walk([&](nn::CallOp call) {
    auto function = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
        call, call.getCalleeAttr());
    if (workspaces.contains(call.getCallee()))
      return WalkResult::advance();
    Layer *layer = getLayer(function);
    if (!layer)
      return WalkResult::interrupt();
    workspaces[call.getCallee()] = layer->workspaceBytes;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return workspaces;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> CodeGenerator::prepareTasks(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager pm(module.getContext());
  pm.addPass(createOutlineTaskOps());
  if (failed(pm.run(*copy)))
    return {};
  return copy;
}

FailureOr<llvm::StringMap<int64_t>>
CodeGenerator::computeTaskWorkspaces(ModuleOp module) {
  OwningOpRef<ModuleOp> prepared = prepareTasks(module);
  if (!prepared)
    return failure();
  FailureOr<llvm::StringMap<int64_t>> layerBytes =
      computeLayerWorkspaces(*prepared);
  if (failed(layerBytes))
    return failure();
  llvm::StringMap<int64_t> workspaces;
  for (auto task : prepared->getOps<pp::TaskOp>()) {
    FailureOr<TaskPlan> plan = TaskPlan::compute(task, *layerBytes);
    if (failed(plan))
      return failure();
    workspaces[task.getSymName()] = plan->getWorkspaceBytes();
  }
  return workspaces;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// Deletes the tasks that \p description does not list.
static LogicalResult keepTasks(ModuleOp module,
                               const RankDescription &description) {
  llvm::StringSet<> kept;
  for (const TaskDescription &task : description.tasks)
    kept.insert(task.name);
  for (auto task : llvm::make_early_inc_range(module.getOps<pp::TaskOp>()))
    if (!kept.erase(task.getSymName()))
      task.erase();
  if (kept.empty())
    return success();
  return module.emitError("the rank's descriptor lists a task '")
         << kept.begin()->getKey() << "' that the module does not have";
}

static RankTables getTables(const RankDescription &description) {
  RankTables tables;
  for (auto [index, task] : llvm::enumerate(description.tasks))
    tables.tasks[task.name] = index;
  for (auto [index, channel] : llvm::enumerate(description.channels))
    tables.channels[channel.name] = index;
  for (auto [index, exchange] : llvm::enumerate(description.exchanges))
    tables.exchanges[exchange.name] = index;
  for (auto [index, parameter] : llvm::enumerate(description.parameters))
    tables.parameters[parameter.tensor.name] = index;
  return tables;
}

/// The tasks of \p module and the programs of \p rank as LLVM functions.
static OwningOpRef<ModuleOp>
lowerRank(ModuleOp module, int64_t rank, const RankDescription &description,
          const CodegenTarget &target,
          const llvm::StringMap<int64_t> &layerWorkspaces) {
  module.getContext()->loadDialect<LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> lowered = ModuleOp::create(module.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(lowered->getBody());
  for (auto task : module.getOps<pp::TaskOp>())
    if (failed(lowerTask(task, target, layerWorkspaces, builder)))
      return {};
  RankTables tables = getTables(description);
  for (auto program : module.getOps<pp::ProgramOp>())
    if (static_cast<int64_t>(program.getRank()) == rank &&
        failed(lowerProgram(program, tables, builder)))
      return {};
  return lowered;
}

/// The functions that the tasks of \p module call, in the order of the module.
static SmallVector<nn::FunctionOp> getCalledLayers(ModuleOp module) {
  llvm::StringSet<> called;
  for (auto task : module.getOps<pp::TaskOp>())
    for (auto call : task.getBody().getOps<nn::CallOp>())
      called.insert(call.getCallee());
  SmallVector<nn::FunctionOp> functions;
  for (auto function : module.getOps<nn::FunctionOp>())
    if (called.contains(function.getSymName()))
      functions.push_back(function);
  return functions;
}

FailureOr<std::vector<const ObjectCode *>>
CodeGenerator::emitObjects(ModuleOp module, int64_t rank,
                           const RankDescription &description) {
  prepareContext(module.getContext());
  OwningOpRef<ModuleOp> prepared = prepareTasks(module);
  if (!prepared || failed(keepTasks(*prepared, description)))
    return failure();
  FailureOr<llvm::StringMap<int64_t>> layerBytes =
      computeLayerWorkspaces(*prepared);
  if (failed(layerBytes))
    return failure();
  OwningOpRef<ModuleOp> lowered =
      lowerRank(*prepared, rank, description, target, *layerBytes);
  if (!lowered)
    return failure();
  FailureOr<std::unique_ptr<ObjectCode>> own =
      emit(*lowered, target, options, [&](llvm::Module &llvmModule) {
        emitDescriptor(llvmModule, description);
        target.addEntryPoint(llvmModule);
      });
  if (failed(own))
    return failure();
  rankObjects.push_back(std::move(*own));

  std::vector<const ObjectCode *> objects = {rankObjects.back().get()};
  for (nn::FunctionOp function : getCalledLayers(*prepared)) {
    FailureOr<const ObjectCode *> object = getObject(*getLayer(function));
    if (failed(object))
      return failure();
    objects.push_back(*object);
  }
  return objects;
}

LogicalResult CodeGenerator::emitExecutable(ModuleOp module, int64_t rank,
                                            const RankDescription &description,
                                            StringRef runtimeLibrary,
                                            StringRef path) {
  FailureOr<std::vector<const ObjectCode *>> objects =
      emitObjects(module, rank, description);
  if (failed(objects))
    return failure();
  LinkOptions link;
  link.runtimeLibrary = runtimeLibrary.str();
  for (const ObjectCode *object : *objects) {
    llvm::Expected<std::string> file = files->write(*object);
    if (!file)
      return module.emitError() << llvm::toString(file.takeError());
    link.objects.push_back(*file);
  }
  if (llvm::Error error = target.linkExecutable(link, path))
    return module.emitError() << llvm::toString(std::move(error));
  return success();
}
