//===- Rotary.cpp - Finds rotary positions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// x cosine + rotate(x) sine. The rotation takes the two numbers of each pair
// apart, negates the second and joins them in the other order: as halves of the
// axis, or as neighbors, which have an axis of their own while they are joined.
//
// Others take the pairs apart first, in any way, and join a cosine - b sine and
// b cosine + a sine as halves.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/Create.h"
#include "pipewright/Import/NNBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

/// The value of which \p half is the first or the \p second number of each
/// pair of the last axis; null if it is something else.
static Value getPairs(Value half, bool second, bool interleaved) {
  auto slice = half.getDefiningOp<nn::SliceOp>();
  if (!slice)
    return {};
  ArrayRef<int64_t> from = getTensorType(slice.getOperand()).getShape();
  SmallVector<int64_t> shape(from);
  if (shape.empty() || shape.back() % 2 != 0)
    return {};
  shape.back() /= 2;
  SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
  offsets.back() = second ? (interleaved ? 1 : shape.back()) : 0;
  strides.back() = interleaved ? 2 : 1;
  bool isHalf = getTensorType(half).getShape() == ArrayRef(shape) &&
                slice.getOffsets() == ArrayRef(offsets) &&
                slice.getStrides() == ArrayRef(strides);
  return isHalf ? slice.getOperand() : Value();
}

/// The value x of which \p concat joins -b and a of each pair (a, b).
static Value getRotated(nn::ConcatOp concat, bool interleaved) {
  if (concat.getParts().size() != 2 ||
      int64_t(concat.getAxis()) !=
          getTensorType(concat.getResult()).getRank() - 1)
    return {};
  Value first = concat.getParts()[0], second = concat.getParts()[1];
  // Neighbors are columns until they are joined.
  auto skipColumn = [&](Value value) -> Value {
    auto reshape = value.getDefiningOp<nn::ReshapeOp>();
    if (!reshape)
      return {};
    SmallVector<int64_t> column(getTensorType(reshape.getOperand()).getShape());
    column.push_back(1);
    return getTensorType(value).getShape() == ArrayRef(column)
               ? reshape.getOperand()
               : Value();
  };
  if (interleaved) {
    first = skipColumn(first);
    second = skipColumn(second);
  }
  // The negation may come before the number gets its own axis, or after.
  auto negation = first ? first.getDefiningOp<nn::NegOp>() : nn::NegOp();
  if (!negation || !second)
    return {};
  Value x = getPairs(negation.getOperand(), /*second=*/true, interleaved);
  Value same = getPairs(second, /*second=*/false, interleaved);
  return x == same ? x : Value();
}

/// The value that \p value rotates, and whether its pairs are neighbors.
static std::pair<Value, bool> getRotated(Value value) {
  if (auto concat = value.getDefiningOp<nn::ConcatOp>())
    return {getRotated(concat, /*interleaved=*/false), false};
  auto reshape = value.getDefiningOp<nn::ReshapeOp>();
  auto concat = reshape ? reshape.getOperand().getDefiningOp<nn::ConcatOp>()
                        : nn::ConcatOp();
  if (!concat)
    return {Value(), false};
  Value x = getRotated(concat, /*interleaved=*/true);
  bool joined = x && x.getType() == value.getType();
  return {joined ? x : Value(), true};
}

