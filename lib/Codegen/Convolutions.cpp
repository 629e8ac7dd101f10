//===- Convolutions.cpp - Convolutions among products
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With N samples, C channels, M channels of the output, windows of K elements
// and O positions, and for one group:
//
//   rows          [M, C K]    the weights
//   columns       [C K, N O]  the windows, with channels and elements in front
//   output rows   [M, N O]    the output, with channels in front
//
//   output rows = rows x columns
//   gradient of columns = rows^T x gradient of output rows
//   gradient of rows = gradient of output rows x columns^T
//
// The gradient of the input is that of the columns, added up where they lie.
// All operands may be casts: numbers are then rounded before they are moved.
//
//===----------------------------------------------------------------------===//

#include "Convolutions.h"

#include <numeric>

using namespace mlir;
using namespace pipewright;

using Sizes = ArrayRef<int64_t>;

static Sizes getShape(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getShape();
}

/// Whether \p transpose puts axes [\p first, \p last) in front.
static bool movesToFront(nn::TransposeOp transpose, int64_t first,
                         int64_t last) {
  Sizes permutation = transpose.getPermutation();
  if (static_cast<int64_t>(permutation.size()) < last)
    return false;
  SmallVector<int64_t> order(permutation.size());
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin(), order.begin() + first, order.begin() + last);
  return permutation == Sizes(order);
}

static Value skipCast(Value value) {
  auto cast = value.getDefiningOp<nn::CastOp>();
  return cast ? cast.getOperand() : value;
}

/// The transpose that \p value is, in another shape, or null.
static nn::TransposeOp getReshapedTranspose(Value value) {
  auto reshape = value.getDefiningOp<nn::ReshapeOp>();
  return reshape ? reshape.getOperand().getDefiningOp<nn::TransposeOp>()
                 : nullptr;
}

/// The op that alone uses the result of \p op, if it is an \p OpTy.
template <typename OpTy>
static OpTy getOnlyUser(Operation *op) {
  return op && op->hasOneUse() ? dyn_cast<OpTy>(*op->user_begin()) : OpTy();
}

