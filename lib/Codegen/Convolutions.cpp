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
#include "Windows.h"

#include <numeric>

using namespace mlir;
using namespace pipewright;

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

/// The transpose that \p value is, in another shape, or null.
static nn::TransposeOp getReshapedTranspose(Value value) {
  auto reshape = value.getDefiningOp<nn::ReshapeOp>();
  return reshape ? reshape.getOperand().getDefiningOp<nn::TransposeOp>()
                 : nullptr;
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// The image that \p windows are taken of, or null.
static Value findImage(ConvolutionCall &call, Value windows) {
  if (auto reshape = windows.getDefiningOp<nn::ReshapeOp>())
    return setWholeWindows(call, getSizes(reshape.getOperand()),
                           getSizes(windows))
               ? reshape.getOperand()
               : Value();
  auto im2col = windows.getDefiningOp<nn::Im2ColOp>();
  return im2col ? findImage(call, im2col, APFloat(0.0)) : Value();
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

/// The image that the elements of \p windows are added up to, or null.
static Value findSum(ConvolutionCall &call, nn::TransposeOp windows) {
  Sizes shape = getSizes(windows);
  if (auto reshape = getOnlyUser<nn::ReshapeOp>(windows))
    return setWholeWindows(call, getSizes(reshape), shape) ? reshape.getResult()
                                                           : Value();
  auto col2im = getOnlyUser<nn::Col2ImOp>(windows);
  return col2im ? findSum(call, col2im) : Value();
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
  return call.channels % call.groups == 0 &&
         elements ==
             call.channels / call.groups * call.kernel[0] * call.kernel[1];
}

/// The output of \p call, or its gradient, [samples, channels, positions], of
/// which \p rows have the channels in front.
static Value getOutput(const ConvolutionCall &call, Value rows,
                       RewriterBase &rewriter) {
  int64_t positions = call.output[0] * call.output[1];
  Value value = skipCast(rows);
  nn::TransposeOp front = getReshapedTranspose(value);
  if (front && movesToFront(front, 1, 2) &&
      getSizes(front.getOperand()).take_front(2) ==
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
  Sizes rows = getSizes(product.lhs);
  if (!image || !back || !movesToFront(back, 1, 2) ||
      !setChannels(call, rows, rows[rows.size() - 2], rows.back()) ||
      getSizes(back).take_front(2) != Sizes({call.batch, call.outputChannels}))
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
  Sizes rows = getSizes(product.lhs);
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
  Sizes rows = getSizes(product.lhs);
  if (!image ||
      !setChannels(call, rows, rows[rows.size() - 2], getSizes(op).back()))
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
  size_t rank = getSizes(op).size();
  if (getSizes(product.lhs).size() != rank ||
      getSizes(product.rhs).size() != rank)
    return std::nullopt;
  rewriter.setInsertionPoint(op);
  if (product.transposeLhs)
    return product.transposeRhs ? std::nullopt
                                : matchInputGradient(product, op, rewriter);
  return product.transposeRhs ? matchWeightGradient(product, op, rewriter)
                              : matchForward(product, op, rewriter);
}
