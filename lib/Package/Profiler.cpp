//===- Profiler.cpp - A program that times the layers of a model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each distinct layer becomes a stage with a task for each of its roles. A task
// calls one function, so what is timed is the very code that ranks link. What
// the roles hand to each other (saved and pending values) they find in the same
// buffers; all else is made up by the runtime.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Package/Profiler.h"

#include "pipewright/Codegen/CodeGenerator.h"
#include "pipewright/Codegen/TaskSignature.h"
#include "pipewright/Cost/LayerFunctions.h"
#include "pipewright/Package/Dtypes.h"
#include "pipewright/Program/Arena.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// A value of a layer that its roles share.
struct LayerValue {
  Type type;
  /// Made up by the runtime, not by a role.
  bool isInput = false;
  /// Of a value of the model: what its numbers are. Null otherwise.
  pp::InputAttr spec;
  bool isParameter = false;
};

/// Makes the tasks of one layer, and knows the values that they share.
class LayerTasks {
public:
  LayerTasks(const LayerFunctions &functions, int64_t index, ModuleOp module);

  void build();

  const llvm::MapVector<pp::BindingAttr, LayerValue> &getValues() const {
    return values;
  }
  ArrayRef<pp::TaskOp> getTasks() const { return tasks; }

private:
  /// The binding of a value, which is entered if it is new.
  pp::BindingAttr bind(nn::ValueRole role, int64_t index, Type type);
  pp::BindingAttr bindGradient(int64_t index, Type type);
  void addTask(pp::Role role, nn::FunctionOp function,
               ArrayRef<Attribute> arguments, ArrayRef<Attribute> results);
  SmallVector<Attribute> bindOperands(ArrayAttr operands,
                                      nn::FunctionOp function);
  void buildForward();
  void buildBackward();
  void buildWeight();
  void buildRecompute();

  LayerFunctions functions;
  std::string name;
  ModuleOp module;
  OpBuilder builder;
  llvm::MapVector<pp::BindingAttr, LayerValue> values;
  SmallVector<pp::TaskOp> tasks;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

LayerTasks::LayerTasks(const LayerFunctions &layerFunctions, int64_t index,
                       ModuleOp module)
    : functions(layerFunctions), name(("l" + Twine(index)).str()),
      module(module), builder(OpBuilder::atBlockEnd(module.getBody())) {
  SmallVector<Attribute> layers;
  for (pp::LayerOp layer : functions.layers)
    layers.push_back(layer.getNameAttr());
  pp::StageOp::create(builder, functions.forward.getLoc(), name,
                      /*index=*/index, /*rank=*/0, /*chunk=*/index,
                      /*first_layer=*/index, builder.getArrayAttr(layers),
                      /*parameters=*/builder.getArrayAttr({}),
                      /*cost=*/pp::CostAttr());
}

void LayerTasks::build() {
  buildForward();
  if (functions.backward)
    buildBackward();
  if (functions.weight)
    buildWeight();
  // Last, so that the gradients find in the caches what they do without it.
  if (functions.recompute)
    buildRecompute();
}

/// Values of all kinds are told apart by their number.
static constexpr int64_t valuesOfARole = int64_t(1) << 32;
static constexpr int64_t gradientRole = 16;

pp::BindingAttr LayerTasks::bind(nn::ValueRole role, int64_t index, Type type) {
  auto binding =
      pp::BindingAttr::get(module.getContext(), pp::BindingKind::Saved, name,
                           static_cast<int64_t>(role) * valuesOfARole + index);
  auto [entry, isNew] = values.try_emplace(binding);
  if (!isNew)
    return binding;
  LayerValue &value = entry->second;
  value.type = type;
  value.isInput =
      role == nn::ValueRole::Argument || role == nn::ValueRole::Cotangent;
  pp::LayerOp layer = functions.layers.front();
  if (role != nn::ValueRole::Argument)
    return binding;
  if (index >= static_cast<int64_t>(layer.getArguments().size())) {
    value.isParameter = true;
    return binding;
  }
  if (auto argument = dyn_cast<BlockArgument>(layer.getArguments()[index]))
    value.spec = pp::getModel(layer->getParentOfType<ModuleOp>())
                     .getInputSpec(argument.getArgNumber());
  return binding;
}

pp::BindingAttr LayerTasks::bindGradient(int64_t index, Type type) {
  auto binding =
      pp::BindingAttr::get(module.getContext(), pp::BindingKind::Saved, name,
                           gradientRole * valuesOfARole + index);
  values[binding].type = type;
  return binding;
}

void LayerTasks::addTask(pp::Role role, nn::FunctionOp function,
                         ArrayRef<Attribute> arguments,
                         ArrayRef<Attribute> results) {
  if (!module.lookupSymbol(function.getSymName()))
    builder.clone(*function);
  llvm::MapVector<Attribute, Type> distinct;
  for (auto [binding, type] :
       llvm::zip_equal(arguments, function.getArgumentTypes()))
    distinct.try_emplace(binding, type);
  SmallVector<Attribute> bindings =
      llvm::map_to_vector(distinct, [](auto &entry) { return entry.first; });
  Location loc = function.getLoc();
  auto task = pp::TaskOp::create(
      builder, loc, (name + "." + pp::stringifyRole(role)).str(), role, name,
      builder.getArrayAttr(bindings), builder.getArrayAttr(results),
      /*workspace_bytes=*/IntegerAttr());
  Block &block = task.getBody().emplaceBlock();
  llvm::DenseMap<Attribute, Value> operandOf;
  for (auto &[binding, type] : distinct)
    operandOf[binding] = block.addArgument(type, loc);
  SmallVector<Value> operands = llvm::map_to_vector(
      arguments, [&](Attribute binding) { return operandOf.lookup(binding); });
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  auto call = nn::CallOp::create(body, loc, function.getResultTypes(),
                                 function.getSymName(), operands);
  pp::YieldOp::create(body, loc, call.getResults());
  tasks.push_back(task);
}

SmallVector<Attribute> LayerTasks::bindOperands(ArrayAttr operands,
                                                nn::FunctionOp function) {
  SmallVector<Attribute> bindings;
  for (auto [operand, type] : llvm::zip_equal(
           operands.getAsRange<nn::OperandAttr>(), function.getArgumentTypes()))
    bindings.push_back(bind(operand.getRole(), operand.getIndex(), type));
  return bindings;
}

void LayerTasks::buildForward() {
  nn::FunctionOp function = functions.forward;
  SmallVector<Attribute> arguments, results;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    arguments.push_back(bind(nn::ValueRole::Argument, index, type));
  int64_t count = functions.layers.front().getNumResults();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    int64_t number = index;
    results.push_back(number < count
                          ? bind(nn::ValueRole::Result, number, type)
                          : bind(nn::ValueRole::Saved, number - count, type));
  }
  addTask(pp::Role::F, function, arguments, results);
}

