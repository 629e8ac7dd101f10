//===- Attention.cpp - Finds attention
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// softmax(Q K^T) V with a scale on either factor or on their product, perhaps a
// soft cap, and any number of masks. Masks are added with an axis for the
// heads, products are made with or without one, and heads that share keys are
// repeated keys or rows of one product: all these are the same rows in the same
// order.
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"
#include "Operands.h"

#include "pipewright/Dialect/NN/Create.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// The product with the values
//===----------------------------------------------------------------------===//

/// What \p weights is turned into where only numbers pass and others become 0,
/// as those of a query that sees no key; \p weights if it is not.
static Value skipNanGuard(Value weights) {
  nn::SelectOp guard;
  for (Operation *user : weights.getUsers()) {
    auto choice = dyn_cast<nn::SelectOp>(user);
    if (!choice && !isa<nn::CompareOp>(user))
      return weights;
    guard = choice ? choice : guard;
  }
  if (!guard || guard.getOnFalse() != weights || !isSplat(guard.getOnTrue(), 0))
    return weights;
  auto isNan = guard.getCondition().getDefiningOp<nn::CompareOp>();
  bool guards = isNan && isNan.getPredicate() == nn::Comparison::NotEqual &&
                isNan.getLhs() == weights && isNan.getRhs() == weights &&
                isNan->hasOneUse();
  return guards ? guard.getResult() : weights;
}

/// The product that weights the values by \p softmax and nothing else; null if
/// there is none.
static nn::MatMulOp getWeightedSum(nn::SoftmaxOp softmax) {
  Value weights = skipNanGuard(softmax.getResult());
  while (weights.hasOneUse()) {
    OpOperand &use = *weights.use_begin();
    Operation *user = use.getOwner();
    if (auto product = dyn_cast<nn::MatMulOp>(user))
      return use.getOperandNumber() == 0 && !product.getTransposeLhs()
                 ? product
                 : nn::MatMulOp();
    if (!isa<nn::ReshapeOp, nn::CastOp>(user) ||
        getShape(user->getResult(0)).back() != getShape(weights).back())
      return {};
    weights = user->getResult(0);
  }
  return {};
}

