//===- RoutedExperts.cpp - Finds experts that work for tokens of others
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an exporter cannot write down which tokens an expert works on, it
// writes that all experts work on all tokens, and that the results are added
// up with weights that are scattered into a table of zeros: one for each
// expert that a token chose. Such a sum is that over the choices. What an
// expert computes for its tokens alone follows from what it computes for all of
// them: products become products of rows with their experts' matrices, and all
// else is the same for each row.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/NNBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace pipewright;

/// The value of a constant whose elements are all the same, or null.
static SplatElementsAttr getSplat(Value value) {
  SplatElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) ? splat : SplatElementsAttr();
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

namespace {
/// A table of weights for each token and expert: of token t it has weights[t,
/// j] at expert numbers[t, j], added up where numbers repeat, and zeros at the
/// other experts.
struct Routing {
  int64_t experts, tokens, choices;
  Value numbers; ///< [tokens, choices], not negative and below `experts`
  Value weights; ///< [tokens, choices]
};
} // namespace

/// The integer that all elements of \p value are.
static std::optional<int64_t> getIntegerSplat(Value value) {
  SplatElementsAttr splat = getSplat(value);
  if (!splat || !splat.getElementType().isInteger(64))
    return std::nullopt;
  return splat.getSplatValue<int64_t>();
}

/// The number of which all elements of row t of \p value are the t-fold.
static std::optional<int64_t> getRowStep(DenseIntElementsAttr value) {
  int64_t rows = value.getType().getDimSize(0);
  if (!value.getElementType().isInteger(64) || rows < 2 || value.empty())
    return std::nullopt;
  int64_t columns = value.getNumElements() / rows;
  int64_t step = value.getValues<int64_t>()[columns];
  for (auto [at, number] : llvm::enumerate(value.getValues<int64_t>()))
    if (number != int64_t(at) / columns * step)
      return std::nullopt;
  return step;
}

/// The same for what is computed of a constant: if it is large, the importer
/// leaves that to the program.
static std::optional<int64_t> getRowStep(Value value) {
  int64_t factor = 1;
  int64_t rows = getShape(value)[0];
  while (!matchPattern(value, m_Constant())) {
    Value source;
    if (auto product = value.getDefiningOp<nn::MulOp>()) {
      std::optional<int64_t> splat = getIntegerSplat(product.getRhs());
      if (!splat)
        return std::nullopt;
      factor *= *splat;
      source = product.getLhs();
    } else if (value.getDefiningOp<nn::BroadcastOp>() ||
               value.getDefiningOp<nn::ReshapeOp>()) {
      source = value.getDefiningOp()->getOperand(0);
    }
    if (!source || getShape(source).empty() || getShape(source)[0] != rows)
      return std::nullopt;
    value = source;
  }
  DenseIntElementsAttr numbers;
  if (!matchPattern(value, m_Constant(&numbers)))
    return std::nullopt;
  std::optional<int64_t> step = getRowStep(numbers);
  return step ? std::optional(*step * factor) : std::nullopt;
}

/// The numbers of experts in \p positions, which are those of elements of a
/// table with a row of \p experts for each token; null if rows may mix.
static Value matchNumbers(Value positions, int64_t experts) {
  Value numbers = positions;
  if (auto sum = positions.getDefiningOp<nn::AddOp>()) {
    if (getRowStep(sum.getLhs()) == experts)
      numbers = sum.getRhs();
    else if (getRowStep(sum.getRhs()) == experts)
      numbers = sum.getLhs();
    else
      return {};
  } else if (getShape(positions)[0] != 1) {
    return {};
  }
  auto remainder = numbers.getDefiningOp<nn::ModOp>();
  if (!remainder || getIntegerSplat(remainder.getRhs()) != experts)
    return {};
  return numbers;
}

static Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

