//===- Pooling.cpp - Pooling among reductions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With the windows of an image as nn.im2col has them, where padding is -inf for
// the largest and 0 for sums:
//
//   output = reduce over the kernel's axes (windows)
//   gradient of the image = nn.col2im (gradient of the windows)
//
// The gradient of a sum is repeated for all elements of its window. That of the
// largest is selected for one of them, as lib/Training/Gradients/Reduction.cpp
// has it: the first that is equal to the output or not a number. Windows may be
// casts.
//
//===----------------------------------------------------------------------===//

#include "Pooling.h"
#include "Windows.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

static bool isSplat(Value value, double expected) {
  SplatElementsAttr splat;
  return matchPattern(value, m_Constant(&splat)) &&
         isa<FloatType>(splat.getElementType()) &&
         splat.getSplatValue<APFloat>().convertToDouble() == expected;
}

/// Whether \p axes are those of the kernel in \p windows.
static bool areOfKernel(Sizes axes, Sizes windows) {
  return llvm::equal(axes, llvm::seq<int64_t>(2, 2 + countAxes(windows)));
}

static int64_t countElements(const SlidingWindows &windows) {
  return windows.kernel[0] * windows.kernel[1];
}

/// Whether the window is all of the image: that is a reduction like any other.
static bool isGlobal(const SlidingWindows &windows) {
  return windows.output == std::array<int64_t, 2>{1, 1};
}

static bool isSame(const SlidingWindows &a, const SlidingWindows &b) {
  return a.batch == b.batch && a.channels == b.channels && a.input == b.input &&
         a.kernel == b.kernel && a.output == b.output &&
         a.padding == b.padding && a.strides == b.strides &&
         a.dilations == b.dilations;
}

/// Whether sums of \p windows are averages if they are scaled by \p factor.
static bool isAverage(const SlidingWindows &windows, double factor) {
  return std::abs(factor * countElements(windows) - 1) < 1e-6;
}

/// What \p scaled multiplies by one number, and that number; no value if it
/// does not.
static std::pair<Value, double> getScaled(nn::MulOp scaled) {
  SplatElementsAttr splat;
  if (!scaled || !matchPattern(scaled.getRhs(), m_Constant(&splat)))
    return {Value(), 1};
  return {scaled.getLhs(), splat.getSplatValue<APFloat>().convertToDouble()};
}

/// Makes the sum of \p call an average if that is what it is scaled to.
static void takeScaling(PoolingCall &call) {
  double factor = 1;
  Value result = call.result;
  while (!isAverage(call, factor)) {
    auto scaled = getOnlyUser<nn::MulOp>(result.getDefiningOp());
    auto [source, number] = getScaled(scaled);
    if (source != result)
      return;
    factor *= number;
    result = scaled;
  }
  call.form = PoolingForm::Average;
  call.result = result;
}

