//===- ExpertRegion.cpp - What a layer computes per expert
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpertRegion.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

DenseElementsAttr ExpertRegions::getSplat(Value value) {
  DenseElementsAttr elements;
  if (matchPattern(value, m_Constant(&elements)) && elements.isSplat())
    return elements;
  return {};
}

static bool hasRows(Value value, int64_t rows) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  return !shape.empty() && shape.front() == rows;
}

/// Whether each of the \p rows rows of the result of \p op is made of the same
/// row of its operands.
static bool keepsRowsApart(Operation *op, int64_t rows) {
  auto has = [rows](Value value) { return hasRows(value, rows); };
  if (op->getNumResults() != 1 || !has(op->getResult(0)) ||
      !llvm::all_of(op->getOperands(), has))
    return false;
  if (op->hasTrait<OpTrait::Elementwise>())
    return true;
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<nn::ReshapeOp, nn::SliceOp, nn::ConcatOp>([](auto) { return true; })
      .Case([](nn::BroadcastOp broadcast) {
        return broadcast.getOperand().getType().getRank() ==
               broadcast.getType().getRank();
      })
      .Case([](nn::TransposeOp transpose) {
        return transpose.getPermutation().front() == 0;
      })
      .Case([](nn::ReduceOp reduce) {
        return !llvm::is_contained(reduce.getAxes(), 0);
      })
      .Default([](Operation *) { return false; });
}

LogicalResult ExpertRegions::fail(Operation *op, const Twine &what) {
  InFlightDiagnostic diag = layer.emitOpError("'")
                            << layer.getName() << "' " << what;
  diag.attachNote(op->getLoc()) << "'" << op->getName() << "' is here";
  return diag;
}

//===----------------------------------------------------------------------===//
// Which ops
//===----------------------------------------------------------------------===//

/// \p ops and all that use their results, directly or not.
ExpertRegions::Ops ExpertRegions::findBehind(const Ops &ops) {
  Ops found = ops;
  for (Operation &op : function.getBody().front().without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value operand) {
          return found.contains(operand.getDefiningOp());
        }))
      found.insert(&op);
  return found;
}

/// \p ops and all whose results they use, directly or not.
ExpertRegions::Ops ExpertRegions::findBefore(const Ops &ops) {
  Ops found = ops;
  for (Operation &op :
       llvm::reverse(function.getBody().front().without_terminator()))
    if (llvm::any_of(op.getUsers(),
                     [&](Operation *user) { return found.contains(user); }))
      found.insert(&op);
  return found;
}

bool ExpertRegions::isParameter(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getArgNumber() >= layer.getArguments().size();
}

/// Whether \p op gives each row a part of a parameter that its expert has for
/// itself, for ops that are \p related to the \p products.
bool ExpertRegions::isBias(nn::GatherOp op, const Ops &products,
                           const Ops &related) {
  if (op.getAxis() != 0 || !isParameter(op.getTable()))
    return false;
  if (llvm::none_of(products, [op](Operation *product) mutable {
        auto other = cast<nn::ExpertMatMulOp>(product);
        return other.getExperts() == op.getIndices() &&
               other.getWeights().getType().getDimSize(0) ==
                   op.getTable().getType().getDimSize(0);
      }))
    return false;
  int64_t rows = op.getType().getDimSize(0);
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return related.contains(user) && keepsRowsApart(user, rows);
  });
}

/// Finds the biases, of which no parameter has uses of another kind: one that
/// has stays whole.
void ExpertRegions::findBiases(const Ops &products) {
  Ops related = findBehind(products);
  for (Operation *op : findBefore(products))
    related.insert(op);
  for (auto gather : function.getBody().getOps<nn::GatherOp>())
    if (llvm::all_of(gather.getTable().getUsers(), [&](Operation *user) {
          auto other = dyn_cast<nn::GatherOp>(user);
          return other && isBias(other, products, related);
        }))
      biases.insert(gather);
}

OpOperand *ExpertRegions::findParameter(Operation *op) const {
  if (auto product = dyn_cast<nn::ExpertMatMulOp>(op))
    return &product.getWeightsMutable();
  if (biases.contains(op))
    return &cast<nn::GatherOp>(op).getTableMutable();
  return nullptr;
}

OpOperand *ExpertRegions::findNumbers(Operation *op) const {
  if (auto product = dyn_cast<nn::ExpertMatMulOp>(op))
    return &product.getExpertsMutable();
  if (biases.contains(op))
    return &cast<nn::GatherOp>(op).getIndicesMutable();
  return nullptr;
}

