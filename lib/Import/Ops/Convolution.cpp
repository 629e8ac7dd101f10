//===- Convolution.cpp - Convolutions, and their transposes
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One product for all windows of all samples: with N samples, O positions and
// windows of K elements of C channels, weights [M, C K] times columns [C K, N
// O]. So the gradient for the weights is one product, too.
//
//===----------------------------------------------------------------------===//

#include "../Windows.h"

#include "pipewright/Dialect/NN/TensorSize.h"
#include "pipewright/Import/OnnxOpRegistry.h"

#include <numeric>

using namespace mlir;
using namespace pipewright;

namespace {
/// The sizes of a convolution.
struct Sizes {
  int64_t batch, groups;
  /// Of all groups.
  int64_t inputChannels, outputChannels;
};
} // namespace

static int64_t countElements(ArrayRef<int64_t> shape) {
  return ShapedType::getNumElements(shape);
}

/// The weights' spatial axes.
static FailureOr<ArrayRef<int64_t>> getKernelShape(OnnxNode &node) {
  Value weights = node.operand(1);
  if (failed(checkIsImage(node, node.operand(0))))
    return failure();
  if (getTensorType(weights).getRank() !=
      getTensorType(node.operand(0)).getRank())
    return node.emitError() << "has weights " << weights.getType()
                            << " for an operand " << node.operand(0).getType();
  return getShape(weights).drop_front(2);
}

/// \p perGroup: channels of a group that axis 1 of the weights has; \p all:
/// those that axis 0 has.
static LogicalResult checkChannels(OnnxNode &node, int64_t groups, bool fits) {
  if (groups >= 1 && fits)
    return success();
  return node.emitError() << "has " << groups << " groups, and weights "
                          << node.operand(1).getType() << " for an operand "
                          << node.operand(0).getType();
}

/// Puts axes [\p first, \p last) of \p value in front.
static Value moveToFront(NNBuilder &b, Value value, int64_t first,
                         int64_t last) {
  SmallVector<int64_t> order = getAllAxes(getTensorType(value).getRank());
  std::rotate(order.begin(), order.begin() + first, order.begin() + last);
  return b.transpose(value, order);
}

/// A product for each group, without an axis for one group.
static Value multiplyGroups(NNBuilder &b, Value lhs, Value rhs, int64_t groups,
                            bool transposeLhs = false) {
  if (groups == 1) {
    lhs = b.reshape(lhs, getShape(lhs).drop_front());
    rhs = b.reshape(rhs, getShape(rhs).drop_front());
  }
  SmallVector<int64_t> shape(getShape(rhs));
  shape[shape.size() - 2] =
      transposeLhs ? getShape(lhs).back() : getShape(lhs)[shape.size() - 2];
  return b.create<nn::MatMulOp>(getTensorType(rhs).clone(shape), lhs, rhs,
                                transposeLhs, /*transposeRhs=*/false);
}

static FailureOr<Value> addBias(OnnxNode &node, Value result) {
  NNBuilder &b = node.getBuilder();
  if (!node.hasOperand(2))
    return result;
  Value bias = node.operand(2);
  int64_t channels = getShape(result)[1];
  if (getShape(bias) != ArrayRef<int64_t>(channels))
    return node.emitError() << "has bias " << bias.getType() << " for "
                            << channels << " channels";
  SmallVector<int64_t> shape(getTensorType(result).getRank(), 1);
  shape[1] = channels;
  return b.create<nn::AddOp>(
      result, b.broadcast(b.reshape(bias, shape), getShape(result)));
}

//===----------------------------------------------------------------------===//
// Conv
//===----------------------------------------------------------------------===//

/// The windows as columns [groups, channels of a group x kernel, samples x
/// positions].
static Value makeColumns(NNBuilder &b, Value image, const Windows &windows,
                         const Sizes &sizes) {
  Value elements = extractWindows(b, image, windows, 0.0);
  int64_t spatial = windows.kernel.size();
  Value columns = moveToFront(b, elements, 1, 2 + spatial);
  return b.reshape(columns, {sizes.groups,
                             sizes.inputChannels / sizes.groups *
                                 countElements(windows.kernel),
                             sizes.batch * countElements(windows.positions)});
}

