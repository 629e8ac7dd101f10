//===- Experts.cpp - Finds products of rows with their experts' matrices
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters write a layer of a mixture of experts as a batch of products in
// which each row has a copy of its expert's weights: a look-up of matrices and
// a batched product. As one op no matrix is copied.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/Create.h"
#include "pipewright/Import/NNBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// Matrices that are looked up by number, one for each product of a batch.
struct LookedUp {
  Value matrices, numbers;
  bool transposed;
};
} // namespace

/// Whether \p op does nothing but swap the last two axes.
static bool swapsLastAxes(nn::TransposeOp op) {
  SmallVector<int64_t> order(op.getPermutation());
  if (order.size() < 2)
    return false;
  std::swap(order[order.size() - 2], order.back());
  return llvm::equal(order, llvm::seq<int64_t>(0, order.size()));
}

/// What \p operand, stored transposed or not, looks up; no matrices if it is
/// something else.
static LookedUp matchLookUp(Value operand, bool transposed) {
  while (auto transpose = operand.getDefiningOp<nn::TransposeOp>()) {
    if (!swapsLastAxes(transpose))
      return {};
    operand = transpose.getOperand();
    transposed = !transposed;
  }
  auto gather = operand.getDefiningOp<nn::GatherOp>();
  if (!gather || gather.getAxis() != 0 ||
      gather.getTable().getType().getRank() != 3 ||
      gather.getTable().getType().getDimSize(0) == 0)
    return {};
  return {gather.getTable(), gather.getIndices(), transposed};
}

/// The numbers of the matrices, each \p count times, in 64 bits.
static Value repeatNumbers(PatternRewriter &rewriter, Location loc,
                           Value numbers, int64_t count) {
  auto type = cast<RankedTensorType>(numbers.getType());
  int64_t batch = type.getNumElements();
  if (!type.getElementType().isInteger(64)) {
    type = type.clone(rewriter.getI64Type());
    numbers = nn::CastOp::create(rewriter, loc, type, numbers);
  }
  numbers = nn::createReshape(rewriter, loc, numbers, {batch, 1});
  if (count != 1)
    numbers = nn::BroadcastOp::create(rewriter, loc, type.clone({batch, count}),
                                      numbers);
  return nn::createReshape(rewriter, loc, numbers, {batch * count});
}

namespace {
struct RaiseExpertMatMul : OpRewritePattern<nn::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    bool lhsColumns = op.getTransposeLhs(), rhsColumns = !op.getTransposeRhs();
    LookedUp right = matchLookUp(op.getRhs(), op.getTransposeRhs());
    if (right.matrices)
      return multiplyRows(op, right, op.getLhs(), lhsColumns,
                          /*canRepeat=*/!lhsColumns, rewriter);
    LookedUp left = matchLookUp(op.getLhs(), op.getTransposeLhs());
    if (!left.matrices)
      return rewriter.notifyMatchFailure(op, "looks up no matrices");
    // A x = (x^T A^T)^T, and a single column is stored like a row.
    left.transposed = !left.transposed;
    return multiplyRows(op, left, op.getRhs(), rhsColumns, /*canRepeat=*/false,
                        rewriter);
  }

private:
  /// Makes \p op a product of the rows of \p operand, or of its columns. More
  /// than one row may have the same matrix if \p canRepeat.
  static LogicalResult multiplyRows(nn::MatMulOp op, const LookedUp &lookedUp,
                                    Value operand, bool columns, bool canRepeat,
                                    PatternRewriter &rewriter) {
    ArrayRef<int64_t> shape = getShape(operand).take_back(2);
    int64_t count = shape[columns ? 1 : 0], depth = shape[columns ? 0 : 1];
    if (count != 1 && !canRepeat)
      return rewriter.notifyMatchFailure(op, "has columns for rows");

    Location loc = op.getLoc();
    auto type = op.getResult().getType();
    int64_t batch = ShapedType::getNumElements(type.getShape().drop_back(2));
    ArrayRef<int64_t> matrix = getShape(lookedUp.matrices);
    int64_t width = matrix[lookedUp.transposed ? 1 : 2];
    Value rows =
        nn::createReshape(rewriter, loc, operand, {batch * count, depth});
    Value numbers = repeatNumbers(rewriter, loc, lookedUp.numbers, count);
    Value product = nn::ExpertMatMulOp::create(
        rewriter, loc, type.clone({batch * count, width}), rows,
        lookedUp.matrices, numbers, lookedUp.transposed);
    rewriter.replaceOp(
        op, nn::createReshape(rewriter, loc, product, type.getShape()));
    return success();
  }
};
} // namespace

namespace {
/// Weights that are stored the other way round need not be turned.
struct AbsorbTranspose : OpRewritePattern<nn::ExpertMatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(nn::ExpertMatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = op.getWeights().getDefiningOp<nn::TransposeOp>();
    if (!transpose || !swapsLastAxes(transpose))
      return rewriter.notifyMatchFailure(op, "has weights as they are stored");
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightsMutable().assign(transpose.getOperand());
      op.setTransposeWeights(!op.getTransposeWeights());
    });
    return success();
  }
};
} // namespace

namespace pipewright {
void registerExperts(RewritePatternSet &patterns) {
  patterns.add<RaiseExpertMatMul, AbsorbTranspose>(patterns.getContext());
}
} // namespace pipewright