/// Matches \p factor, which says for each expert and token by what number all
/// that they compute is multiplied.
static std::optional<Routing> matchRouting(Value factor) {
  if (auto broadcast = factor.getDefiningOp<nn::BroadcastOp>()) {
    ArrayRef<int64_t> from = getShape(broadcast.getOperand());
    ArrayRef<int64_t> to = getShape(factor);
    // Only the last axes, which are not of tokens, may be repeated.
    if (from.size() != to.size())
      return std::nullopt;
    while (!from.empty() && from.back() == 1) {
      from = from.drop_back();
      to = to.drop_back();
    }
    if (from != to)
      return std::nullopt;
    factor = broadcast.getOperand();
  }
  auto transpose = skipReshapes(factor).getDefiningOp<nn::TransposeOp>();
  if (!transpose || transpose.getPermutation() != ArrayRef<int64_t>{1, 0})
    return std::nullopt;
  ArrayRef<int64_t> table = getShape(transpose.getOperand());
  auto scatter =
      skipReshapes(transpose.getOperand()).getDefiningOp<nn::ScatterAddOp>();
  if (!scatter || scatter.getResult().getType().getRank() != 1 ||
      scatter.getIndices().getType().getRank() != 2 ||
      scatter.getIndices().getType().getDimSize(0) != table[0])
    return std::nullopt;
  Value numbers = matchNumbers(scatter.getIndices(), table[1]);
  if (!numbers)
    return std::nullopt;
  return Routing{table[1], table[0], getShape(numbers)[1], numbers,
                 scatter.getUpdates()};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

namespace {
/// Makes, of values for all experts and tokens, [experts, tokens..., ...], the
/// rows of those that the routing chose, [tokens * choices, ...].
class RowSelector {
public:
  RowSelector(const Routing &routing, PatternRewriter &rewriter)
      : routing(routing), rewriter(rewriter) {}

  /// Whether `select` can do so.
  bool canSelect(Value value);
  Value select(Value value);
  /// Whether there are products among what was found so far.
  bool hasProducts() const { return foundProduct; }

private:
  std::optional<int64_t> countTokenAxes(ArrayRef<int64_t> shape) const;
  bool canSelectFrom(Operation *op);
  bool canSelectFrom(nn::BroadcastOp op);
  bool canSelectFrom(nn::SliceOp op);
  bool canSelectFrom(nn::MatMulOp op);

  Value selectFrom(Operation *op);
  Value selectFrom(nn::BroadcastOp op);
  Value selectFrom(nn::SliceOp op);
  Value selectFrom(nn::MatMulOp op);

  RankedTensorType getRowsType(Value value) const;
  Value getNumbers(Location loc);
  Value reshape(Location loc, Value value, ArrayRef<int64_t> shape);
  Value broadcast(Location loc, Value value, ArrayRef<int64_t> shape);

  const Routing &routing;
  PatternRewriter &rewriter;
  DenseMap<Value, bool> selectable;
  DenseMap<Value, Value> rows;
  bool foundProduct = false;
};
} // namespace

/// How many axes after the first are of tokens; none if the value is not one
/// for all experts and tokens. Elements that follow each other stay so when
/// they are reshaped, so it does not matter into how many axes tokens are cut.
std::optional<int64_t>
RowSelector::countTokenAxes(ArrayRef<int64_t> shape) const {
  if (shape.size() < 2 || shape[0] != routing.experts)
    return std::nullopt;
  int64_t tokens = 1;
  for (size_t axis = 1; axis < shape.size(); ++axis) {
    tokens *= shape[axis];
    if (tokens == routing.tokens)
      return axis;
  }
  return std::nullopt;
}

bool RowSelector::canSelect(Value value) {
  auto known = selectable.find(value);
  if (known != selectable.end())
    return known->second;
  Operation *op = value.getDefiningOp();
  bool found = op && countTokenAxes(getShape(value)) && canSelectFrom(op);
  return selectable[value] = found;
}

bool RowSelector::canSelectFrom(Operation *op) {
  if (getSplat(op->getResult(0)))
    return true;
  if (op->hasTrait<OpTrait::Elementwise>() || isa<nn::ReshapeOp>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value operand) { return canSelect(operand); });
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<nn::BroadcastOp, nn::SliceOp, nn::MatMulOp>(
          [&](auto known) { return canSelectFrom(known); })
      .Default(false);
}

namespace {
/// How a broadcast repeats a value for all experts and tokens.
struct Repetition {
  SmallVector<int64_t> from; ///< with axes of size 1 for those that lack
  bool isForOneExpert, isForOneToken, isForEachToken;

