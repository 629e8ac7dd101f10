//===- Pooling.cpp - One number for each window of an image
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Windows.h"

#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/APFloat.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace pipewright;

/// The axes of the kernel in windows.
static SmallVector<int64_t> getKernelAxes(const Windows &windows) {
  return llvm::to_vector(llvm::seq<int64_t>(2, 2 + windows.kernel.size()));
}

/// The numbers of the elements of an image of the type of \p image, which count
/// from its first element on. Within a channel the last axis varies fastest or,
/// if it \p isColumnMajor, the first one.
static Value numberElements(NNBuilder &b, Value image, bool isColumnMajor) {
  RankedTensorType type =
      getTensorType(image).clone(b.getOpBuilder().getI64Type());
  // From the axis that varies fastest to the batch.
  SmallVector<int64_t> axes = getSpatialAxes(image);
  if (!isColumnMajor)
    std::reverse(axes.begin(), axes.end());
  axes.append({1, 0});
  Value sum;
  int64_t stride = 1;
  for (int64_t axis : axes) {
    Value part = b.scale(b.iota(type, axis), stride);
    sum = sum ? b.create<nn::AddOp>(sum, part) : part;
    stride *= type.getDimSize(axis);
  }
  return sum;
}

/// The number of the element that is the largest of its window: the lowest
/// number if there are several.
static Value findLargest(OnnxNode &node, const Windows &windows, Value elements,
                         Value largest) {
  NNBuilder &b = node.getBuilder();
  bool isColumnMajor = node.getInt("storage_order", 0) != 0;
  Value numbers = extractWindows(
      b, numberElements(b, node.operand(0), isColumnMajor), windows, 0.0);
  SmallVector<int64_t> axes = getKernelAxes(windows);
  SmallVector<int64_t> kept(getShape(elements));
  for (int64_t axis : axes)
    kept[axis] = 1;
  Value isLargest =
      b.compare(nn::Comparison::Equal, elements,
                b.broadcast(b.reshape(largest, kept), getShape(elements)));
  Value nowhere =
      b.splatLike(numbers, getTensorType(node.operand(0)).getNumElements());
  Value found =
      b.create<nn::SelectOp>(numbers.getType(), isLargest, numbers, nowhere);
  return b.reduce(nn::Reduction::Min, found, axes, /*keepAxes=*/false);
}

/// What is not larger than any number of \p type.
static double getLowest(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return -std::ldexp(1.0, integer.getWidth() - 1);
  return -std::numeric_limits<double>::infinity();
}

static LogicalResult importMaxPool(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<Windows> windows = getWindows(node);
  if (failed(windows))
    return failure();
  Value elements = extractWindows(b, node.operand(0), *windows,
                                  getLowest(getElementType(node.operand(0))));
  Value largest = b.reduce(nn::Reduction::Max, elements,
                           getKernelAxes(*windows), /*keepAxes=*/false);
  node.setResult(0, largest);
  if (node.hasResult(1))
    node.setResult(1, findLargest(node, *windows, elements, largest));
  return success();
}

/// How many elements of \p axis the window at each position has: those of the
/// image, and those of the padding if it \p countsPadding.
static SmallVector<double> countInWindows(const Windows &windows, int64_t axis,
                                          int64_t size, bool countsPadding) {
  int64_t begin = countsPadding ? -windows.low[axis] : 0;
  int64_t end = countsPadding ? size + windows.high[axis] : size;
  SmallVector<double> counts;
  for (int64_t i = 0; i < windows.positions[axis]; ++i) {
    int64_t count = 0;
    for (int64_t k = 0; k < windows.kernel[axis]; ++k) {
      int64_t element = i * windows.strides[axis] +
                        k * windows.dilations[axis] - windows.low[axis];
      count += element >= begin && element < end;
    }
    counts.push_back(std::max<int64_t>(count, 1));
  }
  return counts;
}

/// Counting must not take long, and its results are held in memory.
static LogicalResult checkCounts(OnnxNode &node, const Windows &windows) {
  constexpr int64_t maxCounts = int64_t(1) << 24;
  for (auto [axis, positions, size] :
       llvm::enumerate(windows.positions, windows.kernel))
    if (positions > maxCounts / size)
      return node.emitError() << "averages " << positions << " windows of "
                              << size << " elements along spatial axis " << axis
                              << ", together over " << maxCounts;
  return success();
}

/// \p sums divided along \p axis by \p counts.
static Value divideBy(NNBuilder &b, Value sums, int64_t axis,
                      ArrayRef<double> counts) {
  if (llvm::all_equal(counts))
    return b.scale(sums, 1.0 / counts.front());
  Type element = getElementType(sums);
  const llvm::fltSemantics &semantics =
      cast<FloatType>(element).getFloatSemantics();
  SmallVector<APFloat> values;
  for (double count : counts) {
    APFloat value(count);
    bool losesInfo;
    value.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(value);
  }
  SmallVector<int64_t> shape(getTensorType(sums).getRank(), 1);
  shape[axis] = counts.size();
  Value divisor = b.constant(DenseElementsAttr::get(
      RankedTensorType::get(shape, element), ArrayRef<APFloat>(values)));
  return b.create<nn::DivOp>(sums, b.broadcast(divisor, getShape(sums)));
}

static FailureOr<Value> importAveragePool(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  if (!isa<FloatType>(getElementType(node.operand(0))))
    return node.emitError() << "averages integers";
  FailureOr<Windows> windows = getWindows(node);
  if (failed(windows) || failed(checkCounts(node, *windows)))
    return failure();
  bool countsPadding = node.getInt("count_include_pad", 0) != 0;
  Value result = b.reduce(nn::Reduction::Sum,
                          extractWindows(b, node.operand(0), *windows, 0.0),
                          getKernelAxes(*windows), /*keepAxes=*/false);
  for (auto [axis, size] : llvm::enumerate(getSpatialShape(node.operand(0))))
    result = divideBy(b, result, 2 + axis,
                      countInWindows(*windows, axis, size, countsPadding));
  return result;
}

static FailureOr<Value> importGlobalAveragePool(OnnxNode &node) {
  Value image = node.operand(0);
  if (failed(checkIsImage(node, image)))
    return failure();
  return node.getBuilder().reduce(nn::Reduction::Mean, image,
                                  getSpatialAxes(image), /*keepAxes=*/true);
}

/// All of the image is one window: of the largest in windows the first one has
/// the gradient.
static FailureOr<Value> importGlobalMaxPool(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value image = node.operand(0);
  if (failed(checkIsImage(node, image)))
    return failure();
  SmallVector<int64_t> axes = getSpatialAxes(image);
  SmallVector<int64_t> ones(axes.size(), 1), shape(getShape(image));
  shape.append(ones);
  Value window = b.create<nn::Im2ColOp>(getTensorType(image).clone(shape),
                                        image, ones, ones);
  return b.reduce(nn::Reduction::Max, window, axes, /*keepAxes=*/false);
}

namespace pipewright {
void registerPooling(OnnxOpRegistry &registry) {
  registry.add("AveragePool", /*since=*/1, 1, importAveragePool);
  registry.add("GlobalAveragePool", /*since=*/1, 1, importGlobalAveragePool);
  registry.add("GlobalMaxPool", /*since=*/1, 1, importGlobalMaxPool);
  registry.add("MaxPool", /*since=*/1, 1, importMaxPool);
}
} // namespace pipewright
