//===- CheckEquivalence.cpp - Proves that programs compute the model
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MachineMemory.h"
#include "ModelValues.h"

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

  /// Reads where the programs' values lie, if memory has been planned.
  LogicalResult readArenas(ModuleOp module, pp::ProgramKind kind);
  /// Fails with a diagnostic where a value is read that nothing wrote.
  LogicalResult run();

  const Written *find(ModelValues::Result result) const {
    auto found = written.find(result);
    return found == written.end() ? nullptr : &found->second;
  }
  const std::optional<Stranger> &getFirstStranger() const { return stranger; }

private:
  using Place = MachineMemory::Place;

  struct Rank {
    explicit Rank(const StageGraph &graph) : overlaps(graph, Rule::S8) {}

    OverlapChecker overlaps;
    std::vector<ProgramAction> actions;
    size_t next = 0;
    MachineMemory memory;
    /// What the runtime has filled: inputs and random keys.
    llvm::DenseSet<std::pair<Attribute, int64_t>> filled;
  };

  /// Runs the rank until it ends or a message is missing.
  LogicalResult advance(Rank &rank);
  LogicalResult runTask(Rank &rank, const ProgramAction &action);
  LogicalResult exchange(Rank &rank, const ProgramAction &action);
  LogicalResult checkApart(Rank &rank, pp::TaskOp task,
                           const ProgramAction &action);
  FailureOr<int64_t> read(Rank &rank, pp::BindingAttr binding,
                          const ProgramAction &action);
  LogicalResult write(Rank &rank, pp::BindingAttr binding, int64_t number,
                      const ProgramAction &action);
  int64_t compute(Operation &op, llvm::DenseMap<Value, int64_t> &values,
                  const ProgramAction &action);
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

LogicalResult ProgramMachine::readArenas(ModuleOp module,
                                         pp::ProgramKind kind) {
  for (auto arena : module.getOps<pp::ArenaOp>()) {
    if (arena.getRank() >= ranks.size())
      return arena.emitError(getName(Rule::S8))
             << ": there is no rank " << arena.getRank() << "; there are "
             << ranks.size();
    if (failed(ranks[arena.getRank()].memory.readArena(
            arena, microbatches, kind == pp::ProgramKind::Eval)))
      return failure();
  }
  return success();
}

/// "task 's0.f' of micro-batch 3", "what arrives for micro-batch 3".
static std::string describe(const ProgramAction &action) {
  std::string microbatch =
      (" of micro-batch " + Twine(action.microbatch)).str();
  if (auto run = dyn_cast<pp::RunOp>(action.op))
    return ("task '" + run.getSymbol() + "'" + microbatch).str();
  if (auto exchange = dyn_cast<pp::AllToAllOp>(action.op))
    return ("exchange '" + exchange.getSymbol() + "'" + microbatch).str();
  return "the message" + microbatch;
}

/// Says that \p action does not find what it reads at \p place.
static LogicalResult reportUnwritten(const MachineMemory &memory,
                                     const MachineMemory::Place &place,
                                     const ProgramAction &action) {
  InFlightDiagnostic diag = action.op->emitError(getName(Rule::S8))
                            << ": reads " << place.binding << " of micro-batch "
                            << action.microbatch;
  const MachineMemory::Cell *cell = memory.findIn(place);
  if (!cell || !cell->writer)
    return diag << ", which nothing has written";
  diag << ", whose memory holds " << cell->place.binding << " of micro-batch "
       << cell->place.microbatch;
  diag.attachNote(cell->writer->op->getLoc())
      << "which was written here, by " << describe(*cell->writer);
  return diag;
}

/// What the runtime makes stays in memory from the first read to the last one.
FailureOr<int64_t> ProgramMachine::read(Rank &rank, pp::BindingAttr binding,
                                        const ProgramAction &action) {
  Place place = rank.memory.getPlace(binding, action.microbatch);
  const MachineMemory::Cell *cell = rank.memory.find(place);
  switch (binding.getKind()) {
  case BindingKind::Parameter:
  case BindingKind::LossScale:
    return table.getLeaf(binding, 0);
  case BindingKind::Gradient:
    return cell && cell->writer ? cell->number : table.getLeaf(binding, 0);
  case BindingKind::Input:
  case BindingKind::RandomKey: {
    int64_t number = table.getLeaf(binding, action.microbatch);
    if (rank.filled.insert({binding, action.microbatch}).second &&
        failed(rank.memory.write(place, number, action)))
      return failure();
    cell = rank.memory.find(place);
    break;
  }
  default:
    break;
  }
  if (!cell)
    return reportUnwritten(rank.memory, place, action);
  return cell->number;
}

