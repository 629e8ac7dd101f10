//===- Slicing.cpp - Parts of tensors, and more than all of them
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace pipewright;

//===----------------------------------------------------------------------===//
// Slice
//===----------------------------------------------------------------------===//

namespace {
/// What a Slice says, an entry per axis that it names.
struct SliceBounds {
  SmallVector<int64_t> starts, ends, axes, steps;
};

/// The elements that a Slice takes, an entry per axis of its operand.
struct SliceRange {
  SmallVector<int64_t> offsets, sizes, strides, reversed;
};
} // namespace

static FailureOr<SliceBounds> getSliceBounds(OnnxNode &node) {
  constexpr int64_t since = 10;
  FailureOr<std::optional<SmallVector<int64_t>>> fields[] = {
      node.getIntegers("starts", 1, since), node.getIntegers("ends", 2, since),
      node.getIntegers("axes", 3, since), node.getIntegers("steps", 4, since)};
  for (const auto &field : fields)
    if (failed(field))
      return failure();
  if (!*fields[0] || !*fields[1])
    return node.emitError() << "has no bounds";
  SliceBounds bounds{**fields[0], **fields[1], {}, {}};
  size_t count = bounds.starts.size();
  SmallVector<int64_t> firstAxes = getAllAxes(count);
  bounds.axes = fields[2]->value_or(firstAxes);
  bounds.steps = fields[3]->value_or(SmallVector<int64_t>(count, 1));
  if (bounds.ends.size() != count || bounds.axes.size() != count ||
      bounds.steps.size() != count)
    return node.emitError() << "has bounds, axes and steps for different "
                            << "numbers of axes";
  if (llvm::is_contained(bounds.steps, 0))
    return node.emitError() << "has step 0";
  return bounds;
}

/// Bounds count from the end if negative, and are clamped to the axis.
static void sliceAxis(int64_t axis, int64_t size, int64_t start, int64_t end,
                      int64_t step, SliceRange &range) {
  // No axis is longer, so nothing is lost; and nothing below overflows.
  constexpr int64_t limit = int64_t(1) << 60;
  start = std::clamp(start, -limit, limit);
  end = std::clamp(end, -limit, limit);
  step = std::clamp(step, -limit, limit);
  start += start < 0 ? size : 0;
  end += end < 0 ? size : 0;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, size);
    end = std::clamp<int64_t>(end, 0, size);
  } else {
    // Taken from the reversed axis, where element i is at size - 1 - i.
    range.reversed.push_back(axis);
    start = size - 1 - std::clamp<int64_t>(start, -1, size - 1);
    end = size - 1 - std::clamp<int64_t>(end, -1, size - 1);
    step = -step;
  }
  int64_t length = std::max<int64_t>(0, end - start);
  range.offsets[axis] = length == 0 ? 0 : start;
  range.sizes[axis] = (length + step - 1) / step;
  range.strides[axis] = step;
}

static FailureOr<Value> importSlice(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  FailureOr<SliceBounds> bounds = getSliceBounds(node);
  if (failed(bounds) || failed(node.normalizeAxes(bounds->axes, shape.size())))
    return failure();
  SliceRange range{SmallVector<int64_t>(shape.size(), 0),
                   SmallVector<int64_t>(shape),
                   SmallVector<int64_t>(shape.size(), 1),
                   {}};
  for (auto [axis, start, end, step] : llvm::zip_equal(
           bounds->axes, bounds->starts, bounds->ends, bounds->steps))
    sliceAxis(axis, shape[axis], start, end, step, range);
  if (!range.reversed.empty()) {
    llvm::sort(range.reversed);
    x = b.create<nn::ReverseOp>(x, range.reversed);
  }
  return b.slice(x, range.offsets, range.sizes, range.strides);
}

//===----------------------------------------------------------------------===//
// Split
//===----------------------------------------------------------------------===//

/// The sizes of the parts: given, or the axis in equal parts of which the last
/// may be smaller.
static FailureOr<SmallVector<int64_t>> getSplitSizes(OnnxNode &node,
                                                     int64_t size) {
  FailureOr<std::optional<SmallVector<int64_t>>> given =
      node.getIntegers("split", 1, /*since=*/13);
  if (failed(given))
    return failure();
  if (*given)
    return **given;
  int64_t count = node.getInt("num_outputs", node.getNumResults());
  if (count < 1 || count > std::max<int64_t>(size, 1))
    return node.emitError() << "cannot make " << count << " parts of " << size;
  int64_t part = (size + count - 1) / count;
  SmallVector<int64_t> sizes;
  for (int64_t left = size, i = 0; i < count; ++i, left -= sizes.back())
    sizes.push_back(std::min(left, part));
  return sizes;
}

