//===- CheckEquivalence.cpp - Proves that programs compute the model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelValues.h"
#include "OverlapChecker.h"

#include "pipewright/Schedule/Passes.h"
#include "pipewright/Schedule/ProgramSchedule.h"

namespace pipewright {
#define GEN_PASS_DEF_CHECKEQUIVALENCE
#include "pipewright/Schedule/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;
using pp::BindingKind;

namespace {
/// One action of a rank.
struct ProgramAction {
  Operation *op;
  int64_t microbatch;
};

/// Runs the ranks' programs on numbers instead of tensors.
class ProgramMachine {
public:
  /// A result as it was last written.
  struct Written {
    int64_t number;
    ProgramAction action;
  };
  /// A call that the model does not make.
  struct Stranger {
    ProgramAction action;
    Operation *op;
  };

  ProgramMachine(const StageGraph &graph, const ProgramSchedule &programs,
                 ValueTable &table);

  /// Reads where the step programs' values lie, if memory has been planned.
  void readArenas(ModuleOp module, pp::ProgramKind kind);
  /// Fails with a diagnostic where a value is read that nothing wrote.
  LogicalResult run();

  const Written *find(ModelValues::Result result) const {
    auto found = written.find(result);
    return found == written.end() ? nullptr : &found->second;
  }
  const std::optional<Stranger> &getFirstStranger() const { return stranger; }

private:
  /// A buffer of a rank: a binding, and which of its slots.
  using Place = OverlapChecker::Place;

  struct Rank {
    explicit Rank(const StageGraph &graph) : overlaps(graph, Rule::S8) {}

    OverlapChecker overlaps;
    std::vector<ProgramAction> actions;
    size_t next = 0;
    llvm::DenseMap<Place, int64_t> memory;
    /// Per binding, the slot of each micro-batch.
    llvm::DenseMap<Attribute, ArrayRef<int64_t>> slots;
  };

  /// Runs the rank until it ends or a message is missing.
  LogicalResult advance(Rank &rank);
  LogicalResult runTask(Rank &rank, const ProgramAction &action);
  FailureOr<int64_t> read(Rank &rank, pp::BindingAttr binding,
                          const ProgramAction &action);
  void write(Rank &rank, pp::BindingAttr binding, int64_t number,
             const ProgramAction &action);
  int64_t compute(Operation &op, llvm::DenseMap<Value, int64_t> &values,
                  const ProgramAction &action);
  Place getPlace(const Rank &rank, pp::BindingAttr binding,
                 int64_t microbatch) const;
  pp::BindingAttr bindChannel(FlatSymbolRefAttr channel) const {
    return pp::BindingAttr::get(channel.getContext(), BindingKind::Channel,
                                channel.getValue());
  }

