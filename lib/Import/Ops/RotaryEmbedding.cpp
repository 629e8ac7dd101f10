//===- RotaryEmbedding.cpp - Positions as rotations
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// The operand with an axis for its heads: [batch, heads, length, size of a
/// head] as it is, and [batch, length, all heads] split.
static FailureOr<Value> splitHeads(OnnxNode &node) {
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() == 4)
    return x;
  int64_t heads = node.getInt("num_heads", 0);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    return node.emitError() << "cannot split " << x.getType()
                            << " into num_heads=" << heads << " heads";
  return node.getBuilder().reshape(
      x, {shape[0], shape[1], heads, shape[2] / heads});
}

/// Operand \p i, sines or cosines, for all of \p x, of which \p half pairs in
/// a head are rotated.
static FailureOr<Value> getAngles(OnnxNode &node, unsigned i, Value x,
                                  int64_t half) {
  NNBuilder &b = node.getBuilder();
  Value table = node.operand(i), angles = table;
  if (node.hasOperand(3) && getShape(table).size() == 2) {
    SmallVector<int64_t> shape(getShape(node.operand(3)));
    shape.push_back(getShape(table)[1]);
    angles = b.create<nn::GatherOp>(getTensorType(table).clone(shape), table,
                                    node.operand(3), /*axis=*/0);
  }
  SmallVector<int64_t> shape(getShape(x));
  shape[3] = half;
  SmallVector<int64_t> perPosition(shape);
  int64_t headAxis = getShape(node.operand(0)).size() == 4 ? 1 : 2;
  perPosition.erase(perPosition.begin() + headAxis);
  if (getTensorType(angles) != getTensorType(x).clone(perPosition))
    return node.emitError()
           << "cannot rotate " << half << " pairs in each head of "
           << node.operand(0).getType() << " by angles " << table.getType();
  perPosition.insert(perPosition.begin() + headAxis, 1);
  return b.broadcast(b.reshape(angles, perPosition), shape);
}

/// \p size numbers of each head.
static Value takeNumbers(NNBuilder &b, Value x, int64_t offset, int64_t size,
                         int64_t stride) {
  SmallVector<int64_t> sizes(getShape(x));
  sizes[3] = size;
  return b.slice(x, {0, 0, 0, offset}, sizes, {1, 1, 1, stride});
}

static Value join(NNBuilder &b, Value lhs, Value rhs, int64_t axis) {
  SmallVector<int64_t> shape(getShape(lhs));
  shape[axis] += getShape(rhs)[axis];
  return b.create<nn::ConcatOp>(getTensorType(lhs).clone(shape),
                                ValueRange{lhs, rhs}, axis);
}

/// Joins the first and the second numbers of pairs as they were taken apart.
static Value joinPairs(NNBuilder &b, Value first, Value second,
                       bool isInterleaved) {
  if (!isInterleaved)
    return join(b, first, second, /*axis=*/3);
  SmallVector<int64_t> shape(getShape(first)), column(shape);
  column.push_back(1);
  shape[3] *= 2;
  return b.reshape(
      join(b, b.reshape(first, column), b.reshape(second, column), /*axis=*/4),
      shape);
}

static FailureOr<Value> importRotaryEmbedding(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<Value> x = splitHeads(node);
  if (failed(x))
    return failure();
  int64_t size = getShape(*x)[3];
  int64_t rotated = node.getInt("rotary_embedding_dim", 0);
  if (rotated == 0)
    rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0)
    return node.emitError() << "cannot rotate pairs in " << rotated << " of "
                            << size << " numbers";
  int64_t half = rotated / 2;
  FailureOr<Value> cosine = getAngles(node, 1, *x, half);
  FailureOr<Value> sine = getAngles(node, 2, *x, half);
  if (failed(cosine) || failed(sine))
    return failure();

  bool isInterleaved = node.getInt("interleaved", 0) != 0;
  int64_t stride = isInterleaved ? 2 : 1;
  Value first = takeNumbers(b, *x, 0, half, stride);
  Value second = takeNumbers(b, *x, isInterleaved ? 1 : half, half, stride);
  Value newFirst = b.create<nn::SubOp>(b.create<nn::MulOp>(first, *cosine),
                                       b.create<nn::MulOp>(second, *sine));
  Value newSecond = b.create<nn::AddOp>(b.create<nn::MulOp>(first, *sine),
                                        b.create<nn::MulOp>(second, *cosine));
  Value result = joinPairs(b, newFirst, newSecond, isInterleaved);
  if (rotated < size)
    result = join(b, result, takeNumbers(b, *x, rotated, size - rotated, 1),
                  /*axis=*/3);
  return b.reshape(result, getShape(node.operand(0)));
}

namespace pipewright {
void registerRotaryEmbedding(OnnxOpRegistry &registry) {
  registry.add("RotaryEmbedding", /*since=*/23, {3, 4}, importRotaryEmbedding);
}
} // namespace pipewright