void LayerTasks::buildBackward() {
  nn::FunctionOp function = functions.backward;
  SmallVector<Attribute> results;
  int64_t count = functions.derivative.getInputGradients().size();
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    int64_t number = index;
    results.push_back(number < count
                          ? bindGradient(number, type)
                          : bind(nn::ValueRole::Pending, number - count, type));
  }
  addTask(pp::Role::B, function,
          bindOperands(functions.derivative.getBackwardOperands(), function),
          results);
}

void LayerTasks::buildWeight() {
  nn::FunctionOp function = functions.weight;
  SmallVector<Attribute> results;
  for (auto [argument, type] :
       llvm::zip_equal(functions.derivative.getWeightGradients(),
                       function.getResultTypes()))
    results.push_back(bind(nn::ValueRole::Accumulator, argument, type));
  addTask(pp::Role::W, function,
          bindOperands(functions.derivative.getWeightOperands(), function),
          results);
}

void LayerTasks::buildRecompute() {
  nn::FunctionOp function = functions.recompute;
  int64_t end = functions.forward.getResultTypes().size() -
                functions.layers.front().getNumResults();
  int64_t first = end - function.getResultTypes().size();
  SmallVector<Attribute> results;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    results.push_back(bind(nn::ValueRole::Saved, first + index, type));
  addTask(pp::Role::R, function,
          bindOperands(functions.derivative.getRecomputeOperands(), function),
          results);
}

//===----------------------------------------------------------------------===//
// The descriptor
//===----------------------------------------------------------------------===//

namespace {
/// Lays the layers' values out in an arena.
class Describer {
public:
  Describer(const llvm::StringMap<int64_t> &workspaces, int64_t copyBytes)
      : workspaces(workspaces), copyBytes(copyBytes) {
    workspace.kind = PPRT_BUFFER_WORKSPACE;
  }

  void add(const LayerTasks &layer, int64_t stage, int64_t instances);
  RankDescription finish();

private:
  uint64_t allocate(int64_t bytes) {
    uint64_t offset = description.arenaBytes;
    description.arenaBytes += llvm::alignTo(bytes, arenaAlignment);
    return offset;
  }
  uint32_t addBuffer(const LayerValue &value, int64_t copies);
  void addTask(pp::TaskOp task, int64_t stage);

