//===- HostTensor.cpp - A tensor's values on this machine
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/HostTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pipewright::nn;

HostTensor::HostTensor(ArrayRef<int64_t> shape, std::vector<double> values)
    : shape(shape), holdsFloats(true), floats(std::move(values)) {
  assert(static_cast<int64_t>(floats.size()) ==
             ShapedType::getNumElements(shape) &&
         "other number of values than the shape says");
}

HostTensor::HostTensor(ArrayRef<int64_t> shape, std::vector<int64_t> values)
    : shape(shape), holdsFloats(false), integers(std::move(values)) {
  assert(static_cast<int64_t>(integers.size()) ==
             ShapedType::getNumElements(shape) &&
         "other number of values than the shape says");
}

HostTensor HostTensor::zeros(RankedTensorType type) {
  size_t count = type.getNumElements();
  if (isa<FloatType>(type.getElementType()))
    return HostTensor(type.getShape(), std::vector<double>(count, 0.0));
  return HostTensor(type.getShape(), std::vector<int64_t>(count, 0));
}

/// A float of any format as double, which holds all that MLIR tensors have.
static double toDouble(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static APFloat fromDouble(double value, FloatType type) {
  APFloat converted(value);
  bool losesInfo;
  converted.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
  return converted;
}

/// Booleans are 0 and 1, other integers are signed.
static int64_t toInteger(const APInt &value) {
  return value.getBitWidth() == 1 ? value.getZExtValue() : value.getSExtValue();
}

FailureOr<HostTensor> HostTensor::fromAttribute(ElementsAttr value) {
  Type element = value.getElementType();
  ArrayRef<int64_t> shape = value.getShapedType().getShape();
  if (isa<FloatType>(element)) {
    auto elements = value.tryGetValues<APFloat>();
    if (!elements)
      return failure();
    auto values = llvm::map_range(*elements, toDouble);
    return HostTensor(shape, std::vector<double>(values.begin(), values.end()));
  }
  if (!element.isInteger() || element.getIntOrFloatBitWidth() > 64)
    return failure();
  auto elements = value.tryGetValues<APInt>();
  if (!elements)
    return failure();
  auto values = llvm::map_range(*elements, toInteger);
  return HostTensor(shape, std::vector<int64_t>(values.begin(), values.end()));
}

DenseElementsAttr HostTensor::toAttribute(RankedTensorType type) const {
  if (auto element = dyn_cast<FloatType>(type.getElementType())) {
    auto convert = [&](double value) { return fromDouble(value, element); };
    return DenseElementsAttr::get(type, llvm::map_to_vector(floats, convert));
  }
  unsigned width = type.getElementTypeBitWidth();
  auto convert = [&](int64_t value) {
    return APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true);
  };
  return DenseElementsAttr::get(type, llvm::map_to_vector(integers, convert));
}

bool HostTensor::matches(RankedTensorType type) const {
  return type.getShape() == getShape() &&
         isa<FloatType>(type.getElementType()) == holdsFloats;
}

void HostTensor::setElement(int64_t to, const HostTensor &source,
                            int64_t from) {
  if (holdsFloats)
    floats[to] = source.floats[from];
  else
    integers[to] = source.integers[from];
}

void HostTensor::roundFloats(FloatType type) {
  if (type.isF64())
    return;
  for (double &value : floats)
    value = toDouble(fromDouble(value, type));
}

void HostTensor::wrapIntegers(IntegerType type) {
  unsigned width = type.getWidth();
  for (int64_t &value : integers)
    value = width == 1 ? value & 1 : llvm::SignExtend64(value, width);
}