LogicalResult ProgramMachine::write(Rank &rank, pp::BindingAttr binding,
                                    int64_t number,
                                    const ProgramAction &action) {
  bool isGradient = binding.getKind() == BindingKind::Gradient;
  written[{binding, isGradient ? 0 : action.microbatch}] = {number, action};
  return rank.memory.write(rank.memory.getPlace(binding, action.microbatch),
                           number, action);
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

/// Fails if two of the buffers that the task uses share memory.
LogicalResult ProgramMachine::checkApart(Rank &rank, pp::TaskOp task,
                                         const ProgramAction &action) {
  SmallVector<Place> places;
  auto add = [&](Attribute binding) {
    Place place =
        rank.memory.getPlace(cast<pp::BindingAttr>(binding), action.microbatch);
    if (place.bytes > 0)
      places.push_back(place);
  };
  llvm::for_each(task.getArgumentBindings(), add);
  llvm::for_each(task.getResultBindings(), add);
  add(task.getWorkspaceBinding());
  auto getKey = [](const Place &place) {
    return std::tuple(place.offset, place.bytes, place.binding.getKind(),
                      place.binding.getName(), place.binding.getIndex());
  };
  llvm::sort(places, [&](const Place &a, const Place &b) {
    return getKey(a) < getKey(b);
  });
  for (auto [place, next] : llvm::zip(places, llvm::drop_begin(places)))
    if (!place.isSame(next) && place.meets(next))
      return action.op->emitError(getName(Rule::S8))
             << ": " << describe(action) << " uses " << place.binding << " and "
             << next.binding << " at the same time, which share memory";
  return success();
}

LogicalResult ProgramMachine::runTask(Rank &rank, const ProgramAction &action) {
  pp::TaskOp task = graph.getTask(cast<pp::RunOp>(action.op).getSymbol());
  if (failed(checkApart(rank, task, action)))
    return failure();
  llvm::DenseMap<Value, int64_t> values;
  for (auto [argument, binding] : llvm::zip_equal(
           task.getBody().getArguments(),
           task.getArgumentBindings().getAsRange<pp::BindingAttr>())) {
    FailureOr<int64_t> number = read(rank, binding, action);
    if (failed(number))
      return failure();
    values[argument] = *number;
  }
  // Whatever the task leaves in its workspace.
  if (failed(rank.memory.write(
          rank.memory.getPlace(task.getWorkspaceBinding(), action.microbatch),
          /*number=*/-1, action)))
    return failure();
  for (Operation &op : task.getBody().front().without_terminator()) {
    int64_t first = compute(op, values, action);
    for (auto [index, result] : llvm::enumerate(op.getResults()))
      values[result] = first + index;
  }
  for (auto [value, binding] :
       llvm::zip_equal(task.getYield().getValues(),
                       task.getResultBindings().getAsRange<pp::BindingAttr>()))
    if (failed(write(rank, binding, values.lookup(value), action)))
      return failure();
  return success();
}

/// All replicas run this program, so each sends what this one would send.
LogicalResult ProgramMachine::exchange(Rank &rank,
                                       const ProgramAction &action) {
  auto op = cast<pp::AllToAllOp>(action.op);
  auto declared = SymbolTable::lookupNearestSymbolFrom<pp::ExchangeOp>(
      op, op.getSymbolAttr());
  auto bind = [&](BindingKind kind) {
    return pp::BindingAttr::get(op.getContext(), kind, op.getSymbol());
  };
  FailureOr<int64_t> sent = read(rank, bind(BindingKind::Sent), action);
  if (failed(sent))
    return failure();
  Attribute operation = ValueTable::identify(
      pp::ExchangedOp::getOperationName(), declared.getType());
  int64_t number = table.getResults(operation, *sent, /*results=*/1);
  return write(rank, bind(BindingKind::Received), number, action);
}

LogicalResult ProgramMachine::advance(Rank &rank) {
  for (; rank.next < rank.actions.size(); ++rank.next) {
    const ProgramAction &action = rank.actions[rank.next];
    if (action.microbatch < 0 || action.microbatch >= microbatches)
      return action.op->emitError(getName(Rule::S8))
             << ": there is no micro-batch " << action.microbatch
             << "; there are " << microbatches;
    auto findPlace = [&](pp::BindingAttr binding, int64_t microbatch) {
      return rank.memory.getPlace(binding, microbatch);
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
    } else if (isa<pp::AllToAllOp>(action.op)) {
      if (failed(exchange(rank, action)))
        return failure();
    } else if (auto recv = dyn_cast<pp::RecvOp>(action.op)) {
      pp::BindingAttr channel = bindChannel(recv.getSymbolAttr());
      auto message = messages.find({channel, action.microbatch});
      if (message == messages.end())
        return success();
      if (failed(write(rank, channel, message->second, action)))
        return failure();
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
    if (failed(machine.readArenas(module, kind)) || failed(machine.run()))
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