  const llvm::StringMap<int64_t> &workspaces;
  /// For the copies of one layer.
  int64_t copyBytes;
  RankDescription description;
  llvm::DenseMap<pp::BindingAttr, uint32_t> buffers;
  /// Of all tasks; it becomes the last buffer.
  BufferDescription workspace;
  static constexpr uint32_t workspaceIndex = UINT32_MAX;
  int64_t mostCopies = 1;
};
} // namespace

uint32_t Describer::addBuffer(const LayerValue &value, int64_t copies) {
  auto type = cast<RankedTensorType>(value.type);
  BufferDescription buffer;
  buffer.kind = value.isInput ? PPRT_BUFFER_INPUT : PPRT_BUFFER_SAVED;
  buffer.bytes = pp::getBytes(type);
  for (int64_t copy = 0; copy < copies; ++copy)
    buffer.offsets.push_back(allocate(buffer.bytes));
  if (value.isInput) {
    InputDescription input;
    input.tensor = {"", getDtype(type.getElementType()),
                    std::vector<int64_t>(type.getShape()), buffer.bytes};
    input.axis = value.isParameter ? -1 : 0;
    if (value.spec) {
      input.labelClasses = value.spec.getLabelClasses();
      input.indexLimit = value.spec.getIndexLimit();
    }
    buffer.index = description.inputs.size();
    description.inputs.push_back(std::move(input));
  }
  description.buffers.push_back(std::move(buffer));
  return description.buffers.size() - 1;
}

void Describer::addTask(pp::TaskOp task, int64_t stage) {
  TaskDescription &added = description.tasks.emplace_back();
  added.name = task.getSymName().str();
  added.role = static_cast<PprtRole>(task.getRole());
  added.stage = stage;
  workspace.bytes =
      std::max<uint64_t>(workspace.bytes, workspaces.lookup(task.getSymName()));
  // Without a buffer: the workspace, which comes last.
  for (pp::BindingAttr binding : TaskSignature(task).bindings) {
    auto buffer = buffers.find(binding);
    added.bindings.push_back({PPRT_BIND_BUFFER, buffer == buffers.end()
                                                    ? workspaceIndex
                                                    : buffer->second});
  }
}

void Describer::add(const LayerTasks &layer, int64_t stage, int64_t instances) {
  int64_t bytes = 1;
  for (const auto &[binding, value] : layer.getValues())
    bytes += pp::getBytes(value.type);
  int64_t copies = std::clamp<int64_t>(copyBytes / bytes, 1, instances);
  mostCopies = std::max(mostCopies, copies);
  for (const auto &[binding, value] : layer.getValues())
    buffers[binding] = addBuffer(value, copies);
  for (pp::TaskOp task : layer.getTasks())
    addTask(task, stage);
}

RankDescription Describer::finish() {
  description.entryPoint = "pprtProfileMain";
  description.toolVersion = PIPEWRIGHT_VERSION;
  // One after the other, all tasks work in one place.
  workspace.offsets.assign(mostCopies, allocate(workspace.bytes));
  for (TaskDescription &task : description.tasks)
    for (BindingDescription &binding : task.bindings)
      if (binding.index == workspaceIndex)
        binding.index = description.buffers.size();
  description.buffers.push_back(std::move(workspace));
  return std::move(description);
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

LogicalResult pipewright::emitProfiler(ModuleOp module,
                                       const ProfilerOptions &options,
                                       StringRef path) {
  const CodegenTarget *target = TargetRegistry::get().find(options.target);
  if (!target)
    return module.emitError("has no code generation for target '")
           << options.target << "'";
  SmallVector<LayerFunctions> distinct = findLayerFunctions(module);
  OwningOpRef<ModuleOp> profiler = ModuleOp::create(module.getLoc());
  std::vector<LayerTasks> layers;
  for (auto [index, functions] : llvm::enumerate(distinct))
    layers.emplace_back(functions, index, *profiler).build();

  CodeGenerator generator(*target, options.targetOptions);
  FailureOr<llvm::StringMap<int64_t>> workspaces =
      generator.computeTaskWorkspaces(*profiler);
  if (failed(workspaces))
    return failure();
  Describer describer(*workspaces, options.copyBytes / distinct.size());
  for (auto [index, layer] : llvm::enumerate(layers))
    describer.add(layer, index, distinct[index].layers.size());
  return generator.emitExecutable(*profiler, /*rank=*/0, describer.finish(),
                                  options.runtimeLibrary, path);
}
