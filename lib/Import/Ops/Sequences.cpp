//===- Sequences.cpp - Lists of tensors
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PyTorch's exporter writes `split`, `chunk` and `unbind` as a sequence whose
// elements are taken one by one. How many there are is known here, so nothing
// is left of the sequence.
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// Each element is an op.
constexpr int64_t maxElements = int64_t(1) << 16;

/// Parts of \p part each, of which the last may be smaller.
static FailureOr<SmallVector<int64_t>>
getEqualParts(OnnxNode &node, int64_t size, int64_t part) {
  if (part < 1 || size < 1)
    return node.emitError()
           << "cannot make parts of " << part << " of " << size;
  if ((size - 1) / part >= maxElements)
    return node.emitError() << "makes more than " << maxElements << " parts";
  SmallVector<int64_t> sizes;
  for (int64_t left = size; left > 0; left -= sizes.back())
    sizes.push_back(std::min(left, part));
  return sizes;
}

/// The sizes of the parts: a list of them, or what all have, 1 if left out.
static FailureOr<SmallVector<int64_t>> getPartSizes(OnnxNode &node,
                                                    int64_t size) {
  if (!node.hasOperand(1))
    return getEqualParts(node, size, 1);
  FailureOr<SmallVector<int64_t>> sizes = node.getIntegers(1);
  if (failed(sizes))
    return failure();
  if (getTensorType(node.operand(1)).getRank() == 0)
    return getEqualParts(node, size, sizes->front());
  if (int64_t(sizes->size()) > maxElements)
    return node.emitError() << "makes more than " << maxElements << " parts";
  if (!sizes->empty() && addUpTo(*sizes, size))
    return sizes;
  InFlightDiagnostic diag = node.emitError() << "splits an axis of size "
                                             << size << " into parts of ";
  llvm::interleaveComma(*sizes, diag);
  return diag;
}

static LogicalResult importSplitToSequence(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0);
  ArrayRef<int64_t> shape = getShape(x);
  FailureOr<int64_t> axis = node.getAxis(node.getInt("axis", 0), shape.size());
  if (failed(axis))
    return failure();
  FailureOr<SmallVector<int64_t>> sizes = getPartSizes(node, shape[*axis]);
  if (failed(sizes))
    return failure();
  bool dropsAxis = node.getInt("keepdims", 1) == 0 && !node.hasOperand(1);
  SmallVector<int64_t> rest(shape);
  rest.erase(rest.begin() + *axis);
  SmallVector<Value> parts;
  int64_t offset = 0;
  for (int64_t size : *sizes) {
    Value part = b.sliceAxis(x, *axis, offset, size);
    parts.push_back(dropsAxis ? b.reshape(part, rest) : part);
    offset += size;
  }
  node.setSequence(parts);
  return success();
}

static FailureOr<Value> importSequenceAt(OnnxNode &node) {
  FailureOr<ArrayRef<Value>> elements = node.getSequence(0);
  if (failed(elements))
    return failure();
  FailureOr<SmallVector<int64_t>> positions = node.getIntegers(1);
  if (failed(positions))
    return failure();
  if (positions->size() != 1)
    return node.emitError() << "has " << positions->size() << " positions";
  int64_t position = positions->front(), count = elements->size();
  if (position < -count || position >= count)
    return node.emitError()
           << "takes element " << position << " of a sequence of " << count;
  return (*elements)[position < 0 ? position + count : position];
}

namespace pipewright {
void registerSequences(OnnxOpRegistry &registry) {
  registry.add("SequenceAt", /*since=*/11, 2, importSequenceAt);
  registry.add("SplitToSequence", /*since=*/11, {1, 2}, importSplitToSequence);
}
} // namespace pipewright