  const StageGraph &graph;
  ValueTable &table;
  /// Numbers below this one are the model's.
  int64_t modelNumbers;
  int64_t microbatches;
  std::vector<Rank> ranks;
  bool isPlanned = false;
  bool isEval = false;
  /// Values under way, by channel and micro-batch.
  llvm::DenseMap<std::pair<Attribute, int64_t>, int64_t> messages;
  llvm::DenseMap<ModelValues::Result, Written> written;
  std::optional<Stranger> stranger;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ProgramMachine::ProgramMachine(const StageGraph &graph,
                               const ProgramSchedule &programs,
                               ValueTable &table)
    : graph(graph), table(table), modelNumbers(table.size()),
      microbatches(programs.schedule.getShape().microbatches) {
  for (pp::ProgramOp program : programs.programs) {
    Rank &rank = ranks.emplace_back(graph);
    pp::walkActions(program, [&](Operation *op, int64_t microbatch) {
      rank.actions.push_back({op, microbatch});
    });
  }
}

void ProgramMachine::readArenas(ModuleOp module, pp::ProgramKind kind) {
  isEval = kind == pp::ProgramKind::Eval;
  for (auto arena : module.getOps<pp::ArenaOp>()) {
    isPlanned = true;
    for (auto place : arena.getOps<pp::PlaceOp>())
      if (std::optional<ArrayRef<int64_t>> slots = place.getSlotOf())
        ranks[arena.getRank()].slots[place.getBinding()] = *slots;
  }
}

/// Gradients have one buffer; what is kept per micro-batch shares slots, and
/// eval, which finishes one micro-batch after the other, uses the first only.
ProgramMachine::Place ProgramMachine::getPlace(const Rank &rank,
                                               pp::BindingAttr binding,
                                               int64_t microbatch) const {
  if (!isPlanned || binding.getKind() == BindingKind::Gradient)
    return getUnplannedPlace(binding, microbatch);
  if (isEval)
    return {binding, 0};
  ArrayRef<int64_t> slots = rank.slots.lookup(binding);
  return {binding, slots.empty() ? 0 : slots[microbatch]};
}

FailureOr<int64_t> ProgramMachine::read(Rank &rank, pp::BindingAttr binding,
                                        const ProgramAction &action) {
  switch (binding.getKind()) {
  case BindingKind::Input:
  case BindingKind::RandomKey:
    return table.getLeaf(binding, action.microbatch);
  case BindingKind::Parameter:
  case BindingKind::LossScale:
    return table.getLeaf(binding, 0);
  default:
    break;
  }
  auto found = rank.memory.find(getPlace(rank, binding, action.microbatch));
  if (found != rank.memory.end())
    return found->second;
  if (binding.getKind() == BindingKind::Gradient)
    return table.getLeaf(binding, 0);
  action.op->emitError(getName(Rule::S8))
      << ": reads " << binding << " of micro-batch " << action.microbatch
      << ", which nothing has written";
  return failure();
}

void ProgramMachine::write(Rank &rank, pp::BindingAttr binding, int64_t number,
                           const ProgramAction &action) {
  rank.memory[getPlace(rank, binding, action.microbatch)] = number;
  bool isGradient = binding.getKind() == BindingKind::Gradient;
  written[{binding, isGradient ? 0 : action.microbatch}] = {number, action};
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

int64_t ProgramMachine::compute(Operation &op,
                                llvm::DenseMap<Value, int64_t> &values,
                                const ProgramAction &action) {
  SmallVector<int64_t> operands;
  for (Value operand : op.getOperands())
    operands.push_back(values.lookup(operand));
  int64_t first =
      table.getResults(ValueTable::identify(&op), operands, op.getNumResults());
  // A constant is nobody's mistake; the op that uses a wrong one is.
  if (first >= modelNumbers && !operands.empty() && !stranger)
    stranger = {action, &op};
  return first;
}

LogicalResult ProgramMachine::runTask(Rank &rank, const ProgramAction &action) {
  pp::TaskOp task = graph.getTask(cast<pp::RunOp>(action.op).getSymbol());
  llvm::DenseMap<Value, int64_t> values;
  for (auto [argument, binding] : llvm::zip_equal(
           task.getBody().getArguments(),
           task.getArgumentBindings().getAsRange<pp::BindingAttr>())) {
    FailureOr<int64_t> number = read(rank, binding, action);
    if (failed(number))
      return failure();
    values[argument] = *number;
  }
  for (Operation &op : task.getBody().front().without_terminator()) {
    int64_t first = compute(op, values, action);
    for (auto [index, result] : llvm::enumerate(op.getResults()))
      values[result] = first + index;
  }
  for (auto [value, binding] :
       llvm::zip_equal(task.getYield().getValues(),
                       task.getResultBindings().getAsRange<pp::BindingAttr>()))
    write(rank, binding, values.lookup(value), action);
  return success();
}

LogicalResult ProgramMachine::advance(Rank &rank) {
  for (; rank.next < rank.actions.size(); ++rank.next) {
    const ProgramAction &action = rank.actions[rank.next];
    if (action.microbatch < 0 || action.microbatch >= microbatches)
      return action.op->emitError(getName(Rule::S8))
             << ": there is no micro-batch " << action.microbatch
             << "; there are " << microbatches;
    auto findPlace = [&](pp::BindingAttr binding, int64_t microbatch) {
      return getPlace(rank, binding, microbatch);
    };
    if (failed(rank.overlaps.visit(action.op, action.microbatch, findPlace)))
      return failure();
    if (isa<pp::RunOp>(action.op)) {
      if (failed(runTask(rank, action)))
        return failure();
    } else if (auto send = dyn_cast<pp::SendOp>(action.op)) {
      pp::BindingAttr channel = bindChannel(send.getSymbolAttr());
      FailureOr<int64_t> number = read(rank, channel, action);
      if (failed(number))
        return failure();
      messages[{channel, action.microbatch}] = *number;
    } else if (auto recv = dyn_cast<pp::RecvOp>(action.op)) {
      pp::BindingAttr channel = bindChannel(recv.getSymbolAttr());
      auto message = messages.find({channel, action.microbatch});
      if (message == messages.end())
        return success();
      write(rank, channel, message->second, action);
    }
  }
  return success();
}

LogicalResult ProgramMachine::run() {
  auto countDone = [&] {
    size_t done = 0;
    for (const Rank &rank : ranks)
      done += rank.next;
    return done;
  };
  size_t before;
  do {
    before = countDone();
    for (Rank &rank : ranks)
      if (failed(advance(rank)))
        return failure();
  } while (countDone() != before);
  for (const Rank &rank : ranks)
    if (rank.next < rank.actions.size())
      return rank.actions[rank.next].op->emitError(getName(Rule::S8))
             << ": waits for a message that never comes; '--pp-check-comm' "
                "tells why";
  return success();
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// "the gradient of 'w' from layer 2", "output 'logits' of micro-batch 3".
static std::string describe(ModelValues::Result result) {
  auto [binding, microbatch] = result;
  std::string name = ("'" + binding.getName() + "'").str();
  switch (binding.getKind()) {
  case BindingKind::Gradient:
    return "the gradient of " + name + " from layer " +
           std::to_string(binding.getIndex());
  case BindingKind::Output:
    return "output " + name + " of micro-batch " + std::to_string(microbatch);
  default:
    return "the loss of micro-batch " + std::to_string(microbatch);
  }
}

static std::string describe(const ProgramAction &action) {
  return ("task '" + cast<pp::RunOp>(action.op).getSymbol() +
          "' of micro-batch " + Twine(action.microbatch))
      .str();
}

/// Says that \p result is not the model's, and where that begins.
static void report(pp::ModelOp model, ModelValues::Result result,
                   const ModelValues &expected, const ProgramMachine &machine) {
  const ProgramMachine::Written *last = machine.find(result);
  Location loc = last ? last->action.op->getLoc() : model.getLoc();
  InFlightDiagnostic diag = emitError(loc)
                            << getName(Rule::S8) << ": " << describe(result);
  if (!last) {
    diag << " is never computed";
    return;
  }
  if (std::optional<int64_t> sum = expected.findPartialSum(last->number)) {
    diag << " has only its first " << *sum
         << " micro-batches when it is last written here, by "
         << describe(last->action);
    return;
  }
  diag << ", last written here by " << describe(last->action)
       << ", is not what the model computes";
  if (const auto &stranger = machine.getFirstStranger()) {
    diag.attachNote(stranger->action.op->getLoc())
        << "the first value that the model does not have is made here, by "
        << describe(stranger->action);
    diag.attachNote(stranger->op->getLoc())
        << "in this op, to which the model never gives these operands; "
           "compare the task's bindings and the order of its micro-batches";
  }
}

namespace {
struct CheckEquivalence
    : public pipewright::impl::CheckEquivalenceBase<CheckEquivalence> {
  void runOnOperation() override {
    FailureOr<StageGraph> graph = StageGraph::get(getOperation());
    if (failed(graph))
      return signalPassFailure();
    bool hasFailed =
        graph->hasBackward() && failed(check(*graph, pp::ProgramKind::Step));
    if (failed(check(*graph, pp::ProgramKind::Eval)) || hasFailed)
      signalPassFailure();
  }

private:
  LogicalResult check(const StageGraph &graph, pp::ProgramKind kind) {
    ModuleOp module = getOperation();
    pp::ModelOp model = pp::getModel(module);
    if (!model)
      return module.emitError("the module has no model to compare with");
    FailureOr<ProgramSchedule> programs = readPrograms(module, graph, kind);
    if (failed(programs))
      return failure();
    ValueTable table;
    ModelValues expected(module, model, table);
    if (failed(expected.run(programs->schedule, graph.hasBackward())))
      return failure();
    ProgramMachine machine(graph, *programs, table);
    machine.readArenas(module, kind);
    if (failed(machine.run()))
      return failure();
    for (const auto &[result, number] : expected.getResults()) {
      bool isGradient = result.first.getKind() == BindingKind::Gradient;
      if (isGradient && kind == pp::ProgramKind::Eval)
        continue;
      const ProgramMachine::Written *found = machine.find(result);
      if (found && found->number == number)
        continue;
      report(model, result, expected, machine);
      return failure();
    }
    return success();
  }
};
} // namespace