/// The number of axes of windows [batch, channels, kernel, positions].
static int64_t countAxes(Sizes windows) {
  return (static_cast<int64_t>(windows.size()) - 2) / 2;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Whether the same zeros on both sides of \p axis make these windows, which
/// all begin or end in the image.
static bool isUsual(const ConvolutionCall &call, size_t axis) {
  int64_t reach = (call.kernel[axis] - 1) * call.dilations[axis];
  int64_t last = call.input[axis] + 2 * call.padding[axis] - reach - 1;
  return call.padding[axis] <= reach && last >= 0 &&
         call.output[axis] == last / call.strides[axis] + 1;
}

/// Sets what \p call says of \p windows in an image; one axis is the second of
/// two. False if they are not those of a convolution.
static bool setWindows(ConvolutionCall &call, Sizes image, Sizes windows,
                       Sizes padding, Sizes strides, Sizes dilations) {
  int64_t axes = countAxes(windows);
  if (axes < 1 || axes > 2)
    return false;
  call.batch = image[0];
  call.inputChannels = image[1];
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

/// Whether \p image, in the shape of \p windows, is all of them.
static bool setWholeWindows(ConvolutionCall &call, Sizes image, Sizes windows) {
  int64_t axes = countAxes(windows);
  SmallVector<int64_t> zeros(axes, 0), ones(axes, 1);
  return windows.size() % 2 == 0 &&
         static_cast<int64_t>(image.size()) == 2 + axes &&
         image.take_front(2) == windows.take_front(2) &&
         image.drop_front(2) == windows.take_back(axes) &&
         setWindows(call, image, windows, zeros, ones, ones);
}

/// Whether \p pad puts zeros around images.
static bool isAround(nn::PadOp pad) {
  auto areZero = [](Sizes amounts) {
    return llvm::all_of(amounts, [](int64_t amount) { return amount == 0; });
  };
  return pad.getValue().isZero() && areZero(pad.getInterior()) &&
         areZero(pad.getLow().take_front(2)) &&
         areZero(pad.getHigh().take_front(2));
}

/// The image that \p windows are taken of, or null.
static Value findImage(ConvolutionCall &call, Value windows) {
  Sizes shape = getShape(windows);
  if (auto reshape = windows.getDefiningOp<nn::ReshapeOp>())
    return setWholeWindows(call, getShape(reshape.getOperand()), shape)
               ? reshape.getOperand()
               : Value();
  auto im2col = windows.getDefiningOp<nn::Im2ColOp>();
  if (!im2col)
    return {};
  Value image = im2col.getOperand();
  auto pad = image.getDefiningOp<nn::PadOp>();
  if (pad && isAround(pad) &&
      setWindows(call, getShape(pad.getOperand()), shape,
                 pad.getLow().drop_front(2), im2col.getStrides(),
                 im2col.getDilations()))
    return pad.getOperand();
  SmallVector<int64_t> zeros(countAxes(shape), 0);
  return setWindows(call, getShape(image), shape, zeros, im2col.getStrides(),
                    im2col.getDilations())
             ? image
             : Value();
}

/// The image whose windows are \p columns, or null.
static Value findImageOfColumns(ConvolutionCall &call, Value columns) {
  nn::TransposeOp front = getReshapedTranspose(skipCast(columns));
  if (!front)
    return {};
  int64_t axes = countAxes(front.getPermutation());
  return movesToFront(front, 1, 2 + axes) ? findImage(call, front.getOperand())
                                          : Value();
}

/// Whether \p slice takes a part of images, without gaps.
static bool isInside(nn::SliceOp slice) {
  Sizes from = getShape(slice.getOperand());
  return from.take_front(2) == getShape(slice.getResult()).take_front(2) &&
         llvm::all_of(slice.getStrides(), [](int64_t s) { return s == 1; });
}

/// The image that the elements of \p windows are added up to, or null.
static Value findSum(ConvolutionCall &call, nn::TransposeOp windows) {
  Sizes shape = getShape(windows);
  if (auto reshape = getOnlyUser<nn::ReshapeOp>(windows))
    return setWholeWindows(call, getShape(reshape), shape) ? reshape.getResult()
                                                           : Value();
  auto col2im = getOnlyUser<nn::Col2ImOp>(windows);
  if (!col2im)
    return {};
  auto slice = getOnlyUser<nn::SliceOp>(col2im);
  if (slice && isInside(slice) &&
      setWindows(call, getShape(slice), shape, slice.getOffsets().drop_front(2),
                 col2im.getStrides(), col2im.getDilations()))
    return slice;
  SmallVector<int64_t> zeros(countAxes(shape), 0);
  return setWindows(call, getShape(col2im), shape, zeros, col2im.getStrides(),
                    col2im.getDilations())
             ? col2im.getResult()
             : Value();
}

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// Sets the groups of \p call and the channels of its output, by matrices
/// [groups, \p channels, ...]; groups may be missing. \p elements: those of all
/// windows at a position, in a group.
static bool setChannels(ConvolutionCall &call, Sizes matrices, int64_t channels,
                        int64_t elements) {
  if (matrices.size() > 3)
    return false;
  call.groups = matrices.size() == 3 ? matrices[0] : 1;
  call.outputChannels = call.groups * channels;
  return call.inputChannels % call.groups == 0 &&
         elements ==
             call.inputChannels / call.groups * call.kernel[0] * call.kernel[1];
}

/// \p value with elements of \p type.
static Value castTo(Type type, Value value, RewriterBase &rewriter) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from.getElementType() == type)
    return value;
  return nn::CastOp::create(rewriter, value.getLoc(), from.clone(type), value);
}

