//===- Program.cpp - Schedules and rank programs
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::pp;

/// Fails unless \p name is a symbol of the kind that \p action works on.
template <typename SymbolOpTy, typename ActionOpTy>
static LogicalResult verifyAction(ActionOpTy action,
                                  SymbolTableCollection &symbols,
                                  StringRef kind) {
  if (!symbols.lookupNearestSymbolFrom<SymbolOpTy>(action,
                                                   action.getSymbolAttr()))
    return action.emitOpError("names '")
           << action.getSymbol() << "', which is not " << kind;
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAction<TaskOp>(*this, symbols, "a task");
}
LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAction<ChannelOp>(*this, symbols, "a channel");
}
LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAction<ChannelOp>(*this, symbols, "a channel");
}

LogicalResult AllToAllOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyAction<ExchangeOp>(*this, symbols, "an exchange");
}

LogicalResult AllReduceOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getParameters().empty())
    return emitOpError("needs a parameter");
  for (auto name : getParameters().getAsRange<FlatSymbolRefAttr>()) {
    auto parameter = symbols.lookupNearestSymbolFrom<ParameterOp>(*this, name);
    if (!parameter || !parameter.getTrainable())
      return emitOpError("adds gradients of '")
             << name.getValue() << "', which is not a trainable parameter";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// OverlapOp
//===----------------------------------------------------------------------===//

LogicalResult OverlapOp::verify() {
  bool exchanges = llvm::any_of(getBranches(), [](Region &branch) {
    return !branch.front().getOps<AllToAllOp>().empty();
  });
  if (getBranches().empty() || (getBranches().size() < 2 && !exchanges))
    return emitOpError("needs at least 2 branches, not ")
           << getBranches().size() << "; one alone overlaps with nothing";
  for (auto [number, branch] : llvm::enumerate(getBranches())) {
    if (branch.front().empty())
      return emitOpError("has nothing to run in branch ") << number;
    for (Operation &op : branch.front())
      if (!isa<RunOp, AllToAllOp>(op)) {
        InFlightDiagnostic diag = emitOpError("holds '")
                                  << op.getName() << "'; only 'pp.run' and "
                                  << "'pp.all_to_all' may overlap";
        diag.attachNote(op.getLoc()) << "which is here";
        return diag;
      }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// RepeatOp: `pp.repeat %i = 0 to 8 step 2 { ... }`
//===----------------------------------------------------------------------===//

ParseResult RepeatOp::parse(OpAsmParser &parser, OperationState &result) {
  OpAsmParser::Argument index;
  index.type = parser.getBuilder().getIndexType();
  int64_t lower, upper, step = 1;
  if (parser.parseArgument(index) || parser.parseEqual() ||
      parser.parseInteger(lower) || parser.parseKeyword("to") ||
      parser.parseInteger(upper) ||
      (succeeded(parser.parseOptionalKeyword("step")) &&
       parser.parseInteger(step)))
    return failure();
  Builder &builder = parser.getBuilder();
  result.addAttribute(getLowerAttrName(result.name),
                      builder.getI64IntegerAttr(lower));
  result.addAttribute(getUpperAttrName(result.name),
                      builder.getI64IntegerAttr(upper));
  result.addAttribute(getStepAttrName(result.name),
                      builder.getI64IntegerAttr(step));
  return failure(parser.parseRegion(*result.addRegion(), {index}) ||
                 parser.parseOptionalAttrDict(result.attributes));
}

void RepeatOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getBody().getArgument(0) << " = " << getLower() << " to "
          << getUpper() << ' ';
  if (getStep() != 1)
    printer << "step " << getStep() << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(),
                                {"lower", "upper", "step"});
}

LogicalResult RepeatOp::verify() {
  if (getBody().getNumArguments() != 1 ||
      !getBody().getArgument(0).getType().isIndex())
    return emitOpError("needs one index argument");
  if (getLower() >= getUpper())
    return emitOpError("repeats from ")
           << getLower() << " to " << getUpper() << ", which is never";
  return success();
}

//===----------------------------------------------------------------------===//
// PlaceOp
//===----------------------------------------------------------------------===//

LogicalResult PlaceOp::verify() {
  if (getOffsets().empty())
    return emitOpError("has no offset");
  auto arena = cast<ArenaOp>((*this)->getParentOp());
  int64_t arenaBytes = arena.getBytes(), bytes = getBytes();
  for (int64_t offset : getOffsets())
    if (offset < 0 || offset > arenaBytes - bytes)
      return emitOpError("places ") << bytes << " bytes at " << offset
                                    << " of an arena of " << arenaBytes;
  int64_t slots = getOffsets().size();
  auto isSlot = [&](int64_t slot) { return slot >= 0 && slot < slots; };
  for (int64_t slot : getSlotOf().value_or(ArrayRef<int64_t>()))
    if (!isSlot(slot))
      return emitOpError("names slot ") << slot << " of " << slots;
  if (!isSlot(getEvalSlot()))
    return emitOpError("names slot ") << getEvalSlot() << " of " << slots;
  return success();
}

int64_t PlaceOp::getOffset(int64_t microbatch, bool isEval) {
  std::optional<ArrayRef<int64_t>> slots = getSlotOf();
  if (!slots)
    return getOffset();
  return getOffsets()[isEval ? getEvalSlot() : (*slots)[microbatch]];
}

//===----------------------------------------------------------------------===//
// walkActions
//===----------------------------------------------------------------------===//

using RepeatIndices = llvm::SmallDenseMap<Value, int64_t, 2>;

template <typename ActionOpTy>
static int64_t getMicrobatch(ActionOpTy action, const RepeatIndices &indices) {
  int64_t offset = action.getOffset();
  return action.getIndex() ? indices.lookup(action.getIndex()) + offset
                           : offset;
}

static void walkBlock(Block &block, RepeatIndices &indices,
                      function_ref<void(Operation *, int64_t)> visit) {
  for (Operation &op : block) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      int64_t upper = repeat.getUpper();
      for (int64_t i = repeat.getLower(); i < upper; i += repeat.getStep()) {
        indices[repeat.getBody().getArgument(0)] = i;
        walkBlock(repeat.getBody().front(), indices, visit);
      }
      continue;
    }
    if (auto overlap = dyn_cast<OverlapOp>(op)) {
      visit(overlap, 0);
      for (Region &branch : overlap.getBranches())
        walkBlock(branch.front(), indices, visit);
      continue;
    }
    int64_t microbatch =
        llvm::TypeSwitch<Operation *, int64_t>(&op)
            .Case<RunOp, SendOp, RecvOp, AllToAllOp>(
                [&](auto action) { return getMicrobatch(action, indices); })
            .Default([](Operation *) { return 0; });
    visit(&op, microbatch);
  }
}

void pp::walkActions(ProgramOp program,
                     function_ref<void(Operation *, int64_t)> visit) {
  RepeatIndices indices;
  walkBlock(program.getBody().front(), indices, visit);
}
