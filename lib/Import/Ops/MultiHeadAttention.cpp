//===- MultiHeadAttention.cpp - Attention after projections
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// com.microsoft's MultiHeadAttention: queries, keys and values apart or packed,
// and their biases.
//
//===----------------------------------------------------------------------===//

#include "../FusedAttention.h"

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// Part \p i of \p x, which has [batch, length, heads, parts, size of a head].
static Value unpack(NNBuilder &b, Value x, int64_t i) {
  ArrayRef<int64_t> shape = getShape(x);
  return b.reshape(b.sliceAxis(x, /*axis=*/3, i, /*size=*/1),
                   {shape[0], shape[1], shape[2] * shape[4]});
}

static bool isPacked(Value x, int64_t parts) {
  return x && getShape(x).size() == 5 && getShape(x)[3] == parts;
}

/// Queries, keys and values, which may be packed together.
static FailureOr<Projections> unpack(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value query = node.operand(0), key = node.operand(1);
  Value value = node.operand(2);
  if (isPacked(query, 3) && !key && !value)
    return Projections{unpack(b, query, 0), unpack(b, query, 1),
                       unpack(b, query, 2)};
  if (isPacked(key, 2) && !value)
    return Projections{query, unpack(b, key, 0), unpack(b, key, 1)};
  if (!key || !value)
    return node.emitError() << "has neither queries, keys and values nor "
                               "packed ones of [batch, length, heads, parts, "
                               "size of a head]";
  return Projections{query, key, value};
}

/// How many numbers \p x, queries, keys or values, has for a position.
static FailureOr<int64_t> getSize(OnnxNode &node, Value x) {
  ArrayRef<int64_t> shape = getShape(x);
  if (shape.size() == 4)
    return shape[1] * shape[3];
  if (shape.size() == 3)
    return shape[2];
  return node.emitError() << "needs operands with 3 or 4 axes, not "
                          << x.getType();
}

/// Adds the bias, operand 3, to what has three axes; keys and values with four
/// have theirs.
static LogicalResult addProjectionBias(OnnxNode &node,
                                       Projections &projections) {
  Value bias = node.operand(3);
  if (!bias)
    return success();
  NNBuilder &b = node.getBuilder();
  SmallVector<Value *> parts{&projections.query, &projections.key,
                             &projections.value};
  SmallVector<int64_t> sizes;
  for (Value *part : parts) {
    FailureOr<int64_t> size = getSize(node, *part);
    if (failed(size))
      return failure();
    sizes.push_back(*size);
  }
  int64_t offset = sizes[0] + sizes[1] + sizes[2];
  if (getShape(bias) != ArrayRef<int64_t>{offset})
    return node.emitError() << "has bias " << bias.getType() << " for "
                            << offset << " numbers of a query, key and value";
  offset = 0;
  for (auto [part, size] : llvm::zip_equal(parts, sizes)) {
    SmallVector<Value> sum{*part, b.sliceAxis(bias, /*axis=*/0, offset, size)};
    offset += size;
    if (getShape(*part).size() == 4)
      continue;
    if (failed(node.broadcastTogether(sum)))
      return failure();
    *part = b.create<nn::AddOp>(sum[0], sum[1]);
  }
  return success();
}

static LogicalResult importMultiHeadAttention(OnnxNode &node) {
  if (failed(checkIsUnshared(
          node, {{8, "past_sequence_length"}, {9, "cache_indirection"}})))
    return failure();
  if (node.hasOperand(6) != node.hasOperand(7))
    return node.emitError() << "has only one of past_key and past_value";
  FailureOr<Projections> projections = unpack(node);
  if (failed(projections) || failed(addProjectionBias(node, *projections)))
    return failure();
  auto attention =
      attend(node, *projections,
             {/*mask=*/4, /*bias=*/5, node.operand(6), node.operand(7)});
  if (failed(attention))
    return failure();
  auto &[heads, steps] = *attention;
  node.setResult(0, joinHeads(node.getBuilder(), steps.result));
  node.setResult(1, heads.key);
  node.setResult(2, heads.value);
  node.setResult(3, steps.masked);
  return success();
}

namespace pipewright {
void registerMultiHeadAttention(OnnxOpRegistry &registry) {
  registry.setDomain("com.microsoft");
  registry.add("MultiHeadAttention", /*since=*/1, {1, 10},
               importMultiHeadAttention);
}
} // namespace pipewright
