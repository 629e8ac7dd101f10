//===- AbsentRows.cpp - Rows of which only some are there
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AbsentRows.h"

#include "pipewright/Import/NNBuilder.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Where a value has rows: along an axis, on which each takes `width` elements.
struct RowAxis {
  int64_t axis, width;

  bool operator==(const RowAxis &other) const {
    return axis == other.axis && width == other.width;
  }
};

/// Follows rows from their coordinates to where they are scattered. A value has
/// at most one axis of rows; along all others they are independent.
class RowFollower {
public:
  RowFollower(const ConditionalRows &rows, ArrayRef<ConditionalRows> all)
      : rows(rows), all(all), builder(rows.coordinates.getContext()) {
    builder.setInsertionPointAfter(rows.coordinates.getDefiningOp());
  }

  /// Adds nothing for absent rows where they are scattered.
  LogicalResult follow();
  /// After all rows have been followed: multiplies those that are there, unless
  /// that is \p multiplied, and replaces the coordinates by constants.
  void finish(DenseSet<Operation *> &multiplied);

private:
  using Axis = std::optional<RowAxis>;

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

  Axis getScattered(nn::ScatterAddOp op) const;
  bool isSameCondition(Value indices, int64_t width) const;
  LogicalResult mask(nn::ScatterAddOp op);
  Value getNumbers(int64_t number, int64_t count);
  void multiplyPresent(nn::MatMulOp op);
  LogicalResult refuse(Operation *user);

  int64_t getCount() const { return getShape(rows.condition)[0]; }

  const ConditionalRows &rows;
  ArrayRef<ConditionalRows> all;
  OpBuilder builder;
  DenseMap<Value, RowAxis> axes;
  SmallVector<nn::MatMulOp> products;
  /// What names an expert of several for rows that are there.
  DenseMap<std::pair<int64_t, int64_t>, Value> experts;
};
} // namespace

RowFollower::Axis RowFollower::getAxis(Value value) const {
  auto found = axes.find(value);
  return found == axes.end() ? Axis() : Axis(found->second);
}

/// The axis of rows that all operands of \p op with rows have.
RowFollower::Axis RowFollower::getCommonAxis(Operation *op) const {
  Axis common;
  for (Value operand : op->getOperands()) {
    Axis axis = getAxis(operand);
    if (axis && common && !(*axis == *common))
      return std::nullopt;
    if (axis)
      common = axis;
  }
  return common;
}

//===----------------------------------------------------------------------===//
// Ops that keep rows apart
//===----------------------------------------------------------------------===//

/// Elements that follow each other do so in another shape, too: a row may
/// become several axes, or part of one.
RowFollower::Axis RowFollower::follow(nn::ReshapeOp op) {
  ArrayRef<int64_t> from = getShape(op.getOperand());
  ArrayRef<int64_t> to = getShape(op.getResult());
  int64_t axis = getAxis(op.getOperand())->axis;
  int64_t before = ShapedType::getNumElements(from.take_front(axis));
  int64_t product = 1;
  for (int64_t at = 0, rank = to.size(); at < rank; ++at) {
    if (product == before && to[at] % getCount() == 0)
      return RowAxis{at, to[at] / getCount()};
    product *= to[at];
  }
  return std::nullopt;
}

RowFollower::Axis RowFollower::follow(nn::TransposeOp op) {
  RowAxis from = *getAxis(op.getOperand());
  ArrayRef<int64_t> order = op.getPermutation();
  return RowAxis{llvm::find(order, from.axis) - order.begin(), from.width};
}

RowFollower::Axis RowFollower::follow(nn::BroadcastOp op) {
  ArrayRef<int64_t> from = getShape(op.getOperand());
  ArrayRef<int64_t> to = getShape(op.getResult());
  RowAxis axis = *getAxis(op.getOperand());
  int64_t size = from[axis.axis];
  axis.axis += to.size() - from.size();
  return to[axis.axis] == size ? Axis(axis) : std::nullopt;
}

RowFollower::Axis RowFollower::follow(nn::SliceOp op) {
  RowAxis axis = *getAxis(op.getOperand());
  return getShape(op.getOperand())[axis.axis] ==
                 getShape(op.getResult())[axis.axis]
             ? Axis(axis)
             : std::nullopt;
}

RowFollower::Axis RowFollower::follow(nn::ConcatOp op) {
  Axis axis = getCommonAxis(op);
  return axis && axis->axis != int64_t(op.getAxis()) ? axis : std::nullopt;
}

RowFollower::Axis RowFollower::follow(nn::GatherOp op) {
  Axis table = getAxis(op.getTable()), indices = getAxis(op.getIndices());
  int64_t axis = op.getAxis();
  if (!table)
    return RowAxis{axis + indices->axis, indices->width};
  if (indices || table->axis == axis)
    return std::nullopt;
  if (table->axis > axis)
    table->axis += getShape(op.getIndices()).size() - 1;
  return table;
}

