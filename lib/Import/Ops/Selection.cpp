//===- Selection.cpp - Elements that are chosen by known values
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The shapes of these results follow from values, which must be known when the
// model is compiled, unless what is chosen ends up where it came from.
//
//===----------------------------------------------------------------------===//

#include "../AbsentRows.h"

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// Which elements of operand \p i are not 0.
static FailureOr<SmallVector<bool>> getNonZero(OnnxNode &node, unsigned i) {
  DenseElementsAttr known = node.getContext().getKnown(node.operand(i));
  if (!known)
    return node.emitError()
           << "needs to know operand " << i << " when it is compiled";
  if (failed(node.checkListed(known.getNumElements())))
    return failure();
  nn::HostTensor values = *nn::HostTensor::fromAttribute(known);
  SmallVector<bool> isNonZero;
  for (double value : values.getFloats())
    isNonZero.push_back(value != 0);
  for (int64_t value : values.getIntegers())
    isNonZero.push_back(value != 0);
  return isNonZero;
}

/// The slices along an axis, or the elements of all axes, for which the
/// condition holds.
static FailureOr<Value> importCompress(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  if (!node.hasAttribute("axis"))
    x = b.reshape(x, {getTensorType(x).getNumElements()});
  SmallVector<int64_t> shape(getShape(x));
  FailureOr<int64_t> axis = node.getAxis(node.getInt("axis", 0), shape.size());
  FailureOr<SmallVector<bool>> condition = getNonZero(node, 1);
  if (failed(axis) || failed(condition))
    return failure();
  if (int64_t(condition->size()) > shape[*axis])
    return node.emitError()
           << "has " << condition->size() << " conditions for axis " << *axis
           << " of " << x.getType();
  SmallVector<int64_t> chosen;
  for (auto [i, holds] : llvm::enumerate(*condition))
    if (holds)
      chosen.push_back(i);
  shape[*axis] = chosen.size();
  return b.create<nn::GatherOp>(getTensorType(x).clone(shape), x,
                                b.integers(chosen), *axis);
}

/// The coordinates of the elements of a tensor of \p shape, a row for each
/// axis.
static Value getCoordinates(NNBuilder &b, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> elements) {
  SmallVector<int64_t> coordinates;
  int64_t stride = ShapedType::getNumElements(shape);
  for (int64_t size : shape) {
    stride /= std::max<int64_t>(size, 1);
    for (int64_t element : elements)
      coordinates.push_back(element / stride % size);
  }
  return b.reshape(b.integers(coordinates),
                   {int64_t(shape.size()), int64_t(elements.size())});
}

/// The coordinates of all elements, of which those of zeros are absent.
static Value importConditional(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  SmallVector<int64_t> all = getAllAxes(getTensorType(x).getNumElements());
  Value coordinates = getCoordinates(b, getShape(x), all);
  Value condition =
      b.reshape(b.cast(x, b.getOpBuilder().getI1Type()), {int64_t(all.size())});
  // An op of its own, which both lead to the same values.
  Value conditional = b.create<nn::SelectOp>(
      coordinates.getType(), b.broadcast(condition, getShape(coordinates)),
      coordinates, coordinates);
  node.getContext().addConditionalRows(
      {conditional, condition, node.describe()});
  return conditional;
}

/// The coordinates of all elements that are not 0, a row for each axis.
static FailureOr<Value> importNonZero(OnnxNode &node) {
  node.setUnsignedBits(0, 0);
  constexpr int64_t maxUnknown = int64_t(1) << 24;
  RankedTensorType type = getTensorType(node.operand(0));
  if (!node.getContext().getKnown(node.operand(0)) && type.getRank() > 0 &&
      type.getNumElements() > 0 && type.getNumElements() <= maxUnknown)
    return importConditional(node);
  FailureOr<SmallVector<bool>> isNonZero = getNonZero(node, 0);
  if (failed(isNonZero))
    return failure();
  SmallVector<int64_t> elements;
  for (auto [i, chosen] : llvm::enumerate(*isNonZero))
    if (chosen)
      elements.push_back(i);
  return getCoordinates(node.getBuilder(), type.getShape(), elements);
}

/// Reverses the first elements of each sequence, as many as its length says.
static FailureOr<Value> importReverseSequence(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  int64_t timeAxis = node.getInt("time_axis", 0);
  int64_t batchAxis = node.getInt("batch_axis", 1);
  FailureOr<SmallVector<int64_t>> lengths = node.getIntegers(1);
  if (failed(lengths))
    return failure();
  if (shape.size() < 2 || timeAxis + batchAxis != 1 || timeAxis * batchAxis ||
      int64_t(lengths->size()) != shape[batchAxis])
    return node.emitError()
           << "reverses " << lengths->size() << " sequences of " << x.getType()
           << " with time_axis=" << timeAxis << " and batch_axis=" << batchAxis;
  // A sequence and a time are a row of one table.
  int64_t steps = shape[timeAxis], sequences = shape[batchAxis];
  if (failed(node.checkListed(steps * sequences)))
    return failure();
  SmallVector<int64_t> rows;
  for (int64_t row = 0; row < steps * sequences; ++row) {
    int64_t time = timeAxis == 0 ? row / sequences : row % steps;
    int64_t sequence = timeAxis == 0 ? row % sequences : row / steps;
    int64_t length = (*lengths)[sequence];
    if (length < 0 || length > steps)
      return node.emitError()
             << "reverses " << length << " of " << steps << " elements";
    int64_t from = time < length ? length - 1 - time : time;
    rows.push_back(timeAxis == 0 ? from * sequences + sequence
                                 : sequence * steps + from);
  }
  SmallVector<int64_t> flat = {steps * sequences};
  llvm::append_range(flat, shape.drop_front(2));
  Value table = b.reshape(x, flat);
  Value reversed = b.create<nn::GatherOp>(getTensorType(x).clone(flat), table,
                                          b.integers(rows), /*axis=*/0);
  return b.reshape(reversed, shape);
}

namespace pipewright {
void registerSelection(OnnxOpRegistry &registry) {
  registry.add("Compress", /*since=*/9, 2, importCompress);
  registry.add("NonZero", /*since=*/9, 1, importNonZero);
  registry.add("ReverseSequence", /*since=*/10, 2, importReverseSequence);
}
} // namespace pipewright
