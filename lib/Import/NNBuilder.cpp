//===- NNBuilder.cpp - Builds nn ops, folding what is known
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/NNBuilder.h"

#include "pipewright/Dialect/NN/Evaluate.h"
#include "pipewright/Dialect/NN/TensorSize.h"
#include "pipewright/Dialect/PP/PP.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pipewright;

std::optional<SmallVector<int64_t>>
pipewright::getBroadcastShape(ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
  if (lhs.size() < rhs.size())
    std::swap(lhs, rhs);
  SmallVector<int64_t> shape(lhs);
  size_t missing = lhs.size() - rhs.size();
  for (auto [axis, size] : llvm::enumerate(rhs)) {
    int64_t &dim = shape[missing + axis];
    if (dim == 1)
      dim = size;
    else if (size != 1 && size != dim)
      return std::nullopt;
  }
  return shape;
}

int64_t pipewright::toInteger(double number) {
  constexpr double limit = 0x1p63;
  if (number >= limit)
    return std::numeric_limits<int64_t>::max();
  if (number <= -limit)
    return std::numeric_limits<int64_t>::min();
  return std::isnan(number) ? 0 : int64_t(number);
}

bool pipewright::addUpTo(ArrayRef<int64_t> sizes, int64_t total) {
  for (int64_t size : sizes) {
    if (size < 0 || size > total)
      return false;
    total -= size;
  }
  return total == 0;
}

SmallVector<int64_t> pipewright::getAllAxes(int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(0, rank));
}