/// \p along is x cosine and \p across is rotate(x) sine.
static nn::RotaryOp raise(nn::AddOp op, nn::MulOp along, nn::MulOp across,
                          PatternRewriter &rewriter) {
  for (auto [rotated, sine] : {std::pair{across.getLhs(), across.getRhs()},
                               std::pair{across.getRhs(), across.getLhs()}}) {
    auto [x, interleaved] = getRotated(rotated);
    if (!x || (along.getLhs() != x && along.getRhs() != x))
      continue;
    Value cosine = along.getLhs() == x ? along.getRhs() : along.getLhs();
    return rewriter.replaceOpWithNewOp<nn::RotaryOp>(op, x, cosine, sine,
                                                     interleaved);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

static bool isProduct(Value value, Value lhs, Value rhs) {
  auto product = value.getDefiningOp<nn::MulOp>();
  return product && ((product.getLhs() == lhs && product.getRhs() == rhs) ||
                     (product.getLhs() == rhs && product.getRhs() == lhs));
}

namespace {
/// a cosine - b sine.
struct HalfRotation {
  Value a, cosine, b, sine;

  /// Whether \p op is b cosine + a sine.
  bool isOtherHalf(nn::AddOp op) const {
    return (isProduct(op.getLhs(), b, cosine) &&
            isProduct(op.getRhs(), a, sine)) ||
           (isProduct(op.getRhs(), b, cosine) &&
            isProduct(op.getLhs(), a, sine));
  }
};
} // namespace

/// The rotation of which \p first and \p second are the halves.
static std::optional<HalfRotation> getRotation(nn::SubOp first,
                                               nn::AddOp second) {
  auto along = first.getLhs().getDefiningOp<nn::MulOp>();
  auto across = first.getRhs().getDefiningOp<nn::MulOp>();
  if (!along || !across)
    return std::nullopt;
  for (auto [a, cosine] : {std::pair{along.getLhs(), along.getRhs()},
                           std::pair{along.getRhs(), along.getLhs()}})
    for (auto [b, sine] : {std::pair{across.getLhs(), across.getRhs()},
                           std::pair{across.getRhs(), across.getLhs()}}) {
      HalfRotation rotation{a, cosine, b, sine};
      if (rotation.isOtherHalf(second))
        return rotation;
    }
  return std::nullopt;
}

/// \p first and \p second along their last axis; a value that repeats another
/// and is joined with itself is repeated after it is joined.
static Value join(Value first, Value second, OpBuilder &builder, Location loc) {
  RankedTensorType type = getTensorType(first);
  SmallVector<int64_t> shape(type.getShape());
  shape.back() *= 2;
  auto repeated = first.getDefiningOp<nn::BroadcastOp>();
  if (first == second && repeated) {
    Value source = repeated.getOperand();
    if (getTensorType(source).getRank() > 0 &&
        getTensorType(source).getShape().back() == type.getShape().back())
      return nn::createBroadcast(builder, loc,
                                 join(source, source, builder, loc), shape);
  }
  return nn::ConcatOp::create(builder, loc, type.clone(shape),
                              ValueRange{first, second},
                              /*axis=*/shape.size() - 1);
}

namespace {
struct RaiseHalves : OpRewritePattern<nn::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getParts().size() != 2 ||
        int64_t(op.getAxis()) != getTensorType(op.getResult()).getRank() - 1)
      return failure();
    auto first = op.getParts()[0].getDefiningOp<nn::SubOp>();
    auto second = op.getParts()[1].getDefiningOp<nn::AddOp>();
    auto rotation = first && second ? getRotation(first, second) : std::nullopt;
    if (!rotation || !isa<FloatType>(getElementTypeOrSelf(op.getType())))
      return failure();
    auto joinHalves = [&](Value first, Value second) {
      return join(first, second, rewriter, op.getLoc());
    };
    rewriter.replaceOpWithNewOp<nn::RotaryOp>(
        op, joinHalves(rotation->a, rotation->b),
        joinHalves(rotation->cosine, rotation->cosine),
        joinHalves(rotation->sine, rotation->sine), /*interleaved=*/false);
    return success();
  }
};

struct RaiseRotary : OpRewritePattern<nn::AddOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::AddOp op,
                                PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<nn::MulOp>();
    auto rhs = op.getRhs().getDefiningOp<nn::MulOp>();
    bool raised =
        lhs && rhs &&
        (raise(op, lhs, rhs, rewriter) || raise(op, rhs, lhs, rewriter));
    return success(raised);
  }
};
} // namespace

namespace pipewright {
void registerRotary(RewritePatternSet &patterns) {
  patterns.add<RaiseRotary, RaiseHalves>(patterns.getContext());
}
} // namespace pipewright
