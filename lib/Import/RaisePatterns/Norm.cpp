//===- Norm.cpp - What layer norms have in common
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Norm.h"

#include "Operands.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

/// Whether \p axes are the last ones of a tensor of \p rank.
static bool areLastAxes(ArrayRef<int64_t> axes, int64_t rank) {
  int64_t first = rank - axes.size();
  return !axes.empty() && llvm::equal(axes, llvm::seq<int64_t>(first, rank));
}

/// The value whose square root \p value is the reciprocal of.
static Value getUnderInverseRoot(Value value, const RowStatistics &rows) {
  if (auto inverse = value.getDefiningOp<nn::RsqrtOp>())
    return inverse.getOperand();
  if (Value base = getOperandBesideSplat<nn::PowOp>(value, -0.5))
    return base;
  Value root = getReciprocal(value);
  return root ? getUnderRoot(rows.strip(root)) : Value();
}

/// Completes a core from \p sum, which must be mean(squared^2) + epsilon.
static std::optional<NormCore> matchMeanSquare(Value operand, Value sum,
                                               const RowStatistics &rows) {
  auto add = sum ? rows.strip(sum).getDefiningOp<nn::AddOp>() : nn::AddOp();
  if (!add)
    return std::nullopt;
  for (auto [mean, constant] : {std::pair(add.getLhs(), add.getRhs()),
                                std::pair(add.getRhs(), add.getLhs())}) {
    std::optional<double> epsilon = getSplat(constant);
    Value square = rows.getReduced(mean, nn::Reduction::Mean);
    if (!epsilon || *epsilon < 0 || !square)
      continue;
    if (Value squared = getSquared(square))
      return NormCore{operand, squared, *epsilon, rows};
  }
  return std::nullopt;
}

/// Matches \p operand over or times what is computed from \p divisor.
static std::optional<NormCore> matchNormalization(Value operand, Value divisor,
                                                  bool isProduct) {
  std::optional<RowStatistics> rows = RowStatistics::find(divisor);
  auto type = cast<RankedTensorType>(operand.getType());
  if (!rows || rows->getShape() != type.getShape() ||
      !areLastAxes(rows->getAxes(), type.getRank()))
    return std::nullopt;
  Value perRow = rows->strip(divisor);
  Value sum =
      isProduct ? getUnderInverseRoot(perRow, *rows) : getUnderRoot(perRow);
  return matchMeanSquare(operand, sum, *rows);
}

std::optional<NormCore> pipewright::matchNormCore(Operation *op) {
  if (auto quotient = dyn_cast<nn::DivOp>(op))
    return matchNormalization(quotient.getLhs(), quotient.getRhs(),
                              /*isProduct=*/false);
  auto product = dyn_cast<nn::MulOp>(op);
  if (!product)
    return std::nullopt;
  if (auto core = matchNormalization(product.getLhs(), product.getRhs(),
                                     /*isProduct=*/true))
    return core;
  return matchNormalization(product.getRhs(), product.getLhs(),
                            /*isProduct=*/true);
}

//===----------------------------------------------------------------------===//
// Scale and bias
//===----------------------------------------------------------------------===//

/// A splat of \p type.
static Value makeSplat(RankedTensorType type, double value, OpBuilder &builder,
                       Location loc) {
  auto attribute = builder.getFloatAttr(type.getElementType(), value);
  return nn::ConstantOp::create(builder, loc,
                                DenseElementsAttr::get(type, attribute));
}

/// The value of type \p row that \p value repeats for each row, made at
/// \p builder if it has other axes of size 1; null if the rows of \p value may
/// differ.
static Value getPerColumn(Value value, RankedTensorType row,
                          OpBuilder &builder) {
  Location loc = value.getLoc();
  if (std::optional<double> splat = getSplat(value))
    return makeSplat(row, *splat, builder, loc);
  auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
  if (!broadcast)
    return {};
  Value source = broadcast.getOperand();
  auto type = cast<RankedTensorType>(source.getType());
  int64_t extraAxes = std::max<int64_t>(type.getRank() - row.getRank(), 0);
  if (llvm::any_of(type.getShape().take_front(extraAxes),
                   [](int64_t size) { return size != 1; }))
    return {};
  auto last = type.clone(type.getShape().drop_front(extraAxes));
  if (last != type)
    source = nn::ReshapeOp::create(builder, loc, last, source);
  if (last != row)
    source = nn::BroadcastOp::create(builder, loc, row, source);
  return source;
}

/// The only user of \p op, if it is an \p OpTy whose other operand is one
/// value of type \p row for all rows, and that value.
template <typename OpTy>
static std::pair<OpTy, Value> takeUser(Operation *op, RankedTensorType row,
                                       OpBuilder &builder) {
  if (!op->hasOneUse())
    return {};
  auto user = dyn_cast<OpTy>(*op->user_begin());
  if (!user)
    return {};
  builder.setInsertionPoint(user);
  bool isLhs = user.getLhs() == op->getResult(0);
  Value other = isLhs ? user.getRhs() : user.getLhs();
  if (Value perColumn = getPerColumn(other, row, builder))
    return {user, perColumn};
  return {};
}

NormScale pipewright::takeNormScale(Operation *normalized, const NormCore &core,
                                    bool withBias, OpBuilder &builder) {
  auto type = cast<RankedTensorType>(core.operand.getType());
  auto row = type.clone(type.getShape().drop_front(core.getAxis()));
  NormScale result = {normalized, {}, {}};
  if (auto [product, scale] = takeUser<nn::MulOp>(normalized, row, builder);
      product) {
    result.last = product;
    result.scale = scale;
  }
  if (withBias) {
    if (auto [sum, bias] = takeUser<nn::AddOp>(result.last, row, builder);
        sum) {
      result.last = sum;
      result.bias = bias;
    }
  }
  builder.setInsertionPoint(result.last);
  if (!result.scale)
    result.scale = makeSplat(row, 1, builder, result.last->getLoc());
  return result;
}