std::optional<PoolingCall> pipewright::matchPooling(nn::ReduceOp op) {
  bool isMax = op.getKind() == nn::Reduction::Max;
  auto windows = skipCast(op.getOperand()).getDefiningOp<nn::Im2ColOp>();
  if (!windows || !areOfKernel(op.getAxes(), getSizes(windows)) ||
      (!isMax && op.getKind() != nn::Reduction::Sum))
    return std::nullopt;
  PoolingCall call{};
  call.form = isMax ? PoolingForm::Max : PoolingForm::Sum;
  APFloat padding =
      isMax ? APFloat::getInf(APFloat::IEEEdouble(), true) : APFloat(0.0);
  call.image = findImage(call, windows, padding);
  // What had to be padded before would be read twice.
  if (!call.image || isGlobal(call) || call.image.getDefiningOp<nn::PadOp>())
    return std::nullopt;
  call.result = op.getResult();
  if (!isMax)
    takeScaling(call);
  Type from = getElementTypeOrSelf(call.image), to = getElementTypeOrSelf(op);
  // The largest number and an average are as those that they are of.
  bool isWider = to.isF32() && from.getIntOrFloatBitWidth() == 16 &&
                 call.form != PoolingForm::Sum;
  return from == to || isWider ? std::optional(call) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// What \p windows have in place of each element of a window, or null if that
/// is not the same number.
static Value getRepeated(Value windows) {
  auto broadcast = skipCast(windows).getDefiningOp<nn::BroadcastOp>();
  if (!broadcast)
    return {};
  SmallVector<int64_t> kept(getSizes(windows));
  int64_t axes = countAxes(kept);
  std::fill_n(kept.begin() + 2, axes, 1);
  auto reshape = broadcast.getOperand().getDefiningOp<nn::ReshapeOp>();
  if (!reshape || getSizes(reshape) != Sizes(kept))
    return {};
  kept.erase(kept.begin() + 2, kept.begin() + 2 + axes);
  return getSizes(reshape.getOperand()) == Sizes(kept) ? reshape.getOperand()
                                                       : Value();
}

/// Whether \p numbers has the row-major numbers of a kernel's elements.
static bool numbersElements(Value numbers) {
  auto broadcast = numbers.getDefiningOp<nn::BroadcastOp>();
  DenseIntElementsAttr values;
  if (!broadcast || !matchPattern(broadcast.getOperand(), m_Constant(&values)))
    return false;
  SmallVector<int64_t> line(getSizes(numbers).size(), 1);
  for (int64_t axis = 2; axis < 2 + countAxes(line); ++axis)
    line[axis] = getSizes(numbers)[axis];
  return values.getType().getShape() == Sizes(line) &&
         llvm::equal(llvm::map_range(values.getValues<APInt>(),
                                     [](const APInt &number) {
                                       return number.getSExtValue();
                                     }),
                     llvm::seq<int64_t>(0, values.getNumElements()));
}

/// Sets the image of \p call and what was pooled of it, if \p isLargest says
/// which elements of windows may be the largest; false if it does not.
static bool setLargest(PoolingCall &call, Value isLargest) {
  auto either = isLargest.getDefiningOp<nn::OrOp>();
  auto isEqual =
      either ? either.getLhs().getDefiningOp<nn::CompareOp>() : nn::CompareOp();
  auto isNaN =
      either ? either.getRhs().getDefiningOp<nn::CompareOp>() : nn::CompareOp();
  if (!isEqual || !isNaN || isEqual.getPredicate() != nn::Comparison::Equal ||
      isNaN.getPredicate() != nn::Comparison::NotEqual ||
      isNaN.getLhs() != isNaN.getRhs() || isNaN.getLhs() != isEqual.getLhs())
    return false;
  auto windows = skipCast(isEqual.getLhs()).getDefiningOp<nn::Im2ColOp>();
  call.pooled = getRepeated(isEqual.getRhs());
  if (!windows || !call.pooled)
    return false;
  SlidingWindows sum = call;
  call.image =
      findImage(call, windows, APFloat::getInf(APFloat::IEEEdouble(), true));
  return call.image && isSame(call, sum);
}

/// Makes \p call the gradient of the largest if \p windows is that.
static bool setMaxGradient(PoolingCall &call, nn::SelectOp windows) {
  auto isFirst = windows.getCondition().getDefiningOp<nn::CompareOp>();
  if (!isFirst || isFirst.getPredicate() != nn::Comparison::Equal ||
      !isSplat(windows.getOnFalse(), 0) || !numbersElements(isFirst.getLhs()))
    return false;
  Value first = getRepeated(isFirst.getRhs());
  auto lowest = first ? first.getDefiningOp<nn::ReduceOp>() : nn::ReduceOp();
  if (!lowest || lowest.getKind() != nn::Reduction::Min ||
      !areOfKernel(lowest.getAxes(), getSizes(windows)))
    return false;
  auto candidates = lowest.getOperand().getDefiningOp<nn::SelectOp>();
  if (!candidates || candidates.getOnTrue() != isFirst.getLhs() ||
      !setLargest(call, candidates.getCondition()))
    return false;
  call.form = PoolingForm::MaxGradient;
  call.pooledGradient = getRepeated(windows.getOnTrue());
  return call.pooledGradient != nullptr;
}

/// Makes \p call the gradient of a sum or, if that is scaled so, of an average;
/// false if \p windows are neither.
static bool setSumGradient(PoolingCall &call, Value windows) {
  call.form = PoolingForm::SumGradient;
  call.pooledGradient = getRepeated(windows);
  if (!call.pooledGradient)
    return false;
  double factor = 1;
  Value scaled = call.pooledGradient;
  while (!isAverage(call, factor)) {
    auto [source, number] = getScaled(scaled.getDefiningOp<nn::MulOp>());
    if (!source)
      return true;
    factor *= number;
    scaled = source;
  }
  call.form = PoolingForm::AverageGradient;
  call.pooledGradient = scaled;
  return true;
}

std::optional<PoolingCall>
pipewright::matchPoolingGradient(nn::Col2ImOp op, RewriterBase &rewriter) {
  PoolingCall call{};
  call.result = findSum(call, op);
  if (!call.result || isGlobal(call))
    return std::nullopt;
  auto select = skipCast(op.getOperand()).getDefiningOp<nn::SelectOp>();
  if (!(select ? setMaxGradient(call, select)
               : setSumGradient(call, op.getOperand())))
    return std::nullopt;
  // Numbers are as rounded as those that are added up.
  Type element = getElementTypeOrSelf(call.result);
  if (call.image && getElementTypeOrSelf(call.image) != element)
    return std::nullopt;
  rewriter.setInsertionPoint(op);
  for (Value *operand : {&call.image, &call.pooled, &call.pooledGradient})
    if (*operand)
      *operand = castTo(element, *operand, rewriter);
  return call;
}