LogicalResult ExpertRegions::checkWeights(nn::ExpertMatMulOp product) {
  if (!isParameter(product.getWeights()))
    return fail(product, "computes the weights of its experts; only parameters "
                         "can be shared out");
  for (OpOperand &use : product.getWeights().getUses())
    if (!isa<nn::ExpertMatMulOp>(use.getOwner()) ||
        findParameter(use.getOwner()) != &use)
      return fail(use.getOwner(),
                  "uses the weights of all of its experts at once");
  return success();
}

//===----------------------------------------------------------------------===//
// Which region each is in
//===----------------------------------------------------------------------===//

unsigned ExpertRegions::findOrAddRegion(Operation *op, OpOperand &numbers) {
  auto type = cast<RankedTensorType>(findParameter(op)->get().getType());
  int64_t experts = type.getDimSize(0);
  for (auto [index, region] : llvm::enumerate(regions))
    if (region.numbers == numbers.get() && region.experts == experts)
      return index;
  regions.push_back({op->getLoc(), numbers.get(), experts, {}, {}});
  return regions.size() - 1;
}

/// The region of \p op's own experts and of its operands.
FailureOr<unsigned> ExpertRegions::chooseRegion(Operation *op) {
  llvm::SmallSetVector<unsigned, 2> found;
  if (OpOperand *numbers = findNumbers(op))
    found.insert(findOrAddRegion(op, *numbers));
  for (Value operand : op->getOperands())
    if (auto known = regionOf.find(operand.getDefiningOp());
        known != regionOf.end())
      found.insert(known->second);
  if (found.size() == 1)
    return found.front();
  return fail(op, "uses results of experts with experts that were chosen "
                  "otherwise");
}

LogicalResult ExpertRegions::assign(Operation *op) {
  FailureOr<unsigned> region = chooseRegion(op);
  if (failed(region))
    return failure();
  regionOf[op] = *region;
  if (findNumbers(op) || keepsRowsApart(op, regions[*region].countRows()))
    return success();
  return fail(op, "does not keep rows apart between its experts");
}

/// Moves \p op into the region that alone uses it, which has less to be sent
/// then.
void ExpertRegions::takeBroadcast(nn::BroadcastOp op) {
  if (op.use_empty() || isInside(op) || behind.contains(op))
    return;
  unsigned region = regionOf.lookup(*op->user_begin());
  if (llvm::all_of(op->getUsers(),
                   [&](Operation *user) {
                     auto known = regionOf.find(user);
                     return known != regionOf.end() && known->second == region;
                   }) &&
      keepsRowsApart(op, regions[region].countRows()))
    regionOf[op] = region;
}

/// Notes which values of \p op come from outside of its region, and whether its
/// own are used there.
void ExpertRegions::addCrossings(Operation *op) {
  ExpertRegion &region = regions[getRegion(op)];
  OpOperand *parameter = findParameter(op), *numbers = findNumbers(op);
  for (OpOperand &operand : op->getOpOperands())
    if (&operand != parameter && &operand != numbers &&
        !regionOf.contains(operand.get().getDefiningOp()) &&
        !getSplat(operand.get()))
      region.rows.insert(operand.get());
  if (!llvm::all_of(op->getUsers(),
                    [this](Operation *user) { return isInside(user); }))
    region.results.insert(op->getResult(0));
}

LogicalResult ExpertRegions::build() {
  Ops products;
  for (auto product : function.getBody().getOps<nn::ExpertMatMulOp>()) {
    if (failed(checkWeights(product)))
      return failure();
    products.insert(product);
  }
  findBiases(products);
  Ops ends = products;
  for (Operation *bias : biases) {
    ends.insert(bias);
    ends.insert(bias->user_begin(), bias->user_end());
  }
  behind = findBehind(ends);
  Ops before = findBefore(ends);
  for (Operation &op : function.getBody().front().without_terminator())
    if (behind.contains(&op) && before.contains(&op) && failed(assign(&op)))
      return failure();
  for (Operation &op : llvm::reverse(function.getBody().front()))
    if (auto broadcast = dyn_cast<nn::BroadcastOp>(op))
      takeBroadcast(broadcast);
  for (Operation *op : getOps())
    addCrossings(op);
  return success();
}

SmallVector<Operation *> ExpertRegions::getOps() {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    if (isInside(&op))
      ops.push_back(&op);
  return ops;
}

FailureOr<ExpertRegions> ExpertRegions::find(nn::FunctionOp function,
                                             pp::LayerOp layer) {
  ExpertRegions regions(function, layer);
  if (failed(regions.build()))
    return failure();
  return regions;
}
