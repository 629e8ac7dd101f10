//===- AttentionScores.cpp - From a product to a softmax
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"

#include "Operands.h"
#include "pipewright/Dialect/NN/Create.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace pipewright;

/// A score that no number which a softmax may meet makes visible again: its
/// exponential is 0 beside any other.
static constexpr double hiddenScore = -1e4;

/// A score that swallows what is added to it: whether it replaces a score or is
/// added to it is one, even where nothing else is left.
static constexpr double absorbingScore = -1e30;

//===----------------------------------------------------------------------===//
// Causal masks
//===----------------------------------------------------------------------===//

/// The constant that \p value repeats, one matrix [\p rows, \p columns] or
/// several; null if it is something else.
static DenseElementsAttr getMatrices(Value value, int64_t rows,
                                     int64_t columns) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::BroadcastOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr matrices;
  if (!matchPattern(value, m_Constant(&matrices)))
    return {};
  ArrayRef<int64_t> shape = getShape(value);
  bool areWhole = shape.size() >= 2 && shape.take_back(2)[0] == rows &&
                  shape.back() == columns;
  return areWhole ? matrices : DenseElementsAttr();
}

/// Whether `isExpected(element, sees)` holds for all \p elements of matrices
/// [\p queries, \p keys], where `sees` tells if the key is not later than the
/// query of a causal attention.
template <typename Range, typename Predicate>
static bool isCausal(int64_t queries, int64_t keys, Range &&elements,
                     Predicate isExpected) {
  int64_t position = 0;
  for (auto element : elements) {
    int64_t query = position / keys % queries, key = position % keys;
    if (!isExpected(element, key <= query + keys - queries))
      return false;
    ++position;
  }
  return true;
}

/// Whether masks of these sizes can be told from others.
static bool canBeCausal(int64_t queries, int64_t keys) {
  return queries > 1 && queries <= keys;
}

/// Whether \p condition is true where a query sees a key that is not later.
static bool isCausalCondition(Value condition, ArrayRef<int64_t> scores) {
  int64_t queries = scores.take_back(2)[0], keys = scores.back();
  DenseElementsAttr matrices = getMatrices(condition, queries, keys);
  return matrices && canBeCausal(queries, keys) &&
         isCausal(queries, keys, matrices.getValues<bool>(),
                  [](bool value, bool sees) { return value == sees; });
}

