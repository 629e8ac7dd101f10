//===- RotaryEmbedding.cpp - Positions as rotations
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../RotaryPairs.h"

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// Where the heads are: [batch, heads, length, size of a head] stays as it is,
/// [batch, length, all heads] is split.
static int64_t getHeadAxis(OnnxNode &node) {
  return getShape(node.operand(0)).size() == 4 ? 1 : 2;
}

/// The operand with an axis for its \p heads.
static FailureOr<Value> splitHeads(OnnxNode &node, int64_t heads) {
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() == 4)
    return x;
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    return node.emitError() << "cannot split " << x.getType()
                            << " into num_heads=" << heads << " heads";
  return node.getBuilder().reshape(
      x, {shape[0], shape[1], heads, shape[2] / heads});
}

/// How many pairs the node rotates in each head of \p x.
static FailureOr<int64_t> getPairs(OnnxNode &node, Value x) {
  int64_t size = getShape(x)[3];
  int64_t rotated = node.getInt("rotary_embedding_dim", 0);
  if (rotated == 0)
    rotated = size;
  if (rotated < 0 || rotated > size || rotated % 2 != 0)
    return node.emitError() << "cannot rotate pairs in " << rotated << " of "
                            << size << " numbers";
  return rotated / 2;
}

/// The rotated operand; as many pairs as the node says need angles.
static FailureOr<Value> rotate(OnnxNode &node, Value x,
                               const RotaryAngles &angles) {
  FailureOr<int64_t> pairs = getPairs(node, x);
  if (failed(pairs))
    return failure();
  ArrayRef<int64_t> shape = getShape(angles.cosine);
  if (shape.empty() || shape.back() != *pairs)
    return node.emitError()
           << "cannot rotate " << *pairs << " pairs in each head of "
           << node.operand(0).getType() << " by angles "
           << angles.cosine.getType();
  FailureOr<Value> result = rotatePairs(node, x, angles, getHeadAxis(node),
                                        node.getInt("interleaved", 0) != 0);
  if (failed(result))
    return failure();
  return node.getBuilder().reshape(*result, getShape(node.operand(0)));
}

//===----------------------------------------------------------------------===//
// ONNX's own
//===----------------------------------------------------------------------===//

static FailureOr<Value> importRotaryEmbedding(OnnxNode &node) {
  FailureOr<Value> x = splitHeads(node, node.getInt("num_heads", 0));
  if (failed(x))
    return failure();
  FailureOr<RotaryAngles> angles =
      RotaryAngles{node.operand(1), node.operand(2)};
  // Angles are no weights.
  node.getContext().keepFixed(node.operand(1));
  node.getContext().keepFixed(node.operand(2));
  if (node.hasOperand(3))
    angles =
        lookUpAngles(node, node.operand(1), node.operand(2), node.operand(3));
  if (failed(angles))
    return failure();
  return rotate(node, *x, *angles);
}

//===----------------------------------------------------------------------===//
// com.microsoft
//===----------------------------------------------------------------------===//

/// Positions are those of all numbers, or the first one's if there is one.
static FailureOr<RotaryAngles> getAngles(OnnxNode &node, Value x) {
  NNBuilder &b = node.getBuilder();
  Value positions = node.operand(1);
  Value cosines = node.operand(2), sines = node.operand(3);
  int64_t batch = getShape(x)[0], length = getShape(x)[3 - getHeadAxis(node)];
  ArrayRef<int64_t> shape = getShape(positions);
  if (shape == ArrayRef<int64_t>{batch, length})
    return lookUpAngles(node, cosines, sines, positions);
  if (shape != ArrayRef<int64_t>{1})
    return node.emitError()
           << "has positions " << positions.getType() << " for a batch of "
           << batch << " with " << length << " positions";
  if (getConstant(positions)) {
    FailureOr<SmallVector<int64_t>> first = node.getIntegers(1);
    if (failed(first))
      return failure();
    return takeAngles(node, cosines, sines, first->front(), length, batch);
  }
  RankedTensorType type = getTensorType(positions).clone({batch, length});
  Value first = b.broadcast(b.reshape(positions, {1, 1}), type.getShape());
  return lookUpAngles(node, cosines, sines,
                      b.create<nn::AddOp>(first, b.iota(type, /*axis=*/1)));
}

static FailureOr<Value> importMicrosoftRotaryEmbedding(OnnxNode &node) {
  if (node.getInt("is_packed_batching", 0) != 0)
    return node.emitError()
           << "has is_packed_batching=1, which is not supported";
  // ONNX Runtime has the attribute, but does not use it.
  if (node.getFloat("scale", 1.0) != 1.0)
    return node.emitError() << "has a scale, which is not supported";
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  ArrayRef<int64_t> table = getShape(node.operand(2));
  int64_t heads = node.getInt("num_heads", 0);
  // Without a number of heads the tables say how large a head is.
  if (heads == 0 && shape.size() == 3 && table.size() == 2 && table[1] > 0)
    heads = shape[2] / (2 * table[1]);
  FailureOr<Value> x = splitHeads(node, heads);
  if (failed(x))
    return failure();
  FailureOr<RotaryAngles> angles = getAngles(node, *x);
  if (failed(angles))
    return failure();
  return rotate(node, *x, *angles);
}

namespace pipewright {
void registerRotaryEmbedding(OnnxOpRegistry &registry) {
  registry.add("RotaryEmbedding", /*since=*/23, {3, 4}, importRotaryEmbedding);

  registry.setDomain("com.microsoft");
  registry.add("RotaryEmbedding", /*since=*/1, 4,
               importMicrosoftRotaryEmbedding);
}
} // namespace pipewright
