//===- LowerPrograms.cpp - Programs as calls of the runtime
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankLowering.h"

#include "pipewright/Codegen/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace pipewright {
#define GEN_PASS_DEF_LOWERPROGRAMS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
/// Builds the function of one program.
class ProgramBuilder {
public:
  ProgramBuilder(const RankTables &tables, OpBuilder &builder)
      : tables(tables), builder(builder), wordType(builder.getI32Type()),
        pointerType(LLVM::LLVMPointerType::get(builder.getContext())),
        voidType(LLVM::LLVMVoidType::get(builder.getContext())) {}

  LogicalResult build(pp::ProgramOp program) {
    bool isStep = program.getKind() == pp::ProgramKind::Step;
    auto function = LLVM::LLVMFuncOp::create(
        builder, program.getLoc(), isStep ? "step" : "eval",
        LLVM::LLVMFunctionType::get(voidType, {pointerType}));
    OpBuilder::InsertionGuard guard(builder);
    Block *block = function.addEntryBlock(builder);
    builder.setInsertionPointToStart(block);
    context = block->getArgument(0);
    if (failed(buildActions(program.getBody())))
      return failure();
    LLVM::ReturnOp::create(builder, program.getLoc(), ValueRange());
    return success();
  }

private:
  LogicalResult buildActions(Region &region) {
    for (Operation &op : region.front())
      if (failed(buildAction(op)))
        return failure();
    return success();
  }

  LogicalResult buildAction(Operation &op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
        .Case([&](pp::RunOp run) {
          return callRuntime(run, "pprtRun", tables.tasks);
        })
        .Case([&](pp::SendOp send) {
          return callRuntime(send, "pprtSend", tables.channels);
        })
        .Case([&](pp::RecvOp recv) {
          return callRuntime(recv, "pprtRecv", tables.channels);
        })
        .Case([&](pp::AllToAllOp exchange) {
          return callRuntime(exchange, "pprtAllToAll", tables.exchanges);
        })
        .Case([&](pp::AllReduceOp reduce) { return buildAllReduce(reduce); })
        .Case([&](pp::StepOp step) {
          call(step, "pprtUpdate", context);
          return success();
        })
        .Case([&](pp::OverlapOp overlap) { return buildOverlap(overlap); })
        .Case([&](pp::RepeatOp repeat) { return buildRepeat(repeat); })
        .Default([](Operation *op) {
          return op->emitOpError("is not an action that the runtime knows");
        });
  }

  /// The runtime's calls come back when a task is done, or given to a device
  /// with one queue, so the branches take turns: each goes on up to its next
  /// exchanges, and then the next one computes while these are under way.
  LogicalResult buildOverlap(pp::OverlapOp overlap) {
    SmallVector<Operation *> heads;
    for (Region &branch : overlap.getBranches())
      heads.push_back(&branch.front().front());
    while (llvm::any_of(heads, [](Operation *head) { return head; }))
      for (Operation *&head : heads)
        if (failed(buildUpToExchanges(head)))
          return failure();
    return success();
  }

  /// Builds the actions from \p head on, up to the end of the next exchanges.
  LogicalResult buildUpToExchanges(Operation *&head) {
    bool exchanges = false;
    for (; head; head = head->getNextNode()) {
      if (exchanges && !isa<pp::AllToAllOp>(head))
        return success();
      exchanges |= isa<pp::AllToAllOp>(head);
      if (failed(buildAction(*head)))
        return failure();
    }
    return success();
  }

  LogicalResult buildAllReduce(pp::AllReduceOp reduce) {
    SmallVector<int32_t> numbers;
    for (auto name : reduce.getParameters().getAsRange<FlatSymbolRefAttr>()) {
      auto entry = tables.parameters.find(name.getValue());
      if (entry == tables.parameters.end())
        return reportUnlisted(reduce, name.getValue());
      numbers.push_back(entry->second);
    }
    Location loc = reduce.getLoc();
    call(reduce, "pprtAllReduce",
         {context, createWords(numbers, loc), getWord(numbers.size(), loc)});
    return success();
  }