static LogicalResult importSplit(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  FailureOr<int64_t> axis = node.getAxis(node.getInt("axis", 0), shape.size());
  if (failed(axis))
    return failure();
  FailureOr<SmallVector<int64_t>> sizes = getSplitSizes(node, shape[*axis]);
  if (failed(sizes))
    return failure();
  if (int64_t(sizes->size()) != node.getNumResults() ||
      !addUpTo(*sizes, shape[*axis])) {
    InFlightDiagnostic diag = node.emitError()
                              << "splits axis " << *axis << " of size "
                              << shape[*axis] << " into parts of ";
    llvm::interleaveComma(*sizes, diag);
    return diag << " for " << node.getNumResults() << " results";
  }
  SmallVector<int64_t> offsets(shape.size(), 0), part(shape);
  SmallVector<int64_t> strides(shape.size(), 1);
  for (auto [i, size] : llvm::enumerate(*sizes)) {
    part[*axis] = size;
    node.setResult(
        i, node.getBuilder().slice(node.operand(0), offsets, part, strides));
    offsets[*axis] += size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

namespace {
/// How many elements a Pad adds before and after each axis; negative amounts
/// take elements away.
struct PadAmounts {
  SmallVector<int64_t> low, high;
};
} // namespace

static FailureOr<PadAmounts> getPadAmounts(OnnxNode &node, int64_t rank) {
  FailureOr<std::optional<SmallVector<int64_t>>> pads =
      node.getIntegers("pads", 1, /*since=*/11);
  if (failed(pads))
    return failure();
  SmallVector<int64_t> axes = getAllAxes(rank);
  if (node.hasOperand(3)) {
    FailureOr<SmallVector<int64_t>> named = node.getIntegers(3);
    if (failed(named) || failed(node.normalizeAxes(*named, rank)))
      return failure();
    axes = *named;
  }
  if (!*pads || (*pads)->size() != 2 * axes.size())
    return node.emitError()
           << "needs two amounts for each of " << axes.size() << " axes";
  PadAmounts amounts{SmallVector<int64_t>(rank, 0),
                     SmallVector<int64_t>(rank, 0)};
  for (auto [i, axis] : llvm::enumerate(axes)) {
    amounts.low[axis] = (**pads)[i];
    amounts.high[axis] = (**pads)[axes.size() + i];
  }
  return amounts;
}

/// Whether an axis can be padded by \p amount, or cropped if it is negative.
static bool isReasonableAmount(int64_t amount) {
  constexpr int64_t limit = int64_t(1) << 40;
  return amount >= -limit && amount <= limit;
}

/// Takes the elements away that negative amounts ask for.
static FailureOr<Value> crop(OnnxNode &node, const PadAmounts &amounts) {
  Value x = node.operand(0);
  SmallVector<int64_t> offsets, sizes;
  for (auto [size, low, high] :
       llvm::zip_equal(getShape(x), amounts.low, amounts.high)) {
    if (!isReasonableAmount(low) || !isReasonableAmount(high) ||
        size + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0) < 0)
      return node.emitError() << "pads an axis of size " << size << " by "
                              << low << " and " << high;
    offsets.push_back(std::max<int64_t>(-low, 0));
    sizes.push_back(size + std::min<int64_t>(low, 0) +
                    std::min<int64_t>(high, 0));
  }
  return node.getBuilder().slice(x, offsets, sizes,
                                 SmallVector<int64_t>(sizes.size(), 1));
}

/// Which of \p size elements is found at \p position, which may be before or
/// after all of them.
using FindElementFn = int64_t (*)(int64_t position, int64_t size);

static int64_t findNearest(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position, 0, size - 1);
}

static int64_t findRepeated(int64_t position, int64_t size) {
  return (position % size + size) % size;
}

/// The elements go to and fro; the first and the last are met once each time.
static int64_t findReflected(int64_t position, int64_t size) {
  if (size == 1)
    return 0;
  int64_t period = 2 * (size - 1);
  int64_t phase = findRepeated(position, period);
  return std::min(phase, period - phase);
}