/// Whether so many channels make \p groups groups, a number that may be any.
static bool isCutBy(int64_t channels, int64_t groups) {
  return groups > 0 && channels % groups == 0;
}

static FailureOr<Value> importConv(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value image = node.operand(0), weights = node.operand(1);
  FailureOr<ArrayRef<int64_t>> kernel = getKernelShape(node);
  if (failed(kernel))
    return failure();
  Sizes sizes = {getShape(image)[0], node.getInt("group", 1),
                 getShape(image)[1], getShape(weights)[0]};
  bool fits = isCutBy(sizes.inputChannels, sizes.groups) &&
              isCutBy(sizes.outputChannels, sizes.groups) &&
              sizes.inputChannels / sizes.groups == getShape(weights)[1];
  if (failed(checkChannels(node, sizes.groups, fits)))
    return failure();
  FailureOr<Windows> windows = getWindows(node, *kernel);
  if (failed(windows))
    return failure();

  Value columns = makeColumns(b, image, *windows, sizes);
  Value rows =
      b.reshape(weights, {sizes.groups, sizes.outputChannels / sizes.groups,
                          getShape(columns)[1]});
  Value product = multiplyGroups(b, rows, columns, sizes.groups);
  SmallVector<int64_t> shape = {sizes.outputChannels, sizes.batch};
  llvm::append_range(shape, windows->positions);
  return addBias(node, moveToFront(b, b.reshape(product, shape), 1, 2));
}

//===----------------------------------------------------------------------===//
// ConvTranspose
//===----------------------------------------------------------------------===//

namespace {
/// What of the sum of all windows is the result.
struct Crop {
  SmallVector<int64_t> low, sizes;
};
} // namespace

/// How many elements the sum of all windows has along \p axis.
static int64_t getFullSize(const Windows &windows, int64_t axis, int64_t size) {
  return (size - 1) * windows.strides[axis] + windows.getReach(axis);
}

/// Padding is left out of the result, output_padding added to its end; with
/// output_shape the padding follows from it.
static FailureOr<Crop> getCrop(OnnxNode &node, const Windows &windows) {
  ArrayRef<int64_t> sizes = getSpatialShape(node.operand(0));
  size_t spatial = sizes.size();
  StringRef automatic = node.getString("auto_pad", "NOTSET");
  bool isSame = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  SmallVector<int64_t> zeros(spatial, 0);
  SmallVector<int64_t> pads =
      node.getInts("pads").value_or(SmallVector<int64_t>(2 * spatial, 0));
  SmallVector<int64_t> more = node.getInts("output_padding").value_or(zeros);
  std::optional<SmallVector<int64_t>> asked = node.getInts("output_shape");
  if (asked && asked->size() == spatial + 2)
    asked->erase(asked->begin(), asked->begin() + 2);
  if (pads.size() != 2 * spatial || more.size() != spatial ||
      (asked && asked->size() != spatial))
    return node.emitError() << "has padding or an output_shape for another "
                            << "number of axes than " << spatial;
  // More than that is a mistake, and would overflow.
  constexpr int64_t limit = int64_t(1) << 40;
  SmallVector<int64_t> all(pads);
  llvm::append_range(all, more);
  llvm::append_range(all, asked.value_or(zeros));
  for (int64_t amount : all)
    if (amount < 0 || amount > limit)
      return node.emitError() << "has " << amount << " in its padding or its "
                              << "output_shape";
  Crop crop;
  for (size_t axis = 0; axis < spatial; ++axis) {
    int64_t full = getFullSize(windows, axis, sizes[axis]) + more[axis];
    int64_t size = asked    ? (*asked)[axis]
                   : isSame ? sizes[axis] * windows.strides[axis]
                            : full - pads[axis] - pads[spatial + axis];
    int64_t low = pads[axis];
    if (asked || isSame) {
      int64_t missing = std::max<int64_t>(full - size, 0);
      low = automatic == "SAME_UPPER" ? missing / 2 : missing - missing / 2;
    }
    if (size < 0 || size > limit || low < 0 || low > full)
      return node.emitError()
             << "makes an axis of " << size << " elements of " << full;
    crop.low.push_back(low);
    crop.sizes.push_back(size);
  }
  return crop;
}