RowFollower::Axis RowFollower::follow(nn::MatMulOp op) {
  int64_t rank = op.getResult().getType().getRank();
  Axis lhs = getAxis(op.getLhs()), rhs = getAxis(op.getRhs());
  int64_t lhsInner = rank - (op.getTransposeLhs() ? 2 : 1);
  int64_t rhsInner = rank - (op.getTransposeRhs() ? 1 : 2);
  if ((lhs && lhs->axis == lhsInner) || (rhs && rhs->axis == rhsInner))
    return std::nullopt;
  bool areRows = lhs && lhs->axis == rank - 2 && lhs->width == 1;
  if (rank == 2 && areRows && !rhs)
    products.push_back(op);
  if (lhs && lhs->axis >= rank - 2)
    lhs->axis = rank - 2;
  if (rhs && rhs->axis >= rank - 2)
    rhs->axis = rank - 1;
  if (lhs && rhs && !(*lhs == *rhs))
    return std::nullopt;
  return lhs ? lhs : rhs;
}

RowFollower::Axis RowFollower::follow(nn::ReduceOp op) {
  RowAxis axis = *getAxis(op.getOperand());
  if (llvm::is_contained(op.getAxes(), axis.axis))
    return std::nullopt;
  auto isBefore = [&](int64_t other) { return other < axis.axis; };
  return RowAxis{axis.axis - llvm::count_if(op.getAxes(), isBefore),
                 axis.width};
}

template <typename OpTy>
RowFollower::Axis RowFollower::followAlong(OpTy op) {
  Axis axis = getAxis(op.getOperand());
  return axis->axis != int64_t(op.getAxis()) ? axis : std::nullopt;
}

