//===- Windows.cpp - Kernels that slide over images
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

using namespace mlir;
using namespace pipewright;

/// Sizes, strides and amounts of padding beyond this are mistakes, and would
/// overflow.
static constexpr int64_t limit = int64_t(1) << 31;

ArrayRef<int64_t> pipewright::getSpatialShape(Value image) {
  return getShape(image).drop_front(2);
}

SmallVector<int64_t> pipewright::getSpatialAxes(Value image) {
  return llvm::to_vector(llvm::seq<int64_t>(2, getTensorType(image).getRank()));
}

LogicalResult pipewright::checkIsImage(OnnxNode &node, Value image) {
  if (getTensorType(image).getRank() >= 3)
    return success();
  return node.emitError() << "needs axes for batch, channels and space, not "
                          << image.getType();
}

/// Attribute \p name with \p count numbers from \p minimum on.
static FailureOr<SmallVector<int64_t>> getNumbers(OnnxNode &node,
                                                  StringRef name, size_t count,
                                                  int64_t minimum,
                                                  int64_t otherwise) {
  SmallVector<int64_t> numbers =
      node.getInts(name).value_or(SmallVector<int64_t>(count, otherwise));
  bool fits = llvm::all_of(numbers, [&](int64_t number) {
    return number >= minimum && number < limit;
  });
  if (numbers.size() == count && fits)
    return numbers;
  InFlightDiagnostic diag = node.emitError() << "has " << name << " [";
  llvm::interleaveComma(numbers, diag);
  return diag << "], which should be " << count << " numbers, at least "
              << minimum;
}

FailureOr<Windows>
pipewright::getKernel(OnnxNode &node, std::optional<ArrayRef<int64_t>> kernel) {
  if (failed(checkIsImage(node, node.operand(0))))
    return failure();
  size_t spatial = getSpatialShape(node.operand(0)).size();
  Windows windows;
  if (!kernel && !node.hasAttribute("kernel_shape"))
    return node.emitError() << "lacks attribute 'kernel_shape'";
  FailureOr<SmallVector<int64_t>> shape =
      getNumbers(node, "kernel_shape", spatial, 1, 1);
  FailureOr<SmallVector<int64_t>> strides =
      getNumbers(node, "strides", spatial, 1, 1);
  FailureOr<SmallVector<int64_t>> dilations =
      getNumbers(node, "dilations", spatial, 1, 1);
  if (failed(shape) || failed(strides) || failed(dilations))
    return failure();
  if (kernel && node.hasAttribute("kernel_shape") &&
      ArrayRef<int64_t>(*shape) != *kernel)
    return node.emitError() << "has a kernel_shape that is not that of its "
                            << "weights";
  windows.kernel = kernel ? SmallVector<int64_t>(*kernel) : *shape;
  windows.strides = *strides;
  windows.dilations = *dilations;
  windows.low.assign(spatial, 0);
  windows.high.assign(spatial, 0);
  windows.beyond.assign(spatial, 0);
  return windows;
}

/// As many windows as strides fit, padded on both sides by the same or, by one
/// element, more on one of them.
static void padForSame(Windows &windows, ArrayRef<int64_t> sizes,
                       bool moreAbove) {
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t stride = windows.strides[axis];
    int64_t positions = (size + stride - 1) / stride;
    int64_t missing = std::max<int64_t>(
        (positions - 1) * stride + windows.getReach(axis) - size, 0);
    windows.low[axis] = moreAbove ? missing / 2 : missing - missing / 2;
    windows.high[axis] = missing - windows.low[axis];
  }
}

static LogicalResult setPadding(OnnxNode &node, Windows &windows,
                                ArrayRef<int64_t> sizes) {
  StringRef automatic = node.getString("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    padForSame(windows, sizes, automatic == "SAME_UPPER");
    return success();
  }
  if (automatic == "VALID")
    return success();
  if (automatic != "NOTSET")
    return node.emitError() << "has auto_pad '" << automatic << "'";
  FailureOr<SmallVector<int64_t>> pads =
      getNumbers(node, "pads", 2 * sizes.size(), 0, 0);
  if (failed(pads))
    return failure();
  ArrayRef<int64_t> all = *pads;
  windows.low.assign(all.take_front(sizes.size()));
  windows.high.assign(all.drop_front(sizes.size()));
  return success();
}

/// Counts the windows. With ceil_mode a last one may begin in the image (or in
/// the padding before it) and reach over what follows.
static LogicalResult countPositions(OnnxNode &node, Windows &windows,
                                    ArrayRef<int64_t> sizes) {
  bool goesOn = node.getInt("ceil_mode", 0) != 0;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t stride = windows.strides[axis], reach = windows.getReach(axis);
    int64_t padded = size + windows.low[axis] + windows.high[axis];
    if (reach > padded)
      return node.emitError() << "has a window over " << reach
                              << " elements of an axis of " << padded;
    int64_t positions = (padded - reach) / stride + 1;
    bool hasRest = (padded - reach) % stride != 0;
    if (goesOn && hasRest && positions * stride < size + windows.low[axis]) {
      windows.beyond[axis] = positions * stride + reach - padded;
      ++positions;
    }
    windows.positions.push_back(positions);
  }
  return success();
}

FailureOr<Windows>
pipewright::getWindows(OnnxNode &node,
                       std::optional<ArrayRef<int64_t>> kernel) {
  FailureOr<Windows> windows = getKernel(node, kernel);
  if (failed(windows))
    return failure();
  ArrayRef<int64_t> sizes = getSpatialShape(node.operand(0));
  if (failed(setPadding(node, *windows, sizes)) ||
      failed(countPositions(node, *windows, sizes)))
    return failure();
  return windows;
}

Value pipewright::extractWindows(NNBuilder &b, Value image,
                                 const Windows &windows, double value) {
  RankedTensorType type = getTensorType(image);
  int64_t rank = type.getRank();
  SmallVector<int64_t> low(rank, 0), high(rank, 0), none(rank, 0);
  SmallVector<int64_t> padded(type.getShape());
  SmallVector<int64_t> shape(type.getShape().take_front(2));
  for (int64_t axis = 0; axis < rank - 2; ++axis) {
    low[2 + axis] = windows.low[axis];
    high[2 + axis] = windows.high[axis] + windows.beyond[axis];
    padded[2 + axis] += low[2 + axis] + high[2 + axis];
  }
  llvm::append_range(shape, windows.kernel);
  llvm::append_range(shape, windows.positions);
  if (ArrayRef<int64_t>(padded) != type.getShape())
    image = b.create<nn::PadOp>(type.clone(padded), image, low, high, none,
                                llvm::APFloat(value));
  // Windows of one element that leave nothing out.
  if (ArrayRef<int64_t>(padded).drop_front(2) ==
          ArrayRef<int64_t>(windows.positions) &&
      llvm::all_of(windows.kernel, [](int64_t size) { return size == 1; }))
    return b.reshape(image, shape);
  return b.create<nn::Im2ColOp>(type.clone(shape), image, windows.strides,
                                windows.dilations);
}