/// Whether a product reads what \p softmax makes, directly or changed.
static bool weightsValues(nn::SoftmaxOp softmax) {
  SmallVector<Operation *> users(softmax->getUsers());
  constexpr size_t maxUsers = 16;
  for (size_t i = 0; i < users.size() && i < maxUsers; ++i) {
    if (isa<nn::MatMulOp>(users[i]))
      return true;
    if (isa<nn::ReshapeOp, nn::CastOp, nn::MulOp, nn::SelectOp>(users[i]))
      llvm::append_range(users, users[i]->getUsers());
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

/// \p value with its last two axes swapped: without a transpose if it is one.
static Value swapLastAxes(Value value, OpBuilder &builder, Location loc) {
  int64_t rank = getShape(value).size();
  SmallVector<int64_t> permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (auto transpose = value.getDefiningOp<nn::TransposeOp>()) {
    permutation = llvm::to_vector(transpose.getPermutation());
    value = transpose.getOperand();
  } else if (auto reshape = value.getDefiningOp<nn::ReshapeOp>()) {
    ArrayRef<int64_t> from = getShape(reshape.getOperand()),
                      to = getShape(value);
    if (from.size() >= 2 && from.take_back(2) == to.take_back(2)) {
      SmallVector<int64_t> shape(to.drop_back(2));
      shape.append({to.back(), to.take_back(2)[0]});
      return nn::createReshape(builder, loc,
                               swapLastAxes(reshape.getOperand(), builder, loc),
                               shape);
    }
  }
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  return nn::createTranspose(builder, loc, value, permutation);
}

/// The value that \p value is a number times; the number goes to \p scale.
static Value skipFactor(Value value, double &scale) {
  auto scaled = getScaled(value);
  if (!scaled)
    return value;
  scale *= scaled->second;
  return scaled->first;
}

/// The heads [batch..., groups, rows, columns] that \p value repeats as heads
/// of the shape \p repeated, each as often in a row; null if it repeats none.
static Value getRepeatedHeads(Value value, ArrayRef<int64_t> repeated,
                              OpBuilder &builder, Location loc) {
  while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
    value = reshape.getOperand();
  auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
  size_t rank = repeated.size(), heads = rank - 3;
  if (!broadcast || getShape(value).size() != rank + 1)
    return {};
  ArrayRef<int64_t> split = getShape(value);
  SmallVector<int64_t> joined(split.take_front(heads)), single(split);
  joined.push_back(split[heads] * split[heads + 1]);
  llvm::append_range(joined, split.take_back(2));
  single[heads + 1] = 1;
  if (ArrayRef(joined) != repeated ||
      getShape(broadcast.getOperand()) != ArrayRef(single))
    return {};
  single.erase(single.begin() + heads + 1);
  return nn::createReshape(builder, loc, broadcast.getOperand(), single);
}

/// \p value, of one matrix for \p headsPerMatrix heads, as heads of an
/// attention of scores \p scores.
static Value getHeads(Value value, ArrayRef<int64_t> scores,
                      int64_t headsPerMatrix, OpBuilder &builder,
                      Location loc) {
  SmallVector<int64_t> shape(scores.drop_back(2));
  shape.back() /= headsPerMatrix;
  llvm::append_range(shape, getShape(value).take_back(2));
  return nn::createReshape(builder, loc, value, shape);
}

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

/// How many heads each matrix of \p product serves; 0 if the heads of \p scores
/// are not rows of its matrices.
static int64_t getHeadsPerMatrix(nn::MatMulOp product,
                                 ArrayRef<int64_t> scores) {
  ArrayRef<int64_t> lhs = getShape(product.getLhs());
  int64_t matrices = ShapedType::getNumElements(lhs.drop_back(2));
  int64_t heads = ShapedType::getNumElements(scores.drop_back(2));
  int64_t rows = lhs[lhs.size() - (product.getTransposeLhs() ? 1 : 2)];
  if (scores.size() < 3 || matrices == 0 || heads % matrices != 0 ||
      heads / matrices * scores.take_back(2)[0] != rows ||
      scores[scores.size() - 3] % (heads / matrices) != 0)
    return 0;
  return heads / matrices;
}

namespace {
struct RaiseAttention : OpRewritePattern<nn::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    // Classifiers have a softmax too.
    if (!weightsValues(op) ||
        int64_t(op.getAxis()) != int64_t(getShape(op).size()) - 1)
      return failure();
    nn::MatMulOp sum = getWeightedSum(op);
    if (!sum)
      return rewriter.notifyMatchFailure(
          op, "its weights are changed or read elsewhere");
    StringRef why;
    FailureOr<AttentionScores> scores =
        AttentionScores::match(op.getOperand(), why);
    if (failed(scores))
      return rewriter.notifyMatchFailure(op, why);
    int64_t shared = getHeadsPerMatrix(scores->product, scores->shape);
    if (shared == 0 || getHeadsPerMatrix(sum, scores->shape) != shared ||
        getElementTypeOrSelf(sum.getType()) !=
            getElementTypeOrSelf(scores->product.getLhs()) ||
        getElementTypeOrSelf(sum.getRhs()) !=
            getElementTypeOrSelf(scores->product.getLhs()))
      return rewriter.notifyMatchFailure(
          op, "its two products differ in heads or types");
    replace(*scores, sum, shared, rewriter);
    return success();
  }

  static void replace(const AttentionScores &scores, nn::MatMulOp sum,
                      int64_t shared, PatternRewriter &rewriter) {
    Location loc = sum.getLoc();
    rewriter.setInsertionPoint(sum);
    nn::MatMulOp product = scores.product;
    double scale = scores.scale;
    Value query = skipFactor(product.getLhs(), scale);
    if (product.getTransposeLhs())
      query = skipFactor(swapLastAxes(query, rewriter, loc), scale);
    Value key = skipFactor(product.getRhs(), scale);
    if (!product.getTransposeRhs())
      key = skipFactor(swapLastAxes(key, rewriter, loc), scale);
    Value value = sum.getRhs();
    if (sum.getTransposeRhs())
      value = swapLastAxes(value, rewriter, loc);

    ArrayRef<int64_t> shape = scores.shape;
    SmallVector<int64_t> queries(shape);
    queries.back() = getShape(query).back();
    query = nn::createReshape(rewriter, loc, query, queries);
    key = getHeads(key, shape, shared, rewriter, loc);
    value = getHeads(value, shape, shared, rewriter, loc);
    Value fewKeys = getRepeatedHeads(key, getShape(key), rewriter, loc);
    Value fewValues = getRepeatedHeads(value, getShape(value), rewriter, loc);
    if (fewKeys && fewValues &&
        getShape(fewKeys).drop_back() == getShape(fewValues).drop_back()) {
      key = fewKeys;
      value = fewValues;
    }
    SmallVector<int64_t> result(shape);
    result.back() = getShape(value).back();
    Value attention = nn::AttentionOp::create(
        rewriter, loc, getTensorType(query).clone(result), query, key, value,
        scores.buildMask(rewriter, loc), rewriter.getF64FloatAttr(scale),
        scores.causal ? rewriter.getUnitAttr() : UnitAttr(),
        scores.softcap ? rewriter.getF64FloatAttr(*scores.softcap)
                       : FloatAttr());
    rewriter.replaceOp(sum, nn::createReshape(rewriter, loc, attention,
                                              getShape(sum.getResult())));
  }
};
} // namespace

namespace pipewright {
void registerAttention(RewritePatternSet &patterns) {
  patterns.add<RaiseAttention>(patterns.getContext());
}
} // namespace pipewright