DenseElementsAttr pipewright::getConstant(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  return elements;
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// Constants of up to this many bytes may be made of smaller ones; larger ones
/// stay an op, or the module would be full of numbers. Integers and booleans
/// get more: masks and positions vanish into a few small constants.
constexpr int64_t smallFloatBytes = 1 << 10;
constexpr int64_t smallIntegerBytes = 1 << 20;

/// The reference evaluator is not for more bytes than this.
constexpr int64_t maxBytes = 16 << 20;

/// The result of an op that moves elements of the splat \p value.
static DenseElementsAttr foldSplat(Operation *op, DenseElementsAttr value) {
  if (!value.isSplat() || !isa<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp,
                               nn::SliceOp, nn::ReverseOp>(op))
    return {};
  return value.resizeSplat(cast<ShapedType>(op->getResult(0).getType()));
}

/// Whether the result of \p op, whose operands take \p operandBytes, is worth
/// to be known.
static bool isWorthFolding(Operation *op, int64_t operandBytes) {
  Value result = op->getResult(0);
  int64_t smallBytes = isa<FloatType>(getElementType(result))
                           ? smallFloatBytes
                           : smallIntegerBytes;
  return operandBytes <= maxBytes &&
         pp::getBytes(result.getType()) <= std::max(smallBytes, operandBytes);
}

Value NNBuilder::fold(Operation *op) {
  Value result = op->getResult(0);
  if (!nn::hasReasonableSize(getShape(result))) {
    emitError(loc) << "a tensor of type " << result.getType()
                   << " has too many elements";
    failed = true;
    return result;
  }
  // A model may combine any types; the evaluator takes valid ops only.
  if (mlir::failed(verify(op, /*verifyRecursively=*/false))) {
    failed = true;
    return result;
  }
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return result;
  SmallVector<DenseElementsAttr> values;
  int64_t operandBytes = 0;
  for (Value operand : op->getOperands()) {
    values.push_back(getConstant(operand));
    if (!values.back())
      return result;
    operandBytes += pp::getBytes(operand.getType());
  }
  DenseElementsAttr folded = foldSplat(op, values.front());
  if (!folded && isWorthFolding(op, operandBytes)) {
    SmallVector<nn::HostTensor> tensors;
    for (DenseElementsAttr value : values)
      tensors.push_back(*nn::HostTensor::fromAttribute(value));
    FailureOr<SmallVector<nn::HostTensor>> results = nn::evaluate(op, tensors);
    if (mlir::failed(results)) {
      failed = true;
      return result;
    }
    folded = results->front().toAttribute(getTensorType(result));
  }
  if (!folded)
    return result;
  op->erase();
  return constant(folded);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value NNBuilder::constant(ElementsAttr value) {
  return nn::ConstantOp::create(builder, loc, value.getType(), value);
}

Value NNBuilder::splat(RankedTensorType type, double value) {
  Type element = type.getElementType();
  Attribute attribute =
      isa<FloatType>(element)
          ? Attribute(builder.getFloatAttr(element, value))
          : Attribute(builder.getIntegerAttr(element, toInteger(value)));
  return constant(DenseElementsAttr::get(type, attribute));
}

Value NNBuilder::integers(ArrayRef<int64_t> values) {
  return constant(builder.getI64TensorAttr(values));
}

Value NNBuilder::iota(RankedTensorType type, int64_t axis) {
  constexpr int64_t maxLine = int64_t(1) << 24;
  int64_t size = type.getDimSize(axis);
  if (size > maxLine) {
    emitError(loc) << "numbers the " << size << " elements of an axis of "
                   << type << ", which is more than " << maxLine;
    failed = true;
    return splat(type, 0);
  }
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[axis] = size;
  Value line = reshape(integers(getAllAxes(size)), shape);
  return broadcast(cast(line, type.getElementType()), type.getShape());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value NNBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  return create<nn::ReshapeOp>(getTensorType(value).clone(shape), value);
}

Value NNBuilder::broadcast(Value value, ArrayRef<int64_t> shape) {
  if (getShape(value) == shape)
    return value;
  return create<nn::BroadcastOp>(getTensorType(value).clone(shape), value);
}

Value NNBuilder::transpose(Value value, ArrayRef<int64_t> permutation) {
  bool isIdentity = true;
  SmallVector<int64_t> shape;
  for (auto [axis, source] : llvm::enumerate(permutation)) {
    isIdentity &= source == int64_t(axis);
    shape.push_back(getShape(value)[source]);
  }
  if (isIdentity)
    return value;
  return create<nn::TransposeOp>(getTensorType(value).clone(shape), value,
                                 permutation);
}

Value NNBuilder::cast(Value value, Type element) {
  if (getElementType(value) == element)
    return value;
  return create<nn::CastOp>(getTensorType(value).clone(element), value);
}

Value NNBuilder::slice(Value value, ArrayRef<int64_t> offsets,
                       ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  if (getShape(value) == sizes)
    return value;
  return create<nn::SliceOp>(getTensorType(value).clone(sizes), value, offsets,
                             strides);
}

Value NNBuilder::concat(ArrayRef<Value> parts, int64_t axis) {
  SmallVector<Value> joined = llvm::to_vector(llvm::make_filter_range(
      parts, [&](Value part) { return getShape(part)[axis] > 0; }));
  if (joined.empty())
    return parts.front();
  if (joined.size() == 1)
    return joined.front();
  SmallVector<int64_t> shape(getShape(joined.front()));
  shape[axis] = 0;
  for (Value part : joined)
    shape[axis] += getShape(part)[axis];
  return create<nn::ConcatOp>(getTensorType(joined.front()).clone(shape),
                              joined, axis);
}

Value NNBuilder::sliceAxis(Value value, int64_t axis, int64_t offset,
                           int64_t size, int64_t stride) {
  SmallVector<int64_t> sizes(getShape(value));
  SmallVector<int64_t> offsets(sizes.size(), 0), strides(sizes.size(), 1);
  sizes[axis] = size;
  offsets[axis] = offset;
  strides[axis] = stride;
  return slice(value, offsets, sizes, strides);
}

Value NNBuilder::reduce(nn::Reduction kind, Value value, ArrayRef<int64_t> axes,
                        bool keepAxes) {
  SmallVector<int64_t> dropped, kept;
  for (auto [axis, size] : llvm::enumerate(getShape(value))) {
    bool isReduced = llvm::is_contained(axes, int64_t(axis));
    kept.push_back(isReduced ? 1 : size);
    if (!isReduced)
      dropped.push_back(size);
  }
  Value result = value;
  if (!axes.empty())
    result = create<nn::ReduceOp>(getTensorType(value).clone(dropped), kind,
                                  value, axes);
  return keepAxes ? reshape(result, kept) : result;
}

Value NNBuilder::compare(nn::Comparison predicate, Value lhs, Value rhs) {
  return create<nn::CompareOp>(getTensorType(lhs).clone(builder.getI1Type()),
                               predicate, lhs, rhs);
}

Value NNBuilder::scale(Value value, double factor) {
  return factor == 1.0 ? value
                       : create<nn::MulOp>(value, splatLike(value, factor));
}

Value NNBuilder::matmul(Value lhs, Value rhs) {
  ArrayRef<int64_t> left = getShape(lhs), right = getShape(rhs);
  int64_t rows = left[left.size() - 2], inner = left.back();
  int64_t columns = right.back();
  SmallVector<int64_t> batch =
      *getBroadcastShape(left.drop_back(2), right.drop_back(2));
  SmallVector<int64_t> shape(batch);
  shape.append({rows, columns});
  RankedTensorType type = getTensorType(lhs).clone(shape);

  // One matrix for the whole batch: a single product of the rows of all.
  if (right.size() == 2) {
    int64_t allRows = ShapedType::getNumElements(batch) * rows;
    Value product = create<nn::MatMulOp>(type.clone({allRows, columns}),
                                         reshape(lhs, {allRows, inner}), rhs);
    return reshape(product, shape);
  }
  SmallVector<int64_t> leftShape(batch), rightShape(batch);
  leftShape.append({rows, inner});
  rightShape.append({inner, columns});
  return create<nn::MatMulOp>(type, broadcast(lhs, leftShape),
                              broadcast(rhs, rightShape));
}
