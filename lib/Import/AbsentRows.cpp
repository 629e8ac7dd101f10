//===- AbsentRows.cpp - Rows of which only some are there
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AbsentRows.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static ArrayRef<int64_t> getShape(Value value) {
  return getType(value).getShape();
}

namespace {
/// Follows rows from their coordinates to where they are scattered. A value has
/// at most one axis of rows; along all others they are independent.
class RowFollower {
public:
  explicit RowFollower(const ConditionalRows &rows)
      : rows(rows), builder(rows.coordinates.getDefiningOp()) {
    builder.setInsertionPointAfter(rows.coordinates.getDefiningOp());
  }

  LogicalResult run();

private:
  using Axis = std::optional<int64_t>;

  Axis getAxis(Value value) const;
  Axis getCommonAxis(Operation *op) const;

  // The axis of rows of the results; none if the op mixes rows.
  Axis follow(Operation *op);
  Axis follow(nn::ReshapeOp op);
  Axis follow(nn::TransposeOp op);
  Axis follow(nn::BroadcastOp op);
  Axis follow(nn::SliceOp op);
  Axis follow(nn::ConcatOp op);
  Axis follow(nn::GatherOp op);
  Axis follow(nn::MatMulOp op);
  Axis follow(nn::ReduceOp op);
  template <typename OpTy>
  Axis followAlong(OpTy op);
  template <typename OpTy>
  Axis followNorm(OpTy op);

  LogicalResult mask(nn::ScatterAddOp op);
  void multiplyPresent(nn::MatMulOp op);
  LogicalResult refuse(Operation *user);

  int64_t getCount() const { return getShape(rows.condition)[0]; }

  const ConditionalRows &rows;
  OpBuilder builder;
  DenseMap<Value, int64_t> axes;
  SmallVector<nn::MatMulOp> products;
  Value experts; ///< 0 for rows that are there, 1 for the others
};
} // namespace

RowFollower::Axis RowFollower::getAxis(Value value) const {
  auto found = axes.find(value);
  return found == axes.end() ? std::nullopt : Axis(found->second);
}

/// The axis of rows that all operands of \p op with rows have.
RowFollower::Axis RowFollower::getCommonAxis(Operation *op) const {
  Axis common;
  for (Value operand : op->getOperands()) {
    Axis axis = getAxis(operand);
    if (axis && common && *axis != *common)
      return std::nullopt;
    if (axis)
      common = axis;
  }
  return common;
}

//===----------------------------------------------------------------------===//
// Ops that keep rows apart
//===----------------------------------------------------------------------===//

RowFollower::Axis RowFollower::follow(nn::ReshapeOp op) {
  ArrayRef<int64_t> from = getShape(op.getOperand());
  ArrayRef<int64_t> to = getShape(op.getResult());
  int64_t axis = *getAxis(op.getOperand());
  int64_t before = ShapedType::getNumElements(from.take_front(axis));
  int64_t product = 1;
  for (auto [at, size] : llvm::enumerate(to)) {
    if (product == before && size == getCount())
      return at;
    product *= size;
  }
  return std::nullopt;
}

RowFollower::Axis RowFollower::follow(nn::TransposeOp op) {
  ArrayRef<int64_t> order = op.getPermutation();
  return llvm::find(order, *getAxis(op.getOperand())) - order.begin();
}

RowFollower::Axis RowFollower::follow(nn::BroadcastOp op) {
  int64_t axis = *getAxis(op.getOperand()) + getShape(op.getResult()).size() -
                 getShape(op.getOperand()).size();
  if (getShape(op.getResult())[axis] != getCount())
    return std::nullopt;
  return axis;
}

RowFollower::Axis RowFollower::follow(nn::SliceOp op) {
  int64_t axis = *getAxis(op.getOperand());
  if (getShape(op.getResult())[axis] != getCount())
    return std::nullopt;
  return axis;
}

RowFollower::Axis RowFollower::follow(nn::ConcatOp op) {
  Axis axis = getCommonAxis(op);
  return axis && *axis != int64_t(op.getAxis()) ? axis : std::nullopt;
}

RowFollower::Axis RowFollower::follow(nn::GatherOp op) {
  Axis table = getAxis(op.getTable()), indices = getAxis(op.getIndices());
  int64_t axis = op.getAxis();
  if (!table)
    return axis + *indices;
  if (indices || *table == axis)
    return std::nullopt;
  int64_t inserted = getShape(op.getIndices()).size() - 1;
  return *table < axis ? *table : *table + inserted;
}

RowFollower::Axis RowFollower::follow(nn::MatMulOp op) {
  int64_t rank = op.getResult().getType().getRank();
  Axis lhs = getAxis(op.getLhs()), rhs = getAxis(op.getRhs());
  int64_t lhsInner = rank - (op.getTransposeLhs() ? 2 : 1);
  int64_t rhsInner = rank - (op.getTransposeRhs() ? 1 : 2);
  if ((lhs && *lhs == lhsInner) || (rhs && *rhs == rhsInner))
    return std::nullopt;
  Axis left = lhs && *lhs >= rank - 2 ? Axis(rank - 2) : lhs;
  Axis right = rhs && *rhs >= rank - 2 ? Axis(rank - 1) : rhs;
  if (left && right && *left != *right)
    return std::nullopt;
  if (rank == 2 && left && !right && !op.getTransposeLhs())
    products.push_back(op);
  return left ? left : right;
}