/// Statistics have the axes before that of the norm, too.
template <typename OpTy>
RowFollower::Axis RowFollower::followNorm(OpTy op) {
  Axis axis = getAxis(op.getOperand());
  return axis && axis->axis < int64_t(op.getAxis()) ? axis : std::nullopt;
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

/// What a condition is made of, as far as it is the same in another shape.
static Value skipViews(Value condition) {
  while (Operation *op = condition.getDefiningOp()) {
    bool isFlag = isa<nn::CastOp>(op) &&
                  (getElementTypeOrSelf(condition).isInteger(1) ||
                   getElementTypeOrSelf(op->getOperand(0)).isInteger(1));
    if (!isFlag && !isa<nn::ReshapeOp>(op))
      break;
    condition = op->getOperand(0);
  }
  return condition;
}

/// Whether \p repeated is \p condition, each element \p width times.
static bool isRepeated(Value repeated, Value condition, int64_t width) {
  repeated = skipViews(repeated);
  int64_t repeats = 1;
  if (auto broadcast = repeated.getDefiningOp<nn::BroadcastOp>()) {
    ArrayRef<int64_t> from = getShape(broadcast.getOperand());
    ArrayRef<int64_t> to = getShape(repeated);
    if (from.size() != to.size())
      return false;
    while (!from.empty() && from.back() == 1) {
      repeats *= to.back();
      from = from.drop_back();
      to = to.drop_back();
    }
    if (from != to)
      return false;
    repeated = skipViews(broadcast.getOperand());
  }
  return repeats == width && repeated == skipViews(condition);
}

/// Whether what says where rows go, of which each is \p width elements, is
/// there just where they are.
bool RowFollower::isSameCondition(Value indices, int64_t width) const {
  constexpr size_t maxValues = 64;
  llvm::SetVector<Value> values;
  values.insert(indices);
  bool found = false;
  for (size_t at = 0; at < values.size() && at < maxValues; ++at) {
    auto source = llvm::find_if(all, [&](const ConditionalRows &other) {
      return other.coordinates == values[at];
    });
    if (source != all.end()) {
      if (!isRepeated(source->condition, rows.condition, width))
        return false;
      found = true;
    } else if (Operation *op = values[at].getDefiningOp()) {
      values.insert(op->operand_begin(), op->operand_end());
    }
  }
  return found;
}

/// The axis of updates on which there are rows; none if rows that are absent
/// would be missed.
RowFollower::Axis RowFollower::getScattered(nn::ScatterAddOp op) const {
  Axis indices = getAxis(op.getIndices()), updates = getAxis(op.getUpdates());
  int64_t first = op.getAxis();
  if (indices) {
    indices->axis += first;
    return !updates || *updates == *indices ? indices : std::nullopt;
  }
  int64_t last = first + op.getIndices().getType().getRank();
  bool isIndexed = updates->axis >= first && updates->axis < last;
  return isIndexed && isSameCondition(op.getIndices(), updates->width)
             ? updates
             : std::nullopt;
}

/// Adds zeros for absent rows.
LogicalResult RowFollower::mask(nn::ScatterAddOp op) {
  Axis axis = getScattered(op);
  if (!axis)
    return refuse(op);
  OpBuilder here(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getUpdates().getType();
  auto flags = getTensorType(rows.condition);
  SmallVector<int64_t> line(type.getRank(), 1);
  line[axis->axis] = getCount() * axis->width;
  Value isThere = rows.condition;
  if (axis->width != 1) {
    SmallVector<int64_t> wide = {getCount(), axis->width};
    isThere =
        nn::ReshapeOp::create(here, loc, flags.clone({getCount(), 1}), isThere);
    isThere = nn::BroadcastOp::create(here, loc, flags.clone(wide), isThere);
  }
  isThere = nn::ReshapeOp::create(here, loc, flags.clone(line), isThere);
  isThere =
      nn::BroadcastOp::create(here, loc, flags.clone(type.getShape()), isThere);
  auto zeros = DenseElementsAttr::get(
      type, cast<Attribute>(here.getZeroAttr(type.getElementType())));
  Value zero = nn::ConstantOp::create(here, loc, type, zeros);
  op.getUpdatesMutable().assign(
      nn::SelectOp::create(here, loc, type, isThere, op.getUpdates(), zero));
  return success();
}

namespace {
/// The right operand of a product, as one of several matrices.
struct Matrix {
  Value matrices;
  int64_t number = 0;
  bool transposed;
};
} // namespace

/// The matrix that \p op multiplies with, if it is one of several that are one
/// tensor; else the only one of its kind.
static Matrix getMatrix(nn::MatMulOp op) {
  Value rhs = op.getRhs();
  bool transposed = op.getTransposeRhs();
  if (auto transpose = rhs.getDefiningOp<nn::TransposeOp>()) {
    rhs = transpose.getOperand();
    transposed = !transposed;
  }
  auto lookUp = rhs.getDefiningOp<nn::GatherOp>();
  DenseIntElementsAttr number;
  if (lookUp && lookUp.getAxis() == 0 &&
      lookUp.getTable().getType().getRank() == 3 &&
      matchPattern(lookUp.getIndices(), m_Constant(&number))) {
    int64_t position = (*number.begin()).getSExtValue();
    int64_t count = lookUp.getTable().getType().getDimSize(0);
    return {lookUp.getTable(), position < 0 ? position + count : position,
            transposed};
  }
  OpBuilder builder(op);
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, getShape(op.getRhs()));
  Value only = nn::ReshapeOp::create(builder, op.getLoc(),
                                     getTensorType(op.getRhs()).clone(shape),
                                     op.getRhs());
  return {only, 0, op.getTransposeRhs()};
}

/// For each row \p number, or one that is none of \p count for absent rows.
Value RowFollower::getNumbers(int64_t number, int64_t count) {
  Value &numbers = experts[{number, count}];
  if (numbers)
    return numbers;
  auto type = getTensorType(rows.condition).clone(builder.getI64Type());
  auto splat = [&](int64_t value) -> Value {
    auto element = builder.getI64IntegerAttr(value);
    return nn::ConstantOp::create(builder, rows.coordinates.getLoc(), type,
                                  DenseElementsAttr::get(type, element));
  };
  numbers = nn::SelectOp::create(builder, rows.coordinates.getLoc(), type,
                                 rows.condition, splat(number), splat(count));
  return numbers;
}

/// Rows times a matrix, of which those that are absent have no expert.
void RowFollower::multiplyPresent(nn::MatMulOp op) {
  Matrix matrix = getMatrix(op);
  Value numbers = getNumbers(matrix.number, getShape(matrix.matrices)[0]);
  OpBuilder here(op);
  Value product = nn::ExpertMatMulOp::create(
      here, op.getLoc(), op.getResult().getType(), op.getLhs(), matrix.matrices,
      numbers, matrix.transposed);
  op.getResult().replaceAllUsesWith(product);
  op.erase();
}

LogicalResult RowFollower::follow() {
  Operation *source = rows.coordinates.getDefiningOp();
  axes[rows.coordinates] = {/*axis=*/1, /*width=*/1};
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
  return success();
}

void RowFollower::finish(DenseSet<Operation *> &multiplied) {
  for (nn::MatMulOp product : products)
    if (multiplied.insert(product).second)
      multiplyPresent(product);
  // Both of what it selects are the coordinates.
  auto source = rows.coordinates.getDefiningOp<nn::SelectOp>();
  source.getResult().replaceAllUsesWith(source.getOnTrue());
  source.erase();
}

LogicalResult pipewright::removeAbsentRows(ArrayRef<ConditionalRows> all) {
  std::vector<RowFollower> followers;
  bool isValid = true;
  for (const ConditionalRows &rows : all) {
    followers.emplace_back(rows, all);
    isValid &= succeeded(followers.back().follow());
  }
  if (!isValid)
    return failure();
  DenseSet<Operation *> multiplied;
  for (RowFollower &follower : followers)
    follower.finish(multiplied);
  return success();
}
