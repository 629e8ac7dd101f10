//===- Descriptor.cpp - The descriptor of a rank as LLVM constants
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each function below writes the fields of one structure of pprt/Descriptor.h
// in their order. LLVM lays out a structure of the same field types as C does.
//
//===----------------------------------------------------------------------===//

#include "RankLowering.h"

#include "pipewright/Codegen/TaskSignature.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace pipewright;

namespace {
class DescriptorBuilder {
public:
  explicit DescriptorBuilder(Module &module)
      : module(module), context(module.getContext()),
        pointerType(PointerType::get(context, 0)) {}

  Constant *build(const RankDescription &rank) {
    return structure(
        {word(PPRT_ABI_VERSION),
         string(rank.toolVersion),
         string(rank.modelName),
         ConstantDataArray::get(context, ArrayRef<uint8_t>(rank.planHash)),
         word(rank.rank),
         word(rank.ranks),
         word(rank.dataParallel),
         word(rank.expertParallel),
         word(rank.stages),
         word(rank.microbatches),
         word(rank.microbatchSize),
         word(rank.forwardOnly),
         word(rank.lossRank),
         word(rank.secondLossRank),
         word(rank.optimizer),
         wide(rank.arenaBytes),
         wide(rank.messageBytes),
         wide(rank.reductionOffset),
         word(rank.parameters.size()),
         word(rank.buffers.size()),
         word(rank.channels.size()),
         word(rank.exchanges.size()),
         word(rank.tasks.size()),
         word(rank.inputs.size()),
         word(rank.outputs.size()),
         array(rank.parameters),
         array(rank.buffers),
         array(rank.channels),
         array(rank.exchanges),
         array(rank.tasks),
         array(rank.inputs),
         array(rank.outputs),
         function("step"),
         function("eval")});
  }

private:
  Constant *build(const TensorDescription &tensor) {
    return structure({string(tensor.name), word(tensor.dtype),
                      word(tensor.shape.size()), array(tensor.shape),
                      wide(tensor.bytes)});
  }
  Constant *build(const ParameterDescription &parameter) {
    Constant *state =
        ConstantDataArray::get(context, ArrayRef<uint64_t>(parameter.state));
    return structure({build(parameter.tensor), wide(parameter.offset),
                      word(parameter.trainable), word(parameter.order),
                      wide(parameter.gradient), state, word(parameter.decayed),
                      word(parameter.owner),
                      word(parameter.contributions.size()),
                      array(parameter.contributions), word(parameter.shards)});
  }
  Constant *build(const ContributionDescription &contribution) {
    return structure({word(contribution.rank), word(contribution.layer),
                      wide(contribution.offset)});
  }
  Constant *build(const BufferDescription &buffer) {
    return structure({word(buffer.kind), word(buffer.offsets.size()),
                      array(buffer.offsets), wide(buffer.bytes),
                      array(buffer.slotOf), word(buffer.evalSlot),
                      wide(buffer.index)});
  }
  Constant *build(const ChannelDescription &channel) {
    return structure({string(channel.name), word(channel.kind),
                      word(channel.id), word(channel.source),
                      word(channel.target), word(channel.sourceStage),
                      word(channel.targetStage), build(channel.tensor),
                      word(channel.buffer)});
  }
  Constant *build(const ExchangeDescription &exchange) {
    return structure({string(exchange.name), word(exchange.id),
                      word(exchange.stage), wide(exchange.blockBytes),
                      word(exchange.sent), word(exchange.received)});
  }
  Constant *build(const BindingDescription &binding) {
    return structure(
        {word(binding.kind), word(binding.index), wide(binding.offset)});
  }
  Constant *build(const TaskDescription &task) {
    return structure({string(task.name), word(task.role), word(task.stage),
                      function(getTaskSymbol(task.name)),
                      word(task.bindings.size()), array(task.bindings)});
  }
  Constant *build(const InputDescription &input) {
    return structure({build(input.tensor), wide(input.axis),
                      wide(input.labelClasses), wide(input.ignoreIndex),
                      wide(input.indexLimit), word(input.read)});
  }
  Constant *build(const OutputDescription &output) {
    return structure(
        {build(output.tensor), wide(output.axis), word(output.buffer)});
  }
  Constant *build(int64_t value) { return wide(value); }
  Constant *build(uint64_t value) { return wide(value); }
  Constant *build(uint16_t value) {
    return ConstantInt::get(Type::getInt16Ty(context), value);
  }

  Constant *word(uint64_t value) {
    return ConstantInt::get(Type::getInt32Ty(context), value);
  }
  Constant *wide(uint64_t value) {
    return ConstantInt::get(Type::getInt64Ty(context), value);
  }
  Constant *structure(ArrayRef<Constant *> fields) {
    return ConstantStruct::getAnon(context, fields);
  }

  /// The address of a constant that nothing else sees.
  Constant *address(Constant *value) {
    auto *global = new GlobalVariable(module, value->getType(),
                                      /*isConstant=*/true,
                                      GlobalValue::PrivateLinkage, value);
    global->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return global;
  }
  Constant *string(StringRef text) {
    return address(ConstantDataArray::getString(context, text));
  }
  template <typename T>
  Constant *array(const std::vector<T> &values) {
    if (values.empty())
      return ConstantPointerNull::get(pointerType);
    SmallVector<Constant *> elements;
    for (const T &value : values)
      elements.push_back(build(value));
    auto *type = ArrayType::get(elements.front()->getType(), elements.size());
    return address(ConstantArray::get(type, elements));
  }
  /// The function of that name, or null if the rank has none.
  Constant *function(StringRef name) {
    if (Function *function = module.getFunction(name))
      return function;
    return ConstantPointerNull::get(pointerType);
  }

  Module &module;
  LLVMContext &context;
  PointerType *pointerType;
};
} // namespace

void pipewright::emitDescriptor(Module &module,
                                const RankDescription &description) {
  LLVMContext &context = module.getContext();
  Constant *value = DescriptorBuilder(module).build(description);
  auto *descriptor =
      new GlobalVariable(module, value->getType(),
                         /*isConstant=*/true, GlobalValue::ExternalLinkage,
                         value, "pprtDescriptor");

  Type *word = Type::getInt32Ty(context);
  Type *pointer = PointerType::get(context, 0);
  FunctionCallee runtime = module.getOrInsertFunction(
      description.entryPoint,
      FunctionType::get(word, {word, pointer, pointer}, false));
  Function *main =
      Function::Create(FunctionType::get(word, {word, pointer}, false),
                       GlobalValue::ExternalLinkage, "main", module);
  IRBuilder<> builder(BasicBlock::Create(context, "", main));
  builder.CreateRet(builder.CreateCall(
      runtime, {main->getArg(0), main->getArg(1), descriptor}));
}
