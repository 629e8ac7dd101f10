//===- Adjoint.cpp - A layer function and its gradients in one
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Training/Adjoint.h"
#include "pipewright/Training/Gradients.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace pipewright;

static void removeEqualOps(nn::FunctionOp function) {
  IRRewriter rewriter(function.getContext());
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
}

void pipewright::simplify(nn::FunctionOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (isa<nn::NNDialect>(op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  // Stopping before the fixed point leaves a correct function.
  (void)applyPatternsGreedily(function, std::move(patterns));
  removeEqualOps(function);
}

namespace {
class AdjointBuilder {
public:
  AdjointBuilder(nn::FunctionOp function, const Activity &activity)
      : activity(activity), registry(GradientRegistry::get()),
        builder(function.getContext()) {
    adjoint.function = function.clone();
    simplify(adjoint.function.get());
  }

  FailureOr<Adjoint> run();

private:
  void addArguments();
  void findVaried();
  LogicalResult differentiate(Operation *op);
  void contribute(Value value, Value gradient, Location loc);
  void collectGradients();
  void mergeEqualOps();
  void widenProducts();

  const Activity &activity;
  const GradientRegistry &registry;
  OpBuilder builder;
  Adjoint adjoint;
  /// Values that depend on an argument whose gradient is wanted.
  DenseSet<Value> varied;
  DenseMap<Value, Value> cotangents;
  /// For each parameter with a gradient, the latest accumulator.
  DenseMap<Value, Value> accumulators;
};
} // namespace

/// Adds accumulators and cotangents to the arguments, and starts from the
/// latter.
void AdjointBuilder::addArguments() {
  Block &body = adjoint.getBody();
  Location loc = adjoint.function->getLoc();
  auto addRole = [&](nn::ValueRole role, int64_t index) {
    adjoint.roles.push_back(
        nn::OperandAttr::get(builder.getContext(), role, index));
  };
  for (BlockArgument argument : body.getArguments())
    addRole(nn::ValueRole::Argument, argument.getArgNumber());
  llvm::BitVector parameters = activity.getParameters();
  for (unsigned index : parameters.set_bits()) {
    Value parameter = body.getArgument(index);
    accumulators[parameter] = body.addArgument(parameter.getType(), loc);
    addRole(nn::ValueRole::Accumulator, index);
  }
  SmallVector<Value> dys(adjoint.results.size());
  for (unsigned index : activity.results.set_bits()) {
    dys[index] = body.addArgument(adjoint.results[index].getType(), loc);
    addRole(nn::ValueRole::Cotangent, index);
  }
  for (auto [result, dy] : llvm::reverse(llvm::zip(adjoint.results, dys)))
    if (dy)
      contribute(result, dy, loc);
}

void AdjointBuilder::findVaried() {
  Block &body = adjoint.getBody();
  for (unsigned index : activity.arguments.set_bits())
    varied.insert(body.getArgument(index));
  for (Operation &op : body.without_terminator()) {
    adjoint.primal.insert(&op);
    if (!llvm::any_of(op.getOpOperands(), [&](OpOperand &operand) {
          return varied.contains(operand.get()) && isDifferentiable(operand);
        }))
      continue;
    for (Value result : op.getResults())
      if (hasGradient(result.getType()))
        varied.insert(result);
  }
}

/// Adds \p gradient to that of \p value; to its accumulator if it is a
/// parameter.
void AdjointBuilder::contribute(Value value, Value gradient, Location loc) {
  if (auto it = accumulators.find(value); it != accumulators.end()) {
    it->second = nn::AccumulateOp::create(builder, loc, it->second, gradient);
    return;
  }
  Value &sum = cotangents[value];
  sum = sum ? nn::AddOp::create(builder, loc, sum, gradient) : gradient;
}

LogicalResult AdjointBuilder::differentiate(Operation *op) {
  SmallVector<Value> dys =
      llvm::map_to_vector(op->getResults(), [&](Value result) {
        return cotangents.lookup(result);
      });
  if (llvm::none_of(dys, [](Value dy) { return dy != nullptr; }))
    return success();
  GradientBuilder gradients(builder, op->getLoc());
  for (OpOperand &operand : llvm::reverse(op->getOpOperands())) {
    if (!varied.contains(operand.get()))
      continue;
    if (!registry.covers(op->getName().getStringRef(),
                         operand.getOperandNumber()))
      return op->emitOpError("has no gradient for operand ")
             << operand.getOperandNumber();
    if (!registry.hasRule(operand))
      continue;
    if (Value gradient = registry.build(operand, dys, gradients))
      contribute(operand.get(), gradient, op->getLoc());
  }
  return success();
}

/// Notes the arguments that got a gradient.
void AdjointBuilder::collectGradients() {
  Block &body = adjoint.getBody();
  for (unsigned index : activity.arguments.set_bits()) {
    Value argument = body.getArgument(index);
    if (index < activity.firstParameter) {
      if (Value gradient = cotangents.lookup(argument)) {
        adjoint.inputs.push_back(index);
        adjoint.inputGradients.push_back(gradient);
      }
      continue;
    }
    Value accumulator = accumulators[argument];
    if (accumulator.getDefiningOp()) {
      adjoint.parameters.push_back(index);
      adjoint.accumulators.push_back(accumulator);
    }
  }
}

/// Makes products that are only converted to f32 in f32. So the gradients of
/// weights are not rounded before they are added up.
void AdjointBuilder::widenProducts() {
  for (Operation &op : llvm::make_early_inc_range(adjoint.getBody())) {
    auto cast = dyn_cast<nn::CastOp>(op);
    if (!cast || !getElementTypeOrSelf(cast.getType()).isF32())
      continue;
    Operation *product = cast.getOperand().getDefiningOp();
    if (!product || !product->hasTrait<nn::Contraction>() ||
        product->getNumResults() != 1 || adjoint.primal.contains(product) ||
        !product->hasOneUse())
      continue;
    product->getResult(0).setType(cast.getType());
    cast.replaceAllUsesWith(product);
    cast.erase();
  }
}

/// Merges equal ops, while the function returns all that is wanted of it.
void AdjointBuilder::mergeEqualOps() {
  Operation *exit = adjoint.getBody().getTerminator();
  for (MutableArrayRef<Value> values :
       {MutableArrayRef<Value>(adjoint.inputGradients),
        MutableArrayRef<Value>(adjoint.accumulators)})
    exit->insertOperands(exit->getNumOperands(), ValueRange(values));
  removeEqualOps(adjoint.function.get());
  widenProducts();

  OperandRange merged = exit->getOperands();
  for (SmallVector<Value> *values :
       {&adjoint.results, &adjoint.inputGradients, &adjoint.accumulators}) {
    *values = llvm::to_vector(merged.take_front(values->size()));
    merged = merged.drop_front(values->size());
  }
}

FailureOr<Adjoint> AdjointBuilder::run() {
  Operation *exit = adjoint.getBody().getTerminator();
  adjoint.results = llvm::to_vector(exit->getOperands());
  findVaried();
  builder.setInsertionPoint(exit);
  addArguments();
  auto ops = llvm::map_to_vector(
      llvm::make_range(adjoint.getBody().begin(), Block::iterator(exit)),
      [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (adjoint.primal.contains(op) && failed(differentiate(op)))
      return failure();
  collectGradients();
  mergeEqualOps();
  return std::move(adjoint);
}

FailureOr<Adjoint> pipewright::buildAdjoint(nn::FunctionOp function,
                                            const Activity &activity) {
  return AdjointBuilder(function, activity).run();
}