/// The output of \p call, or its gradient, [samples, channels, positions], of
/// which \p rows have the channels in front.
static Value getOutput(const ConvolutionCall &call, Value rows,
                       RewriterBase &rewriter) {
  int64_t positions = call.output[0] * call.output[1];
  Value value = skipCast(rows);
  nn::TransposeOp front = getReshapedTranspose(value);
  if (front && movesToFront(front, 1, 2) &&
      getShape(front.getOperand()).take_front(2) ==
          Sizes({call.batch, call.outputChannels}))
    return castTo(getElementTypeOrSelf(rows), front.getOperand(), rewriter);
  auto type = cast<RankedTensorType>(value.getType());
  Location loc = rows.getLoc();
  Value apart = nn::ReshapeOp::create(
      rewriter, loc, type.clone({call.outputChannels, call.batch, positions}),
      value);
  Value output = nn::TransposeOp::create(
      rewriter, loc, type.clone({call.batch, call.outputChannels, positions}),
      apart, ArrayRef<int64_t>({1, 0, 2}));
  return castTo(getElementTypeOrSelf(rows), output, rewriter);
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static std::optional<ConvolutionCall> matchForward(const MatMulCall &product,
                                                   nn::MatMulOp op,
                                                   RewriterBase &rewriter) {
  ConvolutionCall call{};
  call.form = ConvolutionForm::Forward;
  Value image = findImageOfColumns(call, product.rhs);
  auto reshape = getOnlyUser<nn::ReshapeOp>(op);
  auto back = getOnlyUser<nn::TransposeOp>(reshape);
  Sizes rows = getShape(product.lhs);
  if (!image || !back || !movesToFront(back, 1, 2) ||
      !setChannels(call, rows, rows[rows.size() - 2], rows.back()) ||
      getShape(back).take_front(2) != Sizes({call.batch, call.outputChannels}))
    return std::nullopt;
  call.lhs = castTo(getElementTypeOrSelf(product.rhs), image, rewriter);
  call.rhs = product.lhs;
  call.result = back;
  return call;
}

static std::optional<ConvolutionCall>
matchInputGradient(const MatMulCall &product, nn::MatMulOp op,
                   RewriterBase &rewriter) {
  ConvolutionCall call{};
  call.form = ConvolutionForm::InputGradient;
  auto reshape = getOnlyUser<nn::ReshapeOp>(op);
  auto back = getOnlyUser<nn::TransposeOp>(reshape);
  if (!back)
    return std::nullopt;
  int64_t axes = countAxes(back.getPermutation());
  Sizes rows = getShape(product.lhs);
  if (!movesToFront(back, 1 + axes, 2 + axes) ||
      !(call.result = findSum(call, back)) ||
      !setChannels(call, rows, rows[rows.size() - 2], rows.back()))
    return std::nullopt;
  call.lhs = getOutput(call, product.rhs, rewriter);
  call.rhs = product.lhs;
  return call;
}

static std::optional<ConvolutionCall>
matchWeightGradient(const MatMulCall &product, nn::MatMulOp op,
                    RewriterBase &rewriter) {
  ConvolutionCall call{};
  call.form = ConvolutionForm::WeightGradient;
  Value image = findImageOfColumns(call, product.rhs);
  Sizes rows = getShape(product.lhs);
  if (!image ||
      !setChannels(call, rows, rows[rows.size() - 2], getShape(op).back()))
    return std::nullopt;
  call.lhs = getOutput(call, product.lhs, rewriter);
  call.rhs = castTo(getElementTypeOrSelf(product.rhs), image, rewriter);
  // In the shape of the weights it may go to an accumulator.
  auto reshape = getOnlyUser<nn::ReshapeOp>(op);
  call.result = reshape ? reshape.getResult() : op.getResult();
  return call;
}

std::optional<ConvolutionCall>
pipewright::matchConvolution(nn::MatMulOp op, const MatMulCall &product,
                             RewriterBase &rewriter) {
  // One matrix for all groups is not a matrix for each.
  size_t rank = getShape(op).size();
  if (getShape(product.lhs).size() != rank ||
      getShape(product.rhs).size() != rank)
    return std::nullopt;
  rewriter.setInsertionPoint(op);
  if (product.transposeLhs)
    return product.transposeRhs ? std::nullopt
                                : matchInputGradient(product, op, rewriter);
  return product.transposeRhs ? matchWeightGradient(product, op, rewriter)
                              : matchForward(product, op, rewriter);
}