/// Pads \p x with elements of its own, one axis after the other.
static FailureOr<Value> padWithElements(OnnxNode &node, Value x,
                                        const PadAmounts &amounts,
                                        FindElementFn find) {
  NNBuilder &b = node.getBuilder();
  for (auto [axis, low, high] : llvm::enumerate(amounts.low, amounts.high)) {
    SmallVector<int64_t> shape(getShape(x)), elements;
    int64_t size = shape[axis];
    if (low <= 0 && high <= 0)
      continue;
    int64_t first = -std::max<int64_t>(low, 0);
    int64_t end = size + std::max<int64_t>(high, 0);
    if (size == 0)
      return node.emitError() << "pads an axis of size 0 to " << end - first
                              << " with elements of its own";
    if (failed(node.checkListed(end - first)))
      return failure();
    for (int64_t position = first; position < end; ++position)
      elements.push_back(find(position, size));
    shape[axis] = elements.size();
    x = b.create<nn::GatherOp>(getTensorType(x).clone(shape), x,
                               b.integers(elements), axis);
  }
  return x;
}

static FailureOr<Value> padWithNumber(OnnxNode &node, Value x,
                                      PadAmounts amounts) {
  FailureOr<double> value = node.getFloat("value", 0.0);
  if (node.hasOperand(2))
    value = node.getNumber(2);
  if (failed(value))
    return failure();
  SmallVector<int64_t> shape(getShape(x)), none(shape.size(), 0);
  for (auto [size, low, high] :
       llvm::zip_equal(shape, amounts.low, amounts.high)) {
    low = std::max<int64_t>(low, 0);
    high = std::max<int64_t>(high, 0);
    size += low + high;
  }
  if (shape == getShape(x))
    return x;
  return node.getBuilder().create<nn::PadOp>(getTensorType(x).clone(shape), x,
                                             amounts.low, amounts.high, none,
                                             llvm::APFloat(*value));
}

static FailureOr<Value> importPad(OnnxNode &node) {
  FailureOr<PadAmounts> amounts =
      getPadAmounts(node, getTensorType(node.operand(0)).getRank());
  if (failed(amounts))
    return failure();
  FailureOr<Value> cropped = crop(node, *amounts);
  if (failed(cropped))
    return failure();
  StringRef mode = node.getString("mode", "constant");
  if (mode == "constant")
    return padWithNumber(node, *cropped, *amounts);
  auto find = llvm::StringSwitch<FindElementFn>(mode)
                  .Case("edge", findNearest)
                  .Case("reflect", findReflected)
                  .Case("wrap", findRepeated)
                  .Default(nullptr);
  if (!find)
    return node.emitError()
           << "has mode '" << mode << "', which is not supported";
  return padWithElements(node, *cropped, *amounts, find);
}

//===----------------------------------------------------------------------===//
// Trilu
//===----------------------------------------------------------------------===//

static FailureOr<Value> importTrilu(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() < 2)
    return node.emitError() << "needs a matrix, not " << x.getType();
  FailureOr<double> diagonal = 0.0;
  if (node.hasOperand(1))
    diagonal = node.getNumber(1);
  if (failed(diagonal))
    return failure();
  bool isUpper = node.getInt("upper", 1) != 0;
  int64_t rows = shape[shape.size() - 2], columns = shape.back();
  constexpr int64_t maxMask = int64_t(1) << 28;
  if (rows * columns > maxMask)
    return node.emitError()
           << "takes the triangle of " << x.getType() << ", which is too large";
  SmallVector<bool> kept;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      kept.push_back(isUpper ? column - row >= *diagonal
                             : column - row <= *diagonal);
  auto type =
      RankedTensorType::get({rows, columns}, b.getOpBuilder().getI1Type());
  Value mask = b.constant(DenseElementsAttr::get(type, kept));
  return b.create<nn::SelectOp>(x.getType(), b.broadcast(mask, shape), x,
                                b.splatLike(x, 0.0));
}

namespace pipewright {
void registerSlicing(OnnxOpRegistry &registry) {
  registry.add("Pad", /*since=*/2, {1, 4}, importPad);
  registry.add("Slice", /*since=*/1, {1, 5}, importSlice);
  registry.add("Split", /*since=*/2, {1, 2}, importSplit);
  registry.add("Trilu", /*since=*/14, {1, 2}, importTrilu);
}
} // namespace pipewright