  Repetition(nn::BroadcastOp op, int64_t tokenAxes) {
    ArrayRef<int64_t> operand = getShape(op.getOperand());
    ArrayRef<int64_t> to = getShape(op.getResult());
    from.assign(to.size() - operand.size(), 1);
    llvm::append_range(from, operand);
    ArrayRef<int64_t> tokens = ArrayRef(from).slice(1, tokenAxes);
    isForOneExpert = from[0] == 1;
    isForOneToken = llvm::all_of(tokens, [](int64_t n) { return n == 1; });
    isForEachToken = tokens == to.slice(1, tokenAxes);
  }
};
} // namespace

bool RowSelector::canSelectFrom(nn::BroadcastOp op) {
  Repetition repetition(op, *countTokenAxes(getShape(op.getResult())));
  return repetition.isForOneExpert || repetition.isForOneToken ||
         (repetition.isForEachToken && canSelect(op.getOperand()));
}

/// Of neither experts nor tokens may there be only some.
bool RowSelector::canSelectFrom(nn::SliceOp op) {
  ArrayRef<int64_t> shape = getShape(op.getResult());
  int64_t kept = 1 + *countTokenAxes(shape);
  return shape.take_front(kept) == getShape(op.getOperand()).take_front(kept) &&
         canSelect(op.getOperand());
}

bool RowSelector::canSelectFrom(nn::MatMulOp op) {
  // Tokens are the rows of one matrix of each expert.
  bool found = op.getResult().getType().getRank() == 3 &&
               !op.getTransposeLhs() && canSelect(op.getLhs());
  foundProduct |= found;
  return found;
}

RankedTensorType RowSelector::getRowsType(Value value) const {
  ArrayRef<int64_t> shape = getShape(value);
  SmallVector<int64_t> kept = {routing.tokens * routing.choices};
  llvm::append_range(kept, shape.drop_front(1 + *countTokenAxes(shape)));
  return getTensorType(value).clone(kept);
}

Value RowSelector::reshape(Location loc, Value value, ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  return nn::ReshapeOp::create(rewriter, loc, getTensorType(value).clone(shape),
                               value);
}

Value RowSelector::broadcast(Location loc, Value value,
                             ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  return nn::BroadcastOp::create(rewriter, loc,
                                 getTensorType(value).clone(shape), value);
}

Value RowSelector::getNumbers(Location loc) {
  return reshape(loc, routing.numbers, {routing.tokens * routing.choices});
}

Value RowSelector::select(Value value) {
  auto known = rows.find(value);
  if (known != rows.end())
    return known->second;
  Value selected = selectFrom(value.getDefiningOp());
  return rows[value] = selected;
}

Value RowSelector::selectFrom(Operation *op) {
  Value value = op->getResult(0);
  RankedTensorType type = getRowsType(value);
  if (SplatElementsAttr splat = getSplat(value))
    return nn::ConstantOp::create(rewriter, op->getLoc(), type,
                                  splat.resizeSplat(type));
  if (auto reshaped = dyn_cast<nn::ReshapeOp>(op))
    return reshape(op->getLoc(), select(reshaped.getOperand()),
                   type.getShape());
  if (op->hasTrait<OpTrait::Elementwise>()) {
    IRMapping operands;
    for (Value operand : op->getOperands())
      operands.map(operand, select(operand));
    Operation *copy = rewriter.clone(*op, operands);
    copy->getResult(0).setType(type);
    return copy->getResult(0);
  }
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<nn::BroadcastOp, nn::SliceOp, nn::MatMulOp>(
          [&](auto known) { return selectFrom(known); });
}

