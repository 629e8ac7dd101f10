//===- LowerTasks.cpp - Tasks as functions that call layers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankLowering.h"
#include "TaskPlan.h"

#include "pipewright/Codegen/CodeGenerator.h"
#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERTASKS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Builds the function of one task.
class TaskBuilder {
public:
  TaskBuilder(pp::TaskOp task, const TaskPlan &plan,
              const CodegenTarget &target, OpBuilder &builder)
      : task(task), plan(plan), target(target), builder(builder),
        pointerType(LLVM::LLVMPointerType::get(task.getContext())),
        voidType(LLVM::LLVMVoidType::get(task.getContext())) {}

  void build() {
    auto function = LLVM::LLVMFuncOp::create(
        builder, task.getLoc(), getTaskSymbol(task.getSymName()),
        LLVM::LLVMFunctionType::get(voidType, {pointerType}));
    OpBuilder::InsertionGuard guard(builder);
    Block *block = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    array = block->getArgument(0);
    for (Operation &op : task.getBody().front().without_terminator())
      buildCall(cast<nn::CallOp>(op));
    buildCopies();
    LLVM::ReturnOp::create(builder, task.getLoc(), ValueRange());
  }

private:
  /// The address of \p place.
  Value getAddress(Place place, Location loc) {
    Value &base = pointers[place.pointer];
    if (!base) {
      Value element = LLVM::GEPOp::create(
          builder, loc, pointerType, pointerType, array,
          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(place.pointer)});
      base = LLVM::LoadOp::create(builder, loc, pointerType, element);
    }
    if (place.offset == 0)
      return base;
    Value offset = LLVM::ConstantOp::create(
        builder, loc, builder.getI64IntegerAttr(place.offset));
    return LLVM::GEPOp::create(builder, loc, pointerType, builder.getI8Type(),
                               base, ArrayRef<LLVM::GEPArg>{offset});
  }

  void buildCall(nn::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
        call, call.getCalleeAttr());
    Location loc = call.getLoc();
    SmallVector<Value> operands;
    for (Value argument : call.getArguments())
      operands.push_back(getAddress(plan.getPlace(argument), loc));
    for (auto [result, shared] : llvm::zip_equal(
             call.getOutputs(), LayerSignature(callee).sharedArguments))
      if (!shared)
        operands.push_back(getAddress(plan.getPlace(result), loc));
    operands.push_back(getAddress(plan.getCalleeWorkspace(call), loc));
    LLVM::CallOp::create(
        builder, loc,
        declare(getLayerSymbol(callee.getSymName()), operands.size()),
        operands);
  }

  LLVM::LLVMFuncOp declare(StringRef symbol, size_t arguments) {
    auto module = array.getParentRegion()->getParentOfType<ModuleOp>();
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol))
      return known;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    SmallVector<Type> types(arguments, pointerType);
    return LLVM::LLVMFuncOp::create(
        builder, task.getLoc(), symbol,
        LLVM::LLVMFunctionType::get(voidType, types));
  }

  /// Copies what is yielded but was made elsewhere: an argument that is passed
  /// on, or a value that has several bindings.
  void buildCopies() {
    for (auto [index, value] : llvm::enumerate(task.getYield().getValues())) {
      Place from = plan.getPlace(value);
      Place to = plan.getResultPlace(task, index);
      if (from == to)
        continue;
      Location loc = task.getLoc();
      Value bytes = LLVM::ConstantOp::create(
          builder, loc,
          builder.getI64IntegerAttr(pp::getBytes(value.getType())));
      target.emitCopy({getAddress(to, loc), getAddress(from, loc), bytes}, loc,
                      builder);
    }
  }

  pp::TaskOp task;
  const TaskPlan &plan;
  const CodegenTarget &target;
  OpBuilder &builder;
  Type pointerType;
  Type voidType;
  Value array;
  DenseMap<unsigned, Value> pointers;
};

struct LowerTasks : pipewright::impl::LowerTasksBase<LowerTasks> {
  using LowerTasksBase::LowerTasksBase;

  void runOnOperation() override {
    const CodegenTarget *target =
        TargetRegistry::get().findOrReport(targetName, getOperation().getLoc());
    if (!target)
      return signalPassFailure();
    CodeGenerator generator(*target);
    FailureOr<llvm::StringMap<int64_t>> workspaces =
        generator.computeLayerWorkspaces(getOperation());
    if (failed(workspaces))
      return signalPassFailure();
    for (auto task :
         llvm::make_early_inc_range(getOperation().getOps<pp::TaskOp>())) {
      OpBuilder builder(task);
      if (failed(lowerTask(task, *target, *workspaces, builder)))
        return signalPassFailure();
      task.erase();
    }
  }
};
} // namespace

LogicalResult
pipewright::lowerTask(pp::TaskOp task, const CodegenTarget &target,
                      const llvm::StringMap<int64_t> &layerWorkspaces,
                      OpBuilder &builder) {
  FailureOr<TaskPlan> plan = TaskPlan::compute(task, layerWorkspaces);
  if (failed(plan))
    return failure();
  TaskBuilder(task, *plan, target, builder).build();
  return success();
}
