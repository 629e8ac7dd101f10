//===- Windows.cpp - Windows that slide over images
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Windows.h"

using namespace mlir;
using namespace pipewright;

Sizes pipewright::getSizes(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

int64_t pipewright::countAxes(Sizes windows) {
  return (static_cast<int64_t>(windows.size()) - 2) / 2;
}

Value pipewright::skipCast(Value value) {
  auto cast = value.getDefiningOp<nn::CastOp>();
  return cast ? cast.getOperand() : value;
}

Value pipewright::castTo(Type type, Value value, RewriterBase &rewriter) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getElementType() == type)
    return value;
  return nn::CastOp::create(rewriter, value.getLoc(), from.clone(type), value);
}

/// Whether the same padding on both sides of \p axis makes these windows, which
/// all begin or end in the image.
static bool isUsual(const SlidingWindows &call, size_t axis) {
  int64_t reach = (call.kernel[axis] - 1) * call.dilations[axis];
  int64_t last = call.input[axis] + 2 * call.padding[axis] - reach - 1;
  return call.padding[axis] <= reach && last >= 0 &&
         call.output[axis] == last / call.strides[axis] + 1;
}

/// Sets what \p call says of \p windows in an image; one axis is the second of
/// two. False if a library's windows are not like that.
static bool setWindows(SlidingWindows &call, Sizes image, Sizes windows,
                       Sizes padding, Sizes strides, Sizes dilations) {
  int64_t axes = countAxes(windows);
  if (axes < 1 || axes > 2)
    return false;
  call.batch = image[0];
  call.channels = image[1];
  call.input = call.kernel = call.output = {1, 1};
  call.strides = call.dilations = {1, 1};
  call.padding = {0, 0};
  for (int64_t axis = 0; axis < axes; ++axis) {
    int64_t at = 2 - axes + axis;
    call.input[at] = image[2 + axis];
    call.kernel[at] = windows[2 + axis];
    call.output[at] = windows[2 + axes + axis];
    call.padding[at] = padding[axis];
    call.strides[at] = strides[axis];
    call.dilations[at] = dilations[axis];
  }
  return isUsual(call, 0) && isUsual(call, 1);
}

bool pipewright::setWholeWindows(SlidingWindows &call, Sizes image,
                                 Sizes windows) {
  int64_t axes = countAxes(windows);
  SmallVector<int64_t> zeros(axes, 0), ones(axes, 1);
  return windows.size() % 2 == 0 &&
         static_cast<int64_t>(image.size()) == 2 + axes &&
         image.take_front(2) == windows.take_front(2) &&
         image.drop_front(2) == windows.take_back(axes) &&
         setWindows(call, image, windows, zeros, ones, ones);
}

/// Whether \p pad puts \p value around images.
static bool isAround(nn::PadOp pad, const APFloat &value) {
  auto areZero = [](Sizes amounts) {
    return llvm::all_of(amounts, [](int64_t amount) { return amount == 0; });
  };
  return pad.getValue().compare(value) == APFloat::cmpEqual &&
         areZero(pad.getInterior()) && areZero(pad.getLow().take_front(2)) &&
         areZero(pad.getHigh().take_front(2));
}

Value pipewright::findImage(SlidingWindows &call, nn::Im2ColOp windows,
                            const APFloat &value) {
  Sizes shape = getSizes(windows);
  Value image = windows.getOperand();
  auto pad = image.getDefiningOp<nn::PadOp>();
  if (pad && isAround(pad, value) &&
      setWindows(call, getSizes(pad.getOperand()), shape,
                 pad.getLow().drop_front(2), windows.getStrides(),
                 windows.getDilations()))
    return pad.getOperand();
  SmallVector<int64_t> zeros(countAxes(shape), 0);
  return setWindows(call, getSizes(image), shape, zeros, windows.getStrides(),
                    windows.getDilations())
             ? image
             : Value();
}

/// Whether \p slice takes a part of images, without gaps.
static bool isInside(nn::SliceOp slice) {
  Sizes from = getSizes(slice.getOperand());
  return from.take_front(2) == getSizes(slice.getResult()).take_front(2) &&
         llvm::all_of(slice.getStrides(), [](int64_t s) { return s == 1; });
}

Value pipewright::findSum(SlidingWindows &call, nn::Col2ImOp windows) {
  Sizes shape = getSizes(windows.getOperand());
  auto slice = getOnlyUser<nn::SliceOp>(windows);
  if (slice && isInside(slice) &&
      setWindows(call, getSizes(slice), shape, slice.getOffsets().drop_front(2),
                 windows.getStrides(), windows.getDilations()))
    return slice;
  SmallVector<int64_t> zeros(countAxes(shape), 0);
  return setWindows(call, getSizes(windows), shape, zeros, windows.getStrides(),
                    windows.getDilations())
             ? windows.getResult()
             : Value();
}
