//===- Verification.cpp - What verifiers of shaped ops share
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

#include "pipewright/Dialect/NN/TensorSize.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>

using namespace mlir;
using namespace pipewright;

bool nn::hasReasonableSize(ArrayRef<int64_t> shape) {
  constexpr int64_t maxElements = int64_t(1) << 48;
  int64_t elements = 1;
  // An axis of no length does not make the others small.
  for (int64_t size : shape)
    if (llvm::MulOverflow(elements, std::max<int64_t>(size, 1), elements) ||
        elements > maxElements)
      return false;
  return true;
}

int64_t nn::multiplyAdd(int64_t count, int64_t step, int64_t offset) {
  uint64_t sum = llvm::SaturatingMultiplyAdd<uint64_t>(count, step, offset);
  return std::min<uint64_t>(sum, std::numeric_limits<int64_t>::max());
}

std::string nn::formatShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << '[';
  llvm::interleaveComma(shape, stream);
  stream << ']';
  return text;
}

LogicalResult nn::verifyShape(Operation *op, StringRef name, Value value,
                              ArrayRef<int64_t> expected) {
  if (getShape(value) == expected)
    return success();
  return op->emitOpError("has ")
         << (StringRef("aeiou").contains(name.front()) ? "an " : "a ") << name
         << " of shape " << formatShape(getShape(value)) << "; it must be "
         << formatShape(expected);
}

LogicalResult nn::verifySumType(Operation *op, Value operand, Value result) {
  Type element = getElementTypeOrSelf(operand);
  Type sum = getElementTypeOrSelf(result);
  if (sum == element || (sum.isF32() && element.getIntOrFloatBitWidth() < 32))
    return success();
  return op->emitOpError("makes ")
         << sum << " of " << element
         << "; it makes what its operands are of, or f32 of 16 bits";
}

LogicalResult nn::verifyAxis(Operation *op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError("names axis ")
         << axis << " of a tensor of rank " << rank;
}

LogicalResult nn::verifyAxes(Operation *op, ArrayRef<int64_t> axes,
                             int64_t rank) {
  for (int64_t axis : axes)
    if (failed(verifyAxis(op, axis, rank)))
      return failure();
  for (auto [axis, next] : llvm::zip(axes, axes.drop_front(!axes.empty())))
    if (axis >= next)
      return op->emitOpError("lists axis ")
             << next << " after axis " << axis
             << "; axes must be sorted and without repeats";
  return success();
}

LogicalResult nn::verifyPerAxis(Operation *op, StringRef name,
                                ArrayRef<int64_t> numbers, int64_t rank,
                                int64_t minimum) {
  if (static_cast<int64_t>(numbers.size()) != rank)
    return op->emitOpError("has ")
           << numbers.size() << " " << name << " for a tensor of rank " << rank;
  for (int64_t number : numbers)
    if (number < minimum)
      return op->emitOpError("has ") << number << " among its " << name
                                     << "; they must be at least " << minimum;
  return success();
}