/// Whether \p addend is 0 where a query sees a key that is not later, and hides
/// all others.
static bool isCausalAddend(Value addend, ArrayRef<int64_t> scores) {
  int64_t queries = scores.take_back(2)[0], keys = scores.back();
  DenseElementsAttr matrices = getMatrices(addend, queries, keys);
  if (!matrices || !canBeCausal(queries, keys) ||
      !isa<FloatType>(matrices.getElementType()))
    return false;
  return isCausal(queries, keys, matrices.getValues<APFloat>(),
                  [](APFloat value, bool sees) {
                    if (sees)
                      return value.isZero();
                    bool losesInfo;
                    value.convert(APFloat::IEEEdouble(),
                                  APFloat::rmNearestTiesToEven, &losesInfo);
                    return value.convertToDouble() <= hiddenScore;
                  });
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Whether the product may be among the ops that compute \p value.
static bool leadsToProduct(Value value) {
  constexpr int maxDistance = 8;
  for (int distance = 0; distance < maxDistance; ++distance) {
    Operation *op = value.getDefiningOp();
    if (!op || isa<nn::MatMulOp>(op))
      return op;
    if (auto choice = dyn_cast<nn::SelectOp>(op)) {
      value = getSplat(choice.getOnTrue()) ? choice.getOnFalse()
                                           : choice.getOnTrue();
    } else if (isa<nn::AddOp>(op)) {
      if (leadsToProduct(op->getOperand(1)))
        return true;
      value = op->getOperand(0);
    } else if (isa<nn::MulOp, nn::DivOp>(op)) {
      value = op->getOperand(getSplat(op->getOperand(0)) ? 1 : 0);
    } else if (isa<nn::ReshapeOp, nn::CastOp, nn::TanhOp>(op)) {
      value = op->getOperand(0);
    } else {
      return false;
    }
  }
  return false;
}

/// Whether masks may meet the scores in the shape \p masked: the one with most
/// axes has one for the heads.
bool AttentionScores::meet(ArrayRef<int64_t> masked) {
  if (masked.size() > shape.size())
    shape.assign(masked.begin(), masked.end());
  // Scale and cap come before the masks, and all are of the same matrices.
  return scale == 1 && !softcap && masked.size() >= 2 &&
         masked.take_back(2) == ArrayRef(shape).take_back(2);
}

bool AttentionScores::skipScale(Value &value) {
  auto scaled = getScaled(value);
  if (!scaled)
    return false;
  scale *= scaled->second;
  value = scaled->first;
  return true;
}

/// What was taken for the scale so far is that of a hyperbolic tangent.
bool AttentionScores::skipCap(nn::TanhOp op, Value &value) {
  if (softcap || !(scale > 0))
    return false;
  softcap = std::exchange(scale, 1);
  value = op.getOperand();
  return true;
}

bool AttentionScores::skipSum(nn::AddOp op, Value &value) {
  if (!meet(getShape(op)))
    return false;
  bool leftLeads = leadsToProduct(op.getLhs());
  value = leftLeads ? op.getLhs() : op.getRhs();
  Value addend = leftLeads ? op.getRhs() : op.getLhs();
  if (isCausalAddend(addend, shape))
    causal = true;
  else
    masks.push_back({addend, {}, pipewright::getShape(op)});
  return true;
}

bool AttentionScores::skipSelection(nn::SelectOp op, Value &value) {
  std::optional<double> onTrue = getSplat(op.getOnTrue()),
                        onFalse = getSplat(op.getOnFalse());
  if (onTrue.has_value() == onFalse.has_value() || !meet(getShape(op)))
    return false;
  value = onTrue ? op.getOnFalse() : op.getOnTrue();
  if (onFalse && *onFalse <= hiddenScore &&
      isCausalCondition(op.getCondition(), shape)) {
    causal = true;
    return true;
  }
  masks.push_back({{},
                   op.getCondition(),
                   pipewright::getShape(op),
                   onTrue.value_or(0),
                   onFalse.value_or(0)});
  return onTrue.value_or(0) + onFalse.value_or(0) <= absorbingScore;
}

FailureOr<AttentionScores> AttentionScores::match(Value value, StringRef &why) {
  AttentionScores scores;
  why = "its scores are no product";
  while (Operation *op = value.getDefiningOp()) {
    if ((scores.product = dyn_cast<nn::MatMulOp>(op))) {
      if (scores.shape.empty())
        scores.shape = llvm::to_vector(pipewright::getShape(value));
      scores.scale *= scores.softcap.value_or(1);
      return scores;
    }
    if (isa<nn::ReshapeOp>(op)) {
      Value source = op->getOperand(0);
      if (pipewright::getShape(source).empty() ||
          pipewright::getShape(source).back() !=
              pipewright::getShape(value).back())
        return failure();
      value = source;
    } else if (isa<nn::CastOp>(op)) {
      value = op->getOperand(0);
    } else if (isa<nn::MulOp, nn::DivOp>(op)) {
      why = "its scores are scaled by more than one number";
      if (!scores.skipScale(value))
        return failure();
    } else if (auto fraction = dyn_cast<nn::TanhOp>(op)) {
      why = "its scores are bounded twice";
      if (!scores.skipCap(fraction, value))
        return failure();
    } else if (auto sum = dyn_cast<nn::AddOp>(op)) {
      why = "a mask is added before the scale or the soft cap, or to other "
            "matrices";
      if (!scores.skipSum(sum, value))
        return failure();
    } else if (auto choice = dyn_cast<nn::SelectOp>(op)) {
      why = "its scores are replaced by others, not hidden";
      if (!scores.skipSelection(choice, value))
        return failure();
    } else {
      break;
    }
    why = "its scores are no product";
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Building the mask
//===----------------------------------------------------------------------===//

/// \p value, of the shape \p masked, with the rank of \p scores and size 1
/// where it is repeated, if that can be.
static Value skipRepetition(Value value, ArrayRef<int64_t> masked,
                            ArrayRef<int64_t> scores, OpBuilder &builder,
                            Location loc) {
  SmallVector<int64_t> shape(getShape(value));
  if (auto broadcast = value.getDefiningOp<nn::BroadcastOp>()) {
    ArrayRef<int64_t> from = getShape(broadcast.getOperand());
    shape.assign(masked.size() - from.size(), 1);
    llvm::append_range(shape, from);
    value = broadcast.getOperand();
  }
  if (masked == scores)
    return nn::createReshape(builder, loc, value, shape);
  // The scores have several axes for one of the mask.
  ArrayRef<int64_t> leading = ArrayRef(shape).drop_back(2);
  SmallVector<int64_t> split(scores.drop_back(2));
  llvm::append_range(split, ArrayRef(shape).take_back(2));
  if (leading == masked.drop_back(2))
    return nn::createReshape(builder, loc, value, split);
  value = nn::createBroadcast(builder, loc, value, masked);
  return nn::createReshape(builder, loc, value, scores);
}

/// Masks are added up as scores are: in f32, or in f64 for operands of f64.
Type AttentionScores::getMaskType() const {
  nn::MatMulOp op = product;
  Type element = getElementTypeOrSelf(op.getType());
  return element.isF64() ? element : Float32Type::get(op.getContext());
}

Value AttentionScores::build(const Mask &mask, OpBuilder &builder,
                             Location loc) const {
  if (mask.addend)
    return skipRepetition(mask.addend, mask.shape, shape, builder, loc);
  Value condition =
      skipRepetition(mask.condition, mask.shape, shape, builder, loc);
  auto element = cast<FloatType>(getMaskType());
  auto type = getTensorType(condition).clone(element);
  auto makeSplat = [&](double number) -> Value {
    auto splat = DenseElementsAttr::get(
        type, Attribute(builder.getFloatAttr(element, number)));
    return nn::ConstantOp::create(builder, loc, type, splat);
  };
  return nn::SelectOp::create(builder, loc, type, condition,
                              makeSplat(mask.onTrue), makeSplat(mask.onFalse));
}

Value AttentionScores::buildMask(OpBuilder &builder, Location loc) const {
  Value sum;
  for (const Mask &mask : masks) {
    Value addend = build(mask, builder, loc);
    if (!sum) {
      sum = addend;
      continue;
    }
    SmallVector<int64_t> common;
    for (auto [left, right] : llvm::zip_equal(getShape(sum), getShape(addend)))
      common.push_back(std::max(left, right));
    auto widen = [&](Value value) {
      return nn::createBroadcast(
          builder, loc, nn::createCast(builder, loc, value, getMaskType()),
          common);
    };
    sum = nn::AddOp::create(builder, loc, widen(sum), widen(addend));
  }
  return sum;
}
