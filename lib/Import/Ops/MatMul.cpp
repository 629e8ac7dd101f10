//===- MatMul.cpp - Contractions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Activations.h"

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// NumPy's matmul: an operand with one axis is a row on the left and a column
/// on the right, and loses the added axis again.
static FailureOr<Value> multiply(OnnxNode &node, Value lhs, Value rhs) {
  NNBuilder &b = node.getBuilder();
  SmallVector<int64_t> left(getShape(lhs)), right(getShape(rhs));
  if (left.empty() || right.empty())
    return node.emitError() << "multiplies " << lhs.getType() << " by "
                            << rhs.getType() << "; both need an axis";
  bool isRow = left.size() == 1, isColumn = right.size() == 1;
  if (isRow)
    left.insert(left.begin(), 1);
  if (isColumn)
    right.push_back(1);
  std::optional<SmallVector<int64_t>> batch =
      getBroadcastShape(ArrayRef<int64_t>(left).drop_back(2),
                        ArrayRef<int64_t>(right).drop_back(2));
  if (!batch || left.back() != right[right.size() - 2] ||
      getElementType(lhs) != getElementType(rhs))
    return node.emitError()
           << "cannot multiply " << lhs.getType() << " by " << rhs.getType();
  Value product = b.matmul(b.reshape(lhs, left), b.reshape(rhs, right));
  SmallVector<int64_t> shape(getShape(product));
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return b.reshape(product, shape);
}

static FailureOr<Value> importMatMul(OnnxNode &node) {
  return multiply(node, node.operand(0), node.operand(1));
}

/// alpha A B + beta C, with A and B stored transposed if asked for.
static FailureOr<Value> importGemm(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  // The bias is broadcast, as in later versions.
  node.leaveOut({"broadcast"});
  RankedTensorType left = getTensorType(node.operand(0));
  RankedTensorType right = getTensorType(node.operand(1));
  bool transposeLeft = node.getInt("transA", 0) != 0;
  bool transposeRight = node.getInt("transB", 0) != 0;
  if (left.getRank() != 2 || right.getRank() != 2 ||
      left.getElementType() != right.getElementType() ||
      left.getDimSize(transposeLeft ? 0 : 1) !=
          right.getDimSize(transposeRight ? 1 : 0))
    return node.emitError() << "cannot multiply " << left << " by " << right;
  RankedTensorType type =
      left.clone({left.getDimSize(transposeLeft ? 1 : 0),
                  right.getDimSize(transposeRight ? 0 : 1)});
  Value product = b.create<nn::MatMulOp>(type, node.operand(0), node.operand(1),
                                         transposeLeft, transposeRight);
  product = b.scale(product, node.getFloat("alpha", 1.0));
  if (!node.hasOperand(2))
    return product;
  Value bias = node.operand(2);
  if (getElementType(bias) != type.getElementType() ||
      getBroadcastShape(getShape(bias), type.getShape()) !=
          SmallVector<int64_t>(type.getShape()))
    return node.emitError()
           << "cannot add " << bias.getType() << " to " << type;
  bias = b.scale(bias, node.getFloat("beta", 1.0));
  return b.create<nn::AddOp>(product, b.broadcast(bias, type.getShape()));
}

/// com.microsoft: a Gemm with an activation.
static FailureOr<Value> importFusedGemm(OnnxNode &node) {
  FailureOr<Value> sum = importGemm(node);
  if (failed(sum))
    return failure();
  return applyFusedActivation(node, *sum);
}

/// \p operand with its first axis in front of the last one if \p movesBatch,
/// and then with its last two swapped if \p transposes.
static Value permute(NNBuilder &b, Value operand, bool movesBatch,
                     bool transposes) {
  int64_t rank = getTensorType(operand).getRank();
  if (rank < 2)
    return operand;
  SmallVector<int64_t> permutation = getAllAxes(rank);
  if (movesBatch)
    std::rotate(permutation.begin(), permutation.begin() + 1,
                permutation.end() - 1);
  if (transposes)
    std::swap(permutation[rank - 1], permutation[rank - 2]);
  return b.transpose(operand, permutation);
}

/// com.microsoft: a product with permuted operands, times a number.
static FailureOr<Value> importFusedMatMul(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value lhs = permute(b, node.operand(0), node.getInt("transBatchA", 0) != 0,
                      node.getInt("transA", 0) != 0);
  Value rhs = permute(b, node.operand(1), node.getInt("transBatchB", 0) != 0,
                      node.getInt("transB", 0) != 0);
  FailureOr<Value> product = multiply(node, lhs, rhs);
  if (failed(product))
    return failure();
  return b.scale(*product, node.getFloat("alpha", 1.0));
}

namespace pipewright {
void registerMatMul(OnnxOpRegistry &registry) {
  registry.add("Gemm", /*since=*/1, {2, 3}, importGemm);
  registry.add("MatMul", /*since=*/1, 2, importMatMul);

  registry.setDomain("com.microsoft");
  registry.add("FusedGemm", /*since=*/1, {2, 3}, importFusedGemm);
  registry.add("FusedMatMul", /*since=*/1, 2, importFusedMatMul);
}
} // namespace pipewright
