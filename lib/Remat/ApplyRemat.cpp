//===- ApplyRemat.cpp - Recompute instead of keeping
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Remat/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace pipewright {
#define GEN_PASS_DEF_APPLYREMAT
#include "pipewright/Remat/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
using Derivatives = llvm::DenseMap<Attribute, nn::DerivativeOp>;

/// Makes the R task of a stage from the parts of its F task. What replicas
/// have exchanged between these is kept, so R is one task.
class StageRemat {
public:
  StageRemat(ArrayRef<pp::TaskOp> forward, ArrayRef<pp::LayerOp> layers,
             const Derivatives &derivatives);

  LogicalResult run(SymbolTable &symbols);

private:
  void appendPart(pp::TaskOp part);
  LogicalResult copyForward();
  void callRecompute(nn::DerivativeOp derivative, nn::CallOp kept,
                     nn::CallOp copy);
  void readKept();
  pp::BindingAttr keep(Value value);
  void renameShared();

  ArrayRef<pp::TaskOp> forward;
  ArrayRef<pp::LayerOp> layers;
  const Derivatives &derivatives;
  pp::TaskOp recompute;
  /// The values of F that are made again.
  llvm::DenseSet<Value> remade;
  /// Calls of R that stand for those of F, whose results R reads.
  llvm::DenseMap<Operation *, nn::CallOp> keptCalls;
  /// For values that are kept for R alone.
  int64_t nextSaved = 0;
};

struct ApplyRemat : pipewright::impl::ApplyRematBase<ApplyRemat> {
  using ApplyRematBase::ApplyRematBase;
  void runOnOperation() override;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

static bool isSaved(Attribute binding) {
  return cast<pp::BindingAttr>(binding).getKind() == pp::BindingKind::Saved;
}

/// Keeps those results of \p task of which \p predicate, given the number,
/// says so.
static void filterResults(pp::TaskOp task,
                          llvm::function_ref<bool(size_t)> predicate) {
  SmallVector<Value> values;
  SmallVector<Attribute> bindings;
  for (auto [index, value] : llvm::enumerate(task.getYield().getValues())) {
    if (!predicate(index))
      continue;
    values.push_back(value);
    bindings.push_back(task.getResultBinding(index));
  }
  task.getYield().getValuesMutable().assign(values);
  task.setResultBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
}

static void dropUnusedArguments(pp::TaskOp task) {
  Block &body = task.getBody().front();
  SmallVector<Attribute> bindings;
  for (auto [argument, binding] :
       llvm::zip_equal(body.getArguments(), task.getArgumentBindings()))
    if (!argument.use_empty())
      bindings.push_back(binding);
  task.setArgumentBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
  body.eraseArguments(
      [](BlockArgument argument) { return argument.use_empty(); });
}

/// Calls \p visit with the ops of \p task from the last to the first, before
/// it drops those that no result needs.
static void dropUnusedOps(pp::TaskOp task,
                          llvm::function_ref<void(Operation *)> visit) {
  SmallVector<Operation *> ops(
      llvm::make_pointer_range(task.getBody().front().without_terminator()));
  for (Operation *op : llvm::reverse(ops)) {
    visit(op);
    if (op->use_empty())
      op->erase();
  }
}

/// The number after those of all saved values of the stage of \p task.
static int64_t getNextSaved(pp::TaskOp task) {
  int64_t next = 0;
  for (auto other : task->getParentOfType<ModuleOp>().getOps<pp::TaskOp>())
    for (auto binding : other.getResultBindings().getAsRange<pp::BindingAttr>())
      if (other.getStage() == task.getStage() && isSaved(binding))
        next = std::max(next, binding.getIndex() + 1);
  return next;
}

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

StageRemat::StageRemat(ArrayRef<pp::TaskOp> forward,
                       ArrayRef<pp::LayerOp> layers,
                       const Derivatives &derivatives)
    : forward(forward), layers(layers), derivatives(derivatives),
      nextSaved(getNextSaved(forward.front())) {}

/// Has R make the values of a selective layer that its recompute function
/// makes.
void StageRemat::callRecompute(nn::DerivativeOp derivative, nn::CallOp kept,
                               nn::CallOp copy) {
  auto function = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
      derivative, derivative.getRecomputeAttr());
  auto primal = SymbolTable::lookupNearestSymbolFrom<nn::FunctionOp>(
      derivative, derivative.getPrimalAttr());
  int64_t firstSaved = primal.getResultTypes().size();
  SmallVector<Value> operands;
  for (auto operand :
       derivative.getRecomputeOperands().getAsRange<nn::OperandAttr>())
    operands.push_back(
        operand.getRole() == nn::ValueRole::Argument
            ? copy.getOperand(operand.getIndex())
            : Value(copy.getResult(firstSaved + operand.getIndex())));
  OpBuilder builder(copy);
  builder.setInsertionPointAfter(copy);
  auto call =
      nn::CallOp::create(builder, copy.getLoc(), function.getResultTypes(),
                         function.getSymName(), operands);
  unsigned count = call.getNumResults();
  copy.getResults().take_back(count).replaceAllUsesWith(call.getResults());
  remade.insert_range(kept.getResults().take_back(count));
}

/// Adds the ops of \p part to R, and its results. What it reads of earlier
/// parts R has at hand.
void StageRemat::appendPart(pp::TaskOp part) {
  IRMapping mapping;
  SmallVector<Attribute> bindings(recompute.getArgumentBindings().getValue());
  pp::YieldOp yield = recompute.getYield();
  for (auto [argument, binding] : llvm::zip_equal(part.getBody().getArguments(),
                                                  part.getArgumentBindings())) {
    auto made = llvm::find(recompute.getResultBindings(), binding);
    auto *known = llvm::find(bindings, binding);
    if (made != recompute.getResultBindings().end()) {
      mapping.map(argument, yield.getValues()[std::distance(
                                recompute.getResultBindings().begin(), made)]);
    } else if (known != bindings.end()) {
      mapping.map(argument,
                  recompute.getBody().getArgument(known - bindings.begin()));
    } else {
      mapping.map(argument, recompute.getBody().addArgument(argument.getType(),
                                                            argument.getLoc()));
      bindings.push_back(binding);
    }
  }
  recompute.setArgumentBindingsAttr(
      ArrayAttr::get(recompute.getContext(), bindings));
  OpBuilder builder(yield);
  for (Operation &op : part.getBody().front().without_terminator())
    builder.clone(op, mapping);
  for (Value value : part.getYield().getValues())
    yield.getValuesMutable().append(mapping.lookup(value));
  SmallVector<Attribute> results(recompute.getResultBindings().getValue());
  llvm::append_range(results, part.getResultBindings());
  recompute.setResultBindingsAttr(
      ArrayAttr::get(recompute.getContext(), results));
}

/// Makes a copy of F in which all calls make again what their layers' policies
/// say, and notes those that make something else too.
LogicalResult StageRemat::copyForward() {
  pp::TaskOp first = forward.front();
  recompute = cast<pp::TaskOp>(first->clone());
  recompute.setSymName((first.getStage() + ".r").str());
  recompute.setRole(pp::Role::R);
  for (pp::TaskOp part : forward.drop_front())
    appendPart(part);
  SmallVector<nn::CallOp> calls;
  for (pp::TaskOp part : forward)
    llvm::append_range(calls, part.getBody().getOps<nn::CallOp>());
  SmallVector<nn::CallOp> copies(recompute.getBody().getOps<nn::CallOp>());
  if (calls.size() != layers.size())
    return first.emitOpError("makes ")
           << calls.size() << " calls, but its stage has " << layers.size()
           << " layers";
  for (auto [op, call, copy] : llvm::zip_equal(layers, calls, copies)) {
    pp::LayerOp layer = op;
    if (layer.getRemat() == pp::RematPolicy::Full) {
      remade.insert_range(call.getResults());
      continue;
    }
    keptCalls[copy] = call;
    nn::DerivativeOp derivative = derivatives.lookup(layer.getCalleeAttr());
    if (layer.getRemat() == pp::RematPolicy::Selective && derivative &&
        derivative.getRecompute())
      callRecompute(derivative, call, copy);
  }
  return success();
}

/// The binding under which F saves \p value, which it may not have done yet.
pp::BindingAttr StageRemat::keep(Value value) {
  auto task = cast<pp::TaskOp>(value.getParentRegion()->getParentOp());
  for (auto [result, binding] :
       llvm::zip_equal(task.getYield().getValues(), task.getResultBindings()))
    if (result == value && isSaved(binding))
      return cast<pp::BindingAttr>(binding);
  auto binding = pp::BindingAttr::get(task.getContext(), pp::BindingKind::Saved,
                                      task.getStage(), nextSaved++);
  SmallVector<Attribute> bindings(task.getResultBindings().getValue());
  bindings.push_back(binding);
  task.setResultBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
  task.getYield().getValuesMutable().append(value);
  return binding;
}

/// What one part of F makes for another one is not kept for the backward: R
/// makes it again under a number of its own.
void StageRemat::renameShared() {
  SmallVector<Attribute> results(recompute.getResultBindings().getValue());
  for (Attribute &binding : results) {
    if (llvm::none_of(forward, [&](pp::TaskOp part) {
          return llvm::is_contained(part.getResultBindings(), binding);
        }))
      continue;
    Attribute renamed =
        pp::BindingAttr::get(recompute.getContext(), pp::BindingKind::Saved,
                             recompute.getStage(), nextSaved++);
    auto module = pp::TaskOp(forward.front())->getParentOfType<ModuleOp>();
    for (auto task : module.getOps<pp::TaskOp>()) {
      if (task.getStage() != recompute.getStage() ||
          task.getRole() == pp::Role::F)
        continue;
      SmallVector<Attribute> bindings(task.getArgumentBindings().getValue());
      llvm::replace(bindings, binding, renamed);
      task.setArgumentBindingsAttr(ArrayAttr::get(task.getContext(), bindings));
    }
    binding = renamed;
  }
  recompute.setResultBindingsAttr(
      ArrayAttr::get(recompute.getContext(), results));
}

/// Has R read the results of kept calls that it uses, and drops what it does
/// not use.
void StageRemat::readKept() {
  SmallVector<Attribute> bindings(recompute.getArgumentBindings().getValue());
  dropUnusedOps(recompute, [&](Operation *op) {
    nn::CallOp call = keptCalls.lookup(op);
    if (!call)
      return;
    for (auto [copy, value] :
         llvm::zip_equal(op->getResults(), call.getResults())) {
      if (copy.use_empty())
        continue;
      bindings.push_back(keep(value));
      copy.replaceAllUsesWith(
          recompute.getBody().addArgument(value.getType(), value.getLoc()));
    }
  });
  recompute.setArgumentBindingsAttr(
      ArrayAttr::get(recompute.getContext(), bindings));
  dropUnusedArguments(recompute);
}

LogicalResult StageRemat::run(SymbolTable &symbols) {
  if (failed(copyForward())) {
    recompute.erase();
    return failure();
  }
  // Of the results of all parts, which follow each other.
  llvm::BitVector isRemade, isDropped;
  for (pp::TaskOp part : forward)
    for (auto [value, attribute] : llvm::zip_equal(part.getYield().getValues(),
                                                   part.getResultBindings())) {
      Attribute binding = attribute;
      isRemade.push_back(isSaved(binding) && remade.contains(value));
      bool isRead = llvm::any_of(forward, [&](pp::TaskOp reader) {
        return llvm::is_contained(reader.getArgumentBindings(), binding);
      });
      isDropped.push_back(isRemade.back() && !isRead);
    }
  if (isRemade.none()) {
    recompute.erase();
    return success();
  }
  filterResults(recompute, [&](size_t index) { return isRemade[index]; });
  size_t first = 0;
  for (pp::TaskOp part : forward) {
    size_t count = part.getResultBindings().size();
    filterResults(part,
                  [&](size_t index) { return !isDropped[first + index]; });
    first += count;
  }
  renameShared();
  readKept();
  for (pp::TaskOp part : forward) {
    dropUnusedOps(part, [](Operation *) {});
    dropUnusedArguments(part);
  }
  symbols.insert(recompute,
                 std::next(Block::iterator(pp::TaskOp(forward.back()))));
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// The layers of \p stage. Those of direction 1 are numbered on after those of
/// direction 0.
static FailureOr<ArrayRef<pp::LayerOp>>
getLayers(pp::StageOp stage, ArrayRef<pp::LayerOp> layers) {
  uint64_t first = stage.getFirstLayer();
  if (stage.getDirection() == 1)
    first -= layers.size();
  size_t count = stage.getLayers().size();
  if (first <= layers.size() && count <= layers.size() - first)
    return layers.slice(first, count);
  return stage.emitOpError("holds ")
         << count << " layers from number " << stage.getFirstLayer()
         << " on, but the model has " << layers.size();
}

void ApplyRemat::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<pp::LayerOp> layers;
  if (pp::ModelOp model = pp::getModel(module))
    llvm::append_range(layers, model.getBody().getOps<pp::LayerOp>());
  Derivatives derivatives;
  for (auto derivative : module.getOps<nn::DerivativeOp>())
    derivatives[derivative.getPrimalAttr()] = derivative;

  SymbolTable symbols(module);
  llvm::MapVector<StringRef, SmallVector<pp::TaskOp>> forwards;
  for (auto task : module.getOps<pp::TaskOp>())
    if (task.getRole() == pp::Role::F)
      forwards[task.getStage()].push_back(task);
  for (auto &[stage, parts] : forwards) {
    FailureOr<ArrayRef<pp::LayerOp>> ofStage =
        getLayers(symbols.lookup<pp::StageOp>(stage), layers);
    if (failed(ofStage))
      return signalPassFailure();
    bool keepsAll = llvm::all_of(*ofStage, [](pp::LayerOp layer) {
      return layer.getRemat() == pp::RematPolicy::None;
    });
    if (!keepsAll &&
        failed(StageRemat(parts, *ofStage, derivatives).run(symbols)))
      return signalPassFailure();
  }
  pp::setPhase(module, pp::Phase::Remat);
}