/// The part of \p image that \p crop names, zero where the image ends.
static Value cropImage(NNBuilder &b, Value image, const Crop &crop) {
  RankedTensorType type = getTensorType(image);
  int64_t rank = type.getRank();
  SmallVector<int64_t> offsets(rank, 0), high(rank, 0), none(rank, 0);
  SmallVector<int64_t> padded(type.getShape()), sizes(type.getShape());
  for (int64_t axis = 0; axis < rank - 2; ++axis) {
    offsets[2 + axis] = crop.low[axis];
    sizes[2 + axis] = crop.sizes[axis];
    high[2 + axis] = std::max<int64_t>(
        crop.low[axis] + crop.sizes[axis] - padded[2 + axis], 0);
    padded[2 + axis] += high[2 + axis];
  }
  if (ArrayRef<int64_t>(padded) != type.getShape())
    image = b.create<nn::PadOp>(type.clone(padded), image, none, high, none,
                                llvm::APFloat(0.0));
  return b.slice(image, offsets, sizes, SmallVector<int64_t>(rank, 1));
}

/// Each element of the operand adds a window to the result.
static FailureOr<Value> importConvTranspose(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value image = node.operand(0), weights = node.operand(1);
  FailureOr<ArrayRef<int64_t>> kernel = getKernelShape(node);
  if (failed(kernel))
    return failure();
  Sizes sizes = {getShape(image)[0], node.getInt("group", 1),
                 getShape(image)[1], /*outputChannels=*/0};
  bool fits = sizes.inputChannels == getShape(weights)[0] &&
              isCutBy(sizes.inputChannels, sizes.groups) &&
              nn::hasReasonableSize({getShape(weights)[1], sizes.groups});
  if (failed(checkChannels(node, sizes.groups, fits)))
    return failure();
  sizes.outputChannels = getShape(weights)[1] * sizes.groups;
  int64_t channels = sizes.inputChannels / sizes.groups;
  FailureOr<Windows> windows = getKernel(node, *kernel);
  if (failed(windows))
    return failure();
  FailureOr<Crop> crop = getCrop(node, *windows);
  if (failed(crop))
    return failure();

  ArrayRef<int64_t> positions = getSpatialShape(image);
  Value columns = b.reshape(
      moveToFront(b, image, 1, 2),
      {sizes.groups, channels, sizes.batch * countElements(positions)});
  Value rows =
      b.reshape(weights, {sizes.groups, channels,
                          getShape(weights)[1] * countElements(*kernel)});
  Value product = multiplyGroups(b, rows, columns, sizes.groups,
                                 /*transposeLhs=*/true);

  SmallVector<int64_t> apart = {sizes.outputChannels};
  llvm::append_range(apart, *kernel);
  apart.push_back(sizes.batch);
  llvm::append_range(apart, positions);
  int64_t spatial = kernel->size();
  Value elements =
      moveToFront(b, b.reshape(product, apart), 1 + spatial, 2 + spatial);
  SmallVector<int64_t> full = {sizes.batch, sizes.outputChannels};
  for (int64_t axis = 0; axis < spatial; ++axis)
    full.push_back(getFullSize(*windows, axis, positions[axis]));
  Value sum = b.create<nn::Col2ImOp>(getTensorType(image).clone(full), elements,
                                     windows->strides, windows->dilations);
  return addBias(node, cropImage(b, sum, *crop));
}

namespace pipewright {
void registerConvolution(OnnxOpRegistry &registry) {
  registry.add("Conv", /*since=*/1, {2, 3}, importConv);
  registry.add("ConvTranspose", /*since=*/1, {2, 3}, importConvTranspose);
}
} // namespace pipewright
