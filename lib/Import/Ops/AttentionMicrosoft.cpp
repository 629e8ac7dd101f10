//===- AttentionMicrosoft.cpp - Attention with projections inside
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// com.microsoft's Attention, as ONNX Runtime's optimizer writes it for encoders
// and decoders.
//
//===----------------------------------------------------------------------===//

#include "../FusedAttention.h"

#include "pipewright/Import/OnnxOpRegistry.h"

using namespace mlir;
using namespace pipewright;

/// Three products with the columns of one matrix.
static FailureOr<Projections> project(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  Value x = node.operand(0), weight = node.operand(1), bias = node.operand(2);
  ArrayRef<int64_t> rows = getShape(x), shape = getShape(weight);
  if (rows.size() != 3 || shape.size() != 2 || rows[2] != shape[0] ||
      getElementType(x) != getElementType(weight))
    return node.emitError()
           << "cannot multiply " << x.getType() << " by " << weight.getType();
  SmallVector<int64_t> sizes(3, shape[1] / 3);
  if (std::optional<SmallVector<int64_t>> given =
          node.getInts("qkv_hidden_sizes"))
    sizes = *given;
  if (sizes.size() != 3 || llvm::is_contained(sizes, 0) ||
      !addUpTo(sizes, shape[1]))
    return node.emitError() << "cannot cut weights " << weight.getType()
                            << " into those of queries, keys and values; "
                               "qkv_hidden_sizes must add up";
  SmallVector<Value> sum{b.matmul(x, weight)};
  if (bias) {
    if (getShape(bias) != ArrayRef<int64_t>{shape[1]})
      return node.emitError() << "has bias " << bias.getType()
                              << " for weights " << weight.getType();
    sum.push_back(bias);
    if (failed(node.broadcastTogether(sum)))
      return failure();
    sum.front() = b.create<nn::AddOp>(sum[0], sum[1]);
  }
  auto take = [&](int64_t offset, int64_t size) {
    return b.sliceAxis(sum.front(), /*axis=*/2, offset, size);
  };
  return Projections{take(0, sizes[0]), take(sizes[0], sizes[1]),
                     take(sizes[0] + sizes[1], sizes[2])};
}

/// Part \p i, keys or values, of a past of [2, batch, heads, length, size].
static FailureOr<Value> takePast(OnnxNode &node, Value past, int64_t i) {
  if (!past)
    return past;
  NNBuilder &b = node.getBuilder();
  ArrayRef<int64_t> shape = getShape(past);
  if (shape.size() != 5 || shape[0] != 2)
    return node.emitError()
           << "needs a past of keys and values, not " << past.getType();
  return b.reshape(b.sliceAxis(past, /*axis=*/0, i, /*size=*/1),
                   shape.drop_front());
}

/// Result 1: keys and values as one tensor.
static LogicalResult setPresent(OnnxNode &node, const AttentionHeads &heads) {
  NNBuilder &b = node.getBuilder();
  if (!node.hasResult(1))
    return success();
  if (heads.key.getType() != heads.value.getType())
    return node.emitError()
           << "cannot put keys " << heads.key.getType() << " and values "
           << heads.value.getType() << " into one result";
  SmallVector<int64_t> shape(getShape(heads.key));
  shape.insert(shape.begin(), 1);
  node.setResult(
      1, b.concat({b.reshape(heads.key, shape), b.reshape(heads.value, shape)},
                  /*axis=*/0));
  return success();
}

static LogicalResult importAttention(OnnxNode &node) {
  if (failed(checkIsUnshared(node, {{6, "past_sequence_length"}})))
    return failure();
  FailureOr<Projections> projections = project(node);
  FailureOr<Value> pastKey = takePast(node, node.operand(4), 0);
  FailureOr<Value> pastValue = takePast(node, node.operand(4), 1);
  if (failed(projections) || failed(pastKey) || failed(pastValue))
    return failure();
  auto attention = attend(node, *projections,
                          {/*mask=*/3, /*bias=*/5, *pastKey, *pastValue});
  if (failed(attention))
    return failure();
  auto &[heads, steps] = *attention;
  node.setResult(0, joinHeads(node.getBuilder(), steps.result));
  return setPresent(node, heads);
}

namespace pipewright {
void registerAttentionMicrosoft(OnnxOpRegistry &registry) {
  registry.setDomain("com.microsoft");
  registry.add("Attention", /*since=*/1, {2, 7}, importAttention);
}
} // namespace pipewright