RowFollower::Axis RowFollower::follow(nn::ReduceOp op) {
  int64_t axis = *getAxis(op.getOperand());
  if (llvm::is_contained(op.getAxes(), axis))
    return std::nullopt;
  return axis - llvm::count_if(op.getAxes(),
                               [&](int64_t other) { return other < axis; });
}

template <typename OpTy>
RowFollower::Axis RowFollower::followAlong(OpTy op) {
  Axis axis = getAxis(op.getOperand());
  return *axis != int64_t(op.getAxis()) ? axis : std::nullopt;
}

/// Statistics have the axes before that of the norm, too.
template <typename OpTy>
RowFollower::Axis RowFollower::followNorm(OpTy op) {
  Axis axis = getAxis(op.getOperand());
  return axis && *axis < int64_t(op.getAxis()) ? axis : std::nullopt;
}

RowFollower::Axis RowFollower::follow(Operation *op) {
  if (op->hasTrait<OpTrait::Elementwise>())
    return getCommonAxis(op);
  return llvm::TypeSwitch<Operation *, Axis>(op)
      .Case<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp, nn::SliceOp,
            nn::ConcatOp, nn::GatherOp, nn::MatMulOp, nn::ReduceOp>(
          [&](auto known) { return follow(known); })
      .Case<nn::SoftmaxOp, nn::LogSoftmaxOp>(
          [&](auto known) { return followAlong(known); })
      .Case<nn::LayerNormOp, nn::RMSNormOp>(
          [&](auto known) { return followNorm(known); })
      .Default(Axis());
}

//===----------------------------------------------------------------------===//
// Where rows end
//===----------------------------------------------------------------------===//

LogicalResult RowFollower::refuse(Operation *user) {
  InFlightDiagnostic diag = emitError(rows.coordinates.getLoc())
                            << rows.node
                            << " needs to know operand 0 when it is compiled";
  diag.attachNote(user->getLoc())
      << "because how many elements it finds matters here";
  return diag;
}

/// Adds zeros for absent rows.
LogicalResult RowFollower::mask(nn::ScatterAddOp op) {
  Axis indices = getAxis(op.getIndices()), updates = getAxis(op.getUpdates());
  if (!indices)
    return refuse(op);
  int64_t axis = op.getAxis() + *indices;
  if (updates && *updates != axis)
    return refuse(op);
  OpBuilder here(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getUpdates().getType();
  auto flags = getType(rows.condition).clone(type.getShape());
  SmallVector<int64_t> line(type.getRank(), 1);
  line[axis] = getCount();
  Value isThere =
      nn::ReshapeOp::create(here, loc, flags.clone(line), rows.condition);
  isThere = nn::BroadcastOp::create(here, loc, flags, isThere);
  auto zeros = DenseElementsAttr::get(
      type, cast<Attribute>(here.getZeroAttr(type.getElementType())));
  Value zero = nn::ConstantOp::create(here, loc, type, zeros);
  op.getUpdatesMutable().assign(
      nn::SelectOp::create(here, loc, type, isThere, op.getUpdates(), zero));
  return success();
}

/// Rows times a matrix, of which those that are absent have no expert.
void RowFollower::multiplyPresent(nn::MatMulOp op) {
  Location loc = rows.coordinates.getLoc();
  if (!experts) {
    auto type = getType(rows.condition).clone(builder.getI64Type());
    auto splat = [&](int64_t value) -> Value {
      return nn::ConstantOp::create(
          builder, loc, type,
          DenseElementsAttr::get(type, builder.getI64IntegerAttr(value)));
    };
    experts = nn::SelectOp::create(builder, loc, type, rows.condition, splat(0),
                                   splat(1));
  }
  OpBuilder here(op);
  SmallVector<int64_t> one = {1};
  llvm::append_range(one, getShape(op.getRhs()));
  Value matrix = nn::ReshapeOp::create(
      here, op.getLoc(), getType(op.getRhs()).clone(one), op.getRhs());
  Value product = nn::ExpertMatMulOp::create(
      here, op.getLoc(), op.getResult().getType(), op.getLhs(), matrix, experts,
      op.getTransposeRhs());
  op.getResult().replaceAllUsesWith(product);
  op.erase();
}

LogicalResult RowFollower::run() {
  Operation *source = rows.coordinates.getDefiningOp();
  axes[rows.coordinates] = 1;
  for (Operation *op = source->getNextNode(); op; op = op->getNextNode()) {
    auto hasRows = [&](Value operand) { return axes.contains(operand); };
    if (llvm::none_of(op->getOperands(), hasRows))
      continue;
    if (auto scatter = dyn_cast<nn::ScatterAddOp>(op)) {
      if (failed(mask(scatter)))
        return failure();
      continue;
    }
    Axis axis = follow(op);
    if (!axis)
      return refuse(op);
    for (Value result : op->getResults())
      axes[result] = *axis;
  }
  for (nn::MatMulOp product : products)
    multiplyPresent(product);
  // Both of what it selects are the coordinates.
  source->replaceAllUsesWith(
      ValueRange(cast<nn::SelectOp>(source).getOnTrue()));
  source->erase();
  return success();
}

LogicalResult pipewright::removeAbsentRows(const ConditionalRows &rows) {
  return RowFollower(rows).run();
}