  /// The address of constants that only this program sees.
  Value createWords(ArrayRef<int32_t> words, Location loc) {
    auto module = context.getParentRegion()->getParentOfType<ModuleOp>();
    OpBuilder::InsertionGuard guard(builder);
    OpBuilder outside = OpBuilder::atBlockBegin(module.getBody());
    std::string name = ("parameters." + Twine(wordLists++)).str();
    auto global = LLVM::GlobalOp::create(
        outside, loc, LLVM::LLVMArrayType::get(wordType, words.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        builder.getI32TensorAttr(words));
    return LLVM::AddressOfOp::create(builder, loc, global);
  }

  LogicalResult reportUnlisted(Operation *action, StringRef name) {
    return action->emitOpError("names '")
           << name << "', which the rank's descriptor does not list";
  }

  template <typename ActionOpTy>
  LogicalResult callRuntime(ActionOpTy action, StringRef function,
                            const llvm::StringMap<unsigned> &table) {
    auto entry = table.find(action.getSymbol());
    if (entry == table.end())
      return reportUnlisted(action, action.getSymbol());
    Location loc = action.getLoc();
    Value microbatch = getWord(action.getOffset(), loc);
    if (Value index = action.getIndex())
      microbatch =
          LLVM::AddOp::create(builder, loc, indices.lookup(index), microbatch);
    call(action, function, {context, getWord(entry->second, loc), microbatch});
    return success();
  }

  void call(Operation *action, StringRef name, ValueRange operands) {
    auto module = context.getParentRegion()->getParentOfType<ModuleOp>();
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(module.getBody());
      SmallVector<Type> types(operands.getTypes());
      function = LLVM::LLVMFuncOp::create(
          builder, module.getLoc(), name,
          LLVM::LLVMFunctionType::get(voidType, types));
    }
    LLVM::CallOp::create(builder, action->getLoc(), function, operands);
  }

  Value getWord(int64_t value, Location loc) {
    return LLVM::ConstantOp::create(builder, loc,
                                    builder.getI32IntegerAttr(value));
  }

  /// The loop runs at least once, so the test is at its end.
  LogicalResult buildRepeat(pp::RepeatOp repeat) {
    Location loc = repeat.getLoc();
    Block *before = builder.getInsertionBlock();
    Region *region = before->getParent();
    Block *body = builder.createBlock(region, region->end(), wordType, loc);
    builder.setInsertionPointToEnd(before);
    LLVM::BrOp::create(builder, loc, getWord(repeat.getLower(), loc), body);

    builder.setInsertionPointToStart(body);
    Value index = body->getArgument(0);
    indices.map(repeat.getBody().getArgument(0), index);
    if (failed(buildActions(repeat.getBody())))
      return failure();
    Value next = LLVM::AddOp::create(builder, loc, index,
                                     getWord(repeat.getStep(), loc));
    Value again = LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::slt,
                                       next, getWord(repeat.getUpper(), loc));
    Block *last = builder.getInsertionBlock();
    Block *after = builder.createBlock(region, region->end());
    builder.setInsertionPointToEnd(last);
    LLVM::CondBrOp::create(builder, loc, again, body, next, after,
                           ValueRange());
    builder.setInsertionPointToStart(after);
    return success();
  }

  const RankTables &tables;
  OpBuilder &builder;
  Type wordType;
  Type pointerType;
  Type voidType;
  Value context;
  IRMapping indices;
  unsigned wordLists = 0;
};

struct LowerPrograms : pipewright::impl::LowerProgramsBase<LowerPrograms> {
  using LowerProgramsBase::LowerProgramsBase;

  void runOnOperation() override {
    SmallVector<pp::ProgramOp> programs;
    for (auto program : getOperation().getOps<pp::ProgramOp>())
      if (program.getRank() == static_cast<uint64_t>(rank.getValue()))
        programs.push_back(program);
    RankTables tables = makeTables(programs);
    for (pp::ProgramOp program : programs) {
      OpBuilder builder(program);
      if (failed(lowerProgram(program, tables, builder)))
        return signalPassFailure();
      program.erase();
    }
  }

private:
  RankTables makeTables(ArrayRef<pp::ProgramOp> programs) {
    llvm::StringSet<> used;
    for (pp::ProgramOp program : programs)
      program.walk([&](Operation *op) {
        if (auto symbol = op->getAttrOfType<FlatSymbolRefAttr>("symbol"))
          used.insert(symbol.getValue());
        if (auto reduce = dyn_cast<pp::AllReduceOp>(op))
          for (auto name :
               reduce.getParameters().getAsRange<FlatSymbolRefAttr>())
            used.insert(name.getValue());
      });
    RankTables tables;
    for (auto task : getOperation().getOps<pp::TaskOp>())
      if (used.contains(task.getSymName()))
        tables.tasks.try_emplace(task.getSymName(), tables.tasks.size());
    for (auto channel : getOperation().getOps<pp::ChannelOp>())
      if (used.contains(channel.getSymName()))
        tables.channels.try_emplace(channel.getSymName(),
                                    tables.channels.size());
    for (auto exchange : getOperation().getOps<pp::ExchangeOp>())
      if (used.contains(exchange.getSymName()))
        tables.exchanges.try_emplace(exchange.getSymName(),
                                     tables.exchanges.size());
    for (auto parameter : getOperation().getOps<pp::ParameterOp>())
      if (used.contains(parameter.getSymName()))
        tables.parameters.try_emplace(parameter.getSymName(),
                                      tables.parameters.size());
    return tables;
  }
};
} // namespace

LogicalResult pipewright::lowerProgram(pp::ProgramOp program,
                                       const RankTables &tables,
                                       OpBuilder &builder) {
  return ProgramBuilder(tables, builder).build(program);
}
