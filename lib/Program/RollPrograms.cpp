//===- RollPrograms.cpp - Turns repeated actions into loops
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Works on the flat list of actions: at each position, the group length and
// the number of repetitions that cover the most actions win. Nested loops are
// not looked for; a schedule has at most a few runs per rank.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/PP/PP.h"
#include "pipewright/Program/Passes.h"

#include "mlir/IR/Builders.h"

namespace pipewright {
#define GEN_PASS_DEF_ROLLPROGRAMS
#define GEN_PASS_DEF_UNROLLPROGRAMS
#include "pipewright/Program/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {

/// One action of the flat list.
struct Action {
  Operation *op;
  /// Of an overlap, what its first run has.
  int64_t microbatch;
  /// The task or channel; null for what has no micro-batch.
  Attribute symbol;
  /// Of an overlap: the runs of all branches.
  std::vector<Action> runs = {};

  unsigned getBranch() const {
    return op->getParentRegion()->getRegionNumber();
  }
};

/// Groups longer than this are not looked for: 64 ranks with 4 chunks each run
/// 256 forwards and as many backwards in a period, with four messages a pair.
constexpr size_t maxGroup = 2048;

} // namespace

/// Whether \p b is what \p a does, \p distance micro-batches later.
static bool isShifted(const Action &a, const Action &b, int64_t distance) {
  auto areShifted = [&](const Action &run, const Action &other) {
    return run.getBranch() == other.getBranch() &&
           isShifted(run, other, distance);
  };
  return a.symbol && a.symbol == b.symbol &&
         b.microbatch == a.microbatch + distance &&
         a.op->getName() == b.op->getName() &&
         llvm::equal(a.runs, b.runs, areShifted);
}

/// By how many micro-batches the group of \p length actions after the one that
/// begins at \p start is shifted, if it is the same one.
static int64_t getDistance(ArrayRef<Action> actions, size_t start,
                           size_t length) {
  return actions[start + length].microbatch - actions[start].microbatch;
}

/// How often the \p length actions from \p start on repeat, each time shifted
/// by the same number of micro-batches; 1 if they do not.
static size_t countRepetitions(ArrayRef<Action> actions, size_t start,
                               size_t length) {
  int64_t distance = getDistance(actions, start, length);
  if (distance < 1)
    return 1;
  size_t count = 1;
  while (start + (count + 1) * length <= actions.size()) {
    for (size_t i = 0; i < length; ++i)
      if (!isShifted(actions[start + i], actions[start + count * length + i],
                     count * distance))
        return count;
    ++count;
  }
  return count;
}

/// Creates a copy of \p action at the builder's place, for micro-batch
/// `index + offset`, or `offset` if \p index is null.
static void createAction(OpBuilder &builder, const Action &action, Value index,
                         int64_t offset) {
  Location loc = action.op->getLoc();
  if (auto overlap = dyn_cast<pp::OverlapOp>(action.op)) {
    auto copy = pp::OverlapOp::create(builder, loc, overlap.getNumRegions());
    for (const Action &run : action.runs) {
      OpBuilder inside =
          OpBuilder::atBlockEnd(&copy->getRegion(run.getBranch()).front());
      createAction(inside, run, index,
                   offset + run.microbatch - action.microbatch);
    }
    return;
  }
  IntegerAttr offsetAttr = builder.getI64IntegerAttr(offset);
  if (auto run = dyn_cast<pp::RunOp>(action.op))
    pp::RunOp::create(builder, loc, run.getSymbolAttr(), index, offsetAttr);
  else if (auto send = dyn_cast<pp::SendOp>(action.op))
    pp::SendOp::create(builder, loc, send.getSymbolAttr(), index, offsetAttr);
  else if (auto recv = dyn_cast<pp::RecvOp>(action.op))
    pp::RecvOp::create(builder, loc, recv.getSymbolAttr(), index, offsetAttr);
  else if (auto exchange = dyn_cast<pp::AllToAllOp>(action.op))
    pp::AllToAllOp::create(builder, loc, exchange.getSymbolAttr(), index,
                           offsetAttr);
  else
    builder.clone(*action.op);
}

/// Creates a loop over \p count repetitions of \p group, each \p distance
/// micro-batches later.
static void createRepeat(OpBuilder &builder, ArrayRef<Action> group,
                         int64_t count, int64_t distance) {
  int64_t lower = group.front().microbatch;
  auto repeat = pp::RepeatOp::create(builder, group.front().op->getLoc(), lower,
                                     lower + count * distance, distance);
  Block &body = repeat.getBody().emplaceBlock();
  Value index = body.addArgument(builder.getIndexType(), repeat.getLoc());
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  for (const Action &action : group)
    createAction(inside, action, index, action.microbatch - lower);
}

static SmallVector<Action> listActions(pp::ProgramOp program) {
  SmallVector<Action> actions;
  pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
    Action action = {op, microbatch, op->getAttr("symbol")};
    if (!isa<pp::OverlapOp>(op->getParentOp()))
      return actions.push_back(std::move(action));
    Action &overlap = actions.back();
    if (overlap.runs.empty()) {
      overlap.microbatch = microbatch;
      overlap.symbol = action.symbol;
    }
    overlap.runs.push_back(std::move(action));
  });
  return actions;
}

/// Replaces the body of \p program by \p write's actions.
static void
rewriteBody(pp::ProgramOp program,
            function_ref<void(OpBuilder &, ArrayRef<Action>)> write) {
  SmallVector<Action> actions = listActions(program);
  Block &body = program.getBody().front();
  Operation *oldEnd = body.empty() ? nullptr : &body.back();
  OpBuilder builder = OpBuilder::atBlockEnd(&body);
  write(builder, actions);
  if (!oldEnd)
    return;
  Block::iterator end = std::next(oldEnd->getIterator());
  for (auto it = body.begin(); it != end;)
    (it++)->erase();
}

static void roll(OpBuilder &builder, ArrayRef<Action> actions) {
  for (size_t position = 0; position < actions.size();) {
    size_t bestLength = 1, bestCount = 1;
    size_t limit = std::min(maxGroup, (actions.size() - position) / 2);
    for (size_t length = 1; length <= limit; ++length) {
      size_t count = countRepetitions(actions, position, length);
      if (count > 1 && count * length > bestCount * bestLength) {
        bestLength = length;
        bestCount = count;
      }
    }
    if (bestCount == 1)
      createAction(builder, actions[position], Value(),
                   actions[position].microbatch);
    else
      createRepeat(builder, actions.slice(position, bestLength), bestCount,
                   getDistance(actions, position, bestLength));
    position += bestLength * bestCount;
  }
}

static void unroll(OpBuilder &builder, ArrayRef<Action> actions) {
  for (const Action &action : actions)
    createAction(builder, action, Value(), action.microbatch);
}

namespace {

struct RollPrograms : pipewright::impl::RollProgramsBase<RollPrograms> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<pp::ProgramOp>())
      rewriteBody(program, roll);
  }
};

struct UnrollPrograms : pipewright::impl::UnrollProgramsBase<UnrollPrograms> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<pp::ProgramOp>())
      rewriteBody(program, unroll);
  }
};

} // namespace
