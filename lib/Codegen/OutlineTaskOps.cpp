//===- OutlineTaskOps.cpp - Functions for the nn ops of task bodies
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Codegen/Passes.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace pipewright {
#define GEN_PASS_DEF_OUTLINETASKOPS
#include "pipewright/Codegen/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
struct OutlineTaskOps : pipewright::impl::OutlineTaskOpsBase<OutlineTaskOps> {
  void runOnOperation() override {
    functions.clear();
    for (auto task : getOperation().getOps<pp::TaskOp>())
      for (Operation &op : llvm::make_early_inc_range(task.getBody().front()))
        if (!isa<nn::CallOp, pp::YieldOp>(op))
          outline(&op);
  }

private:
  void outline(Operation *op) {
    nn::FunctionOp &function = functions[getKey(op)];
    if (!function)
      function = createFunction(op);
    OpBuilder builder(op);
    auto call = nn::CallOp::create(builder, op->getLoc(), op->getResultTypes(),
                                   function.getSymName(), op->getOperands());
    op->replaceAllUsesWith(call);
    op->erase();
  }

  /// Everything about \p op but its operands and its location. An operand that
  /// is used twice is two operands.
  static std::string getKey(Operation *op) {
    std::string key;
    llvm::raw_string_ostream stream(key);
    stream << op->getName() << op->getAttrDictionary();
    llvm::interleaveComma(op->getOperandTypes(), stream << '(');
    llvm::interleaveComma(op->getResultTypes(), stream << ")(");
    return key;
  }

  nn::FunctionOp createFunction(Operation *op) {
    OpBuilder builder(op->getContext());
    auto type =
        builder.getFunctionType(op->getOperandTypes(), op->getResultTypes());
    auto function = nn::FunctionOp::create(
        builder, op->getLoc(), ("glue." + op->getName().stripDialect()).str(),
        type);
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    Operation *copy = builder.clone(*op);
    copy->setOperands(block->getArguments());
    nn::ReturnOp::create(builder, op->getLoc(), copy->getResults());
    // The table makes the name unique.
    SymbolTable(getOperation()).insert(function);
    return function;
  }

  llvm::StringMap<nn::FunctionOp> functions;
};
} // namespace
