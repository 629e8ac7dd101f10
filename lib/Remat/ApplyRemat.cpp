//===- ApplyRemat.cpp - Recompute instead of keeping
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Remat/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace pipewright {
#define GEN_PASS_DEF_APPLYREMAT
#include "pipewright/Remat/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

namespace {
using Derivatives = llvm::DenseMap<Attribute, nn::DerivativeOp>;

/// Makes the R task of a stage from its F task.
class StageRemat {
public:
  StageRemat(pp::TaskOp forward, ArrayRef<pp::LayerOp> layers,
             const Derivatives &derivatives);

  LogicalResult run(SymbolTable &symbols);

private:
  LogicalResult copyForward();
  void callRecompute(nn::DerivativeOp derivative, nn::CallOp kept,
                     nn::CallOp copy);
  void readKept();
  pp::BindingAttr keep(Value value);

  pp::TaskOp forward;
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

StageRemat::StageRemat(pp::TaskOp forward, ArrayRef<pp::LayerOp> layers,
                       const Derivatives &derivatives)
    : forward(forward), layers(layers), derivatives(derivatives),
      nextSaved(getNextSaved(forward)) {}

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

/// Makes a copy of F in which all calls make again what their layers' policies
/// say, and notes those that make something else too.
LogicalResult StageRemat::copyForward() {
  recompute = cast<pp::TaskOp>(forward->clone());
  recompute.setSymName((forward.getStage() + ".r").str());
  recompute.setRole(pp::Role::R);
  SmallVector<nn::CallOp> calls(forward.getBody().getOps<nn::CallOp>());
  SmallVector<nn::CallOp> copies(recompute.getBody().getOps<nn::CallOp>());
  if (calls.size() != layers.size())
    return forward.emitOpError("makes ")
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
  for (auto [result, binding] : llvm::zip_equal(forward.getYield().getValues(),
                                                forward.getResultBindings()))
    if (result == value && isSaved(binding))
      return cast<pp::BindingAttr>(binding);
  auto binding =
      pp::BindingAttr::get(forward.getContext(), pp::BindingKind::Saved,
                           forward.getStage(), nextSaved++);
  SmallVector<Attribute> bindings(forward.getResultBindings().getValue());
  bindings.push_back(binding);
  forward.setResultBindingsAttr(ArrayAttr::get(forward.getContext(), bindings));
  forward.getYield().getValuesMutable().append(value);
  return binding;
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
  llvm::BitVector isRemade;
  for (auto [value, binding] : llvm::zip_equal(forward.getYield().getValues(),
                                               forward.getResultBindings()))
    isRemade.push_back(isSaved(binding) && remade.contains(value));
  if (isRemade.none()) {
    recompute.erase();
    return success();
  }
  filterResults(recompute, [&](size_t index) { return isRemade[index]; });
  filterResults(forward, [&](size_t index) { return !isRemade[index]; });
  readKept();
  dropUnusedOps(forward, [](Operation *) {});
  dropUnusedArguments(forward);
  symbols.insert(recompute, std::next(Block::iterator(forward)));
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
  SmallVector<pp::TaskOp> tasks(module.getOps<pp::TaskOp>());
  for (pp::TaskOp task : tasks) {
    if (task.getRole() != pp::Role::F)
      continue;
    FailureOr<ArrayRef<pp::LayerOp>> ofStage =
        getLayers(symbols.lookup<pp::StageOp>(task.getStage()), layers);
    if (failed(ofStage))
      return signalPassFailure();
    bool keepsAll = llvm::all_of(*ofStage, [](pp::LayerOp layer) {
      return layer.getRemat() == pp::RematPolicy::None;
    });
    if (!keepsAll &&
        failed(StageRemat(task, *ofStage, derivatives).run(symbols)))
      return signalPassFailure();
  }
  pp::setPhase(module, pp::Phase::Remat);
}
