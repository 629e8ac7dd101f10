//===- RotaryPairs.cpp - Positions as rotations
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RotaryPairs.h"

using namespace mlir;
using namespace pipewright;

/// Checks tables of angles, which are not trained.
static LogicalResult takeTables(OnnxNode &node, Value cosines, Value sines) {
  node.getContext().keepFixed(cosines);
  node.getContext().keepFixed(sines);
  if (getShape(cosines).size() == 2 && cosines.getType() == sines.getType())
    return success();
  return node.emitError() << "needs two tables of angles, not "
                          << cosines.getType() << " and " << sines.getType();
}

FailureOr<RotaryAngles> pipewright::lookUpAngles(OnnxNode &node, Value cosines,
                                                 Value sines, Value positions) {
  if (failed(takeTables(node, cosines, sines)))
    return failure();
  NNBuilder &b = node.getBuilder();
  SmallVector<int64_t> shape(getShape(positions));
  shape.push_back(getShape(cosines)[1]);
  auto type = getTensorType(cosines).clone(shape);
  return RotaryAngles{
      b.create<nn::GatherOp>(type, cosines, positions, /*axis=*/0),
      b.create<nn::GatherOp>(type, sines, positions, /*axis=*/0)};
}

FailureOr<RotaryAngles> pipewright::takeAngles(OnnxNode &node, Value cosines,
                                               Value sines, int64_t first,
                                               int64_t length, int64_t batch) {
  if (failed(takeTables(node, cosines, sines)))
    return failure();
  ArrayRef<int64_t> shape = getShape(cosines);
  if (first < 0 || first > shape[0] - length)
    return node.emitError()
           << "needs angles for " << length << " positions from " << first
           << " on, which " << cosines.getType() << " does not have";
  NNBuilder &b = node.getBuilder();
  auto take = [&](Value table) {
    Value rows = b.sliceAxis(table, /*axis=*/0, first, length);
    return b.broadcast(b.reshape(rows, {1, length, shape[1]}),
                       {batch, length, shape[1]});
  };
  return RotaryAngles{take(cosines), take(sines)};
}

/// Joins the first and the second numbers of pairs as they were taken apart.
static Value joinPairs(NNBuilder &b, Value first, Value second,
                       bool isInterleaved) {
  if (!isInterleaved)
    return b.concat({first, second}, /*axis=*/3);
  SmallVector<int64_t> shape(getShape(first)), column(shape);
  column.push_back(1);
  shape[3] *= 2;
  return b.reshape(
      b.concat({b.reshape(first, column), b.reshape(second, column)},
               /*axis=*/4),
      shape);
}

FailureOr<Value> pipewright::rotatePairs(OnnxNode &node, Value x,
                                         const RotaryAngles &angles,
                                         int64_t headAxis, bool isInterleaved) {
  NNBuilder &b = node.getBuilder();
  int64_t pairs = getShape(angles.cosine).back(), size = getShape(x)[3];
  SmallVector<int64_t> shape(getShape(x));
  shape[3] = pairs;
  SmallVector<int64_t> perPosition(shape);
  perPosition.erase(perPosition.begin() + headAxis);
  SmallVector<int64_t> given(getShape(angles.cosine));
  // PyTorch writes angles that all samples share with a batch of one.
  bool fits = getElementType(angles.cosine) == getElementType(x) &&
              given.size() == perPosition.size() &&
              getBroadcastShape(given, perPosition) == perPosition;
  if (2 * pairs > size || !fits ||
      angles.sine.getType() != angles.cosine.getType())
    return node.emitError()
           << "cannot rotate " << pairs << " pairs in each head of "
           << x.getType() << " by angles " << angles.cosine.getType() << " and "
           << angles.sine.getType();
  given.insert(given.begin() + headAxis, 1);
  shape[3] = 2 * pairs;
  auto getPerNumber = [&](Value angle) {
    angle = b.reshape(angle, given);
    return b.broadcast(joinPairs(b, angle, angle, isInterleaved), shape);
  };
  Value turned = b.sliceAxis(x, /*axis=*/3, /*offset=*/0, 2 * pairs);
  Value cosine = getPerNumber(angles.cosine);
  Value sine = getPerNumber(angles.sine);
  Value result = b.create<nn::RotaryOp>(turned, cosine, sine, isInterleaved);
  if (2 * pairs == size)
    return result;
  Value rest = b.sliceAxis(x, /*axis=*/3, 2 * pairs, size - 2 * pairs);
  return b.concat({result, rest}, /*axis=*/3);
}