Value RowSelector::selectFrom(nn::BroadcastOp op) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> to = getShape(op.getResult());
  int64_t kept = 1 + *countTokenAxes(to);
  Repetition repetition(op, kept - 1);
  int64_t tokens = routing.tokens, choices = routing.choices;
  // The shape of all that there is for an expert and a token, after those of
  // what it is given for.
  auto appendTo = [&](std::initializer_list<int64_t> shape) {
    SmallVector<int64_t> result(shape);
    llvm::append_range(result, ArrayRef(repetition.from).drop_front(kept));
    return result;
  };
  Value selected;
  if (repetition.isForOneExpert) {
    SmallVector<int64_t> forAll(repetition.from);
    llvm::copy(to.slice(1, kept - 1), forAll.begin() + 1);
    Value each = reshape(loc, op.getOperand(), repetition.from);
    each = reshape(loc, broadcast(loc, each, forAll), appendTo({tokens, 1}));
    selected = reshape(loc, broadcast(loc, each, appendTo({tokens, choices})),
                       appendTo({tokens * choices}));
  } else if (repetition.isForOneToken) {
    Value table = reshape(loc, op.getOperand(), appendTo({routing.experts}));
    selected = nn::GatherOp::create(
        rewriter, loc, getTensorType(table).clone(appendTo({tokens * choices})),
        table, getNumbers(loc), /*axis=*/0);
  } else {
    selected = select(op.getOperand());
  }
  return broadcast(loc, selected, getRowsType(op.getResult()).getShape());
}

Value RowSelector::selectFrom(nn::SliceOp op) {
  // One axis is left of those of experts and tokens.
  int64_t dropped = *countTokenAxes(getShape(op.getResult()));
  Value source = select(op.getOperand());
  return nn::SliceOp::create(rewriter, op.getLoc(), getRowsType(op.getResult()),
                             source, op.getOffsets().drop_front(dropped),
                             op.getStrides().drop_front(dropped));
}

Value RowSelector::selectFrom(nn::MatMulOp op) {
  Location loc = op.getLoc();
  Value lhs = select(op.getLhs());
  return nn::ExpertMatMulOp::create(rewriter, loc, getRowsType(op.getResult()),
                                    lhs, op.getRhs(), getNumbers(loc),
                                    op.getTransposeRhs());
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
struct RaiseRoutedExperts : OpRewritePattern<nn::ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ReduceOp op,
                                PatternRewriter &rewriter) const override {
    auto weighted = op.getOperand().getDefiningOp<nn::MulOp>();
    if (op.getKind() != nn::Reduction::Sum ||
        op.getAxes() != ArrayRef<int64_t>{0} || !weighted)
      return rewriter.notifyMatchFailure(op, "adds up no weighted experts");
    Value results = weighted.getLhs();
    std::optional<Routing> routing = matchRouting(weighted.getRhs());
    if (!routing) {
      results = weighted.getRhs();
      routing = matchRouting(weighted.getLhs());
    }
    if (!routing || routing->choices >= routing->experts)
      return rewriter.notifyMatchFailure(op, "needs all experts");
    RowSelector selector(*routing, rewriter);
    if (!selector.canSelect(results) || !selector.hasProducts())
      return rewriter.notifyMatchFailure(op, "mixes experts or tokens");

    Value rows = selector.select(results);
    rewriter.replaceOp(op, combine(op, *routing, rows, rewriter));
    return success();
  }

private:
  /// The sum over a token's choices of \p rows times their weights.
  static Value combine(nn::ReduceOp op, const Routing &routing, Value rows,
                       PatternRewriter &rewriter) {
    Location loc = op.getLoc();
    ArrayRef<int64_t> row = getShape(rows).drop_front();
    SmallVector<int64_t> shape = {routing.tokens, routing.choices};
    SmallVector<int64_t> one(shape);
    one.append(row.size(), 1);
    llvm::append_range(shape, row);
    RankedTensorType type = getTensorType(rows).clone(shape);
    Value perChoice = nn::ReshapeOp::create(rewriter, loc, type, rows);
    Value factor = nn::ReshapeOp::create(
        rewriter, loc, getTensorType(rows).clone(one), routing.weights);
    factor = nn::BroadcastOp::create(rewriter, loc, type, factor);
    Value weighted = nn::MulOp::create(rewriter, loc, perChoice, factor);
    shape.erase(shape.begin() + 1);
    Value sum = nn::ReduceOp::create(rewriter, loc, type.clone(shape),
                                     nn::Reduction::Sum, weighted,
                                     ArrayRef<int64_t>{1});
    return nn::ReshapeOp::create(rewriter, loc, op.getType(), sum);
  }
};
} // namespace

namespace pipewright {
void registerRoutedExperts(RewritePatternSet &patterns) {
  patterns.add<RaiseRoutedExperts>(patterns.getContext());
}
} // namespace pipewright
