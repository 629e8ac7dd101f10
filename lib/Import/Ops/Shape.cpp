//===- Shape.cpp - Other shapes for the same elements
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Dialect/NN/TensorSize.h"
#include "pipewright/Import/OnnxOpRegistry.h"

#include <numeric>

using namespace mlir;
using namespace pipewright;

/// The shape that a Reshape asks for: 0 copies the dimension (unless
/// `allowzero`), and one -1 takes what is left.
static FailureOr<SmallVector<int64_t>> resolveShape(OnnxNode &node,
                                                    ArrayRef<int64_t> asked) {
  RankedTensorType type = getTensorType(node.operand(0));
  bool allowZero = node.getInt("allowzero", 0) != 0;
  SmallVector<int64_t> shape(asked);
  int64_t known = 1, unknownAxis = -1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowZero) {
      if (int64_t(axis) >= type.getRank())
        return node.emitError()
               << "copies dimension " << axis << " of " << type;
      size = type.getDimSize(axis);
    }
    if (size < -1 || (size == -1 && unknownAxis >= 0))
      return node.emitError() << "asks for more than one unknown dimension";
    if (size == -1)
      unknownAxis = axis;
    else if (llvm::MulOverflow(known, size, known))
      return node.emitError() << "asks for too many elements";
  }
  int64_t elements = type.getNumElements();
  if (unknownAxis >= 0 && known > 0)
    shape[unknownAxis] = elements / known;
  if (unknownAxis >= 0 ? known == 0 || elements % known != 0
                       : elements != known) {
    InFlightDiagnostic diag = node.emitError()
                              << "cannot reshape " << type << " to [";
    llvm::interleaveComma(asked, diag);
    return diag << "]";
  }
  return shape;
}

static FailureOr<Value> importReshape(OnnxNode &node) {
  FailureOr<std::optional<SmallVector<int64_t>>> asked =
      node.getIntegers("shape", 1, /*since=*/5);
  if (failed(asked))
    return failure();
  if (!*asked)
    return node.emitError() << "has no shape";
  FailureOr<SmallVector<int64_t>> shape = resolveShape(node, **asked);
  if (failed(shape))
    return failure();
  return node.getBuilder().reshape(node.operand(0), *shape);
}

static FailureOr<Value> importFlatten(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  int64_t rank = shape.size();
  int64_t axis = node.getInt("axis", 1);
  if (axis < -rank || axis > rank)
    return node.emitError() << "flattens at axis " << axis << " of " << rank;
  if (axis < 0)
    axis += rank;
  return node.getBuilder().reshape(
      node.operand(0), {ShapedType::getNumElements(shape.take_front(axis)),
                        ShapedType::getNumElements(shape.drop_front(axis))});
}

static FailureOr<Value> importSqueeze(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  int64_t rank = shape.size();
  FailureOr<std::optional<SmallVector<int64_t>>> axes =
      node.getIntegers("axes", 1, /*since=*/13);
  if (failed(axes) || (*axes && failed(node.normalizeAxes(**axes, rank))))
    return failure();
  SmallVector<int64_t> squeezed;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool isNamed = *axes && llvm::is_contained(**axes, int64_t(axis));
    if (isNamed && size != 1)
      return node.emitError() << "drops axis " << axis << " of size " << size;
    if (*axes ? !isNamed : size != 1)
      squeezed.push_back(size);
  }
  return node.getBuilder().reshape(node.operand(0), squeezed);
}

static FailureOr<Value> importUnsqueeze(OnnxNode &node) {
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  FailureOr<std::optional<SmallVector<int64_t>>> axes =
      node.getIntegers("axes", 1, /*since=*/13);
  if (failed(axes))
    return failure();
  if (!*axes)
    return node.emitError() << "has no axes";
  // Axes are those of the result.
  int64_t rank = shape.size() + (*axes)->size();
  if (failed(node.normalizeAxes(**axes, rank)))
    return failure();
  SmallVector<int64_t> unsqueezed;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (llvm::is_contained(**axes, axis)) {
      unsqueezed.push_back(1);
      continue;
    }
    unsqueezed.push_back(shape.front());
    shape = shape.drop_front();
  }
  return node.getBuilder().reshape(node.operand(0), unsqueezed);
}

static FailureOr<Value> importTranspose(OnnxNode &node) {
  int64_t rank = getTensorType(node.operand(0)).getRank();
  SmallVector<int64_t> permutation(rank);
  std::iota(permutation.rbegin(), permutation.rend(), 0);
  if (std::optional<SmallVector<int64_t>> given = node.getInts("perm"))
    permutation = *given;
  if (int64_t(permutation.size()) != rank)
    return node.emitError() << "permutes " << permutation.size() << " axes of "
                            << node.operand(0).getType();
  if (failed(node.normalizeAxes(permutation, rank)))
    return failure();
  return node.getBuilder().transpose(node.operand(0), permutation);
}

static FailureOr<Value> importExpand(OnnxNode &node) {
  Value x = node.operand(0);
  FailureOr<SmallVector<int64_t>> asked = node.getIntegers(1);
  if (failed(asked))
    return failure();
  // Not one-directional: an asked dimension of 1 keeps the operand's.
  std::optional<SmallVector<int64_t>> shape =
      getBroadcastShape(getShape(x), *asked);
  if (!shape || llvm::any_of(*shape, [](int64_t size) { return size < 0; })) {
    InFlightDiagnostic diag = node.emitError()
                              << "cannot expand " << x.getType() << " to [";
    llvm::interleaveComma(*asked, diag);
    return diag << "]";
  }
  return node.getBuilder().broadcast(x, *shape);
}

static FailureOr<Value> importTile(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  FailureOr<SmallVector<int64_t>> repeats = node.getIntegers(1);
  if (failed(repeats))
    return failure();
  if (repeats->size() != shape.size() ||
      llvm::any_of(*repeats, [](int64_t count) { return count < 0; }))
    return node.emitError() << "needs a number of repeats for each axis of "
                            << node.operand(0).getType();
  // An axis of n elements r times is the axes [r, n], of which the first is
  // broadcast.
  SmallVector<int64_t> apart, repeated, tiled;
  for (auto [size, count] : llvm::zip_equal(shape, *repeats)) {
    if (!nn::hasReasonableSize({count, size}))
      return node.emitError()
             << "repeats the " << size << " elements of an axis " << count
             << " times, which is too often";
    apart.append({1, size});
    repeated.append({count, size});
    tiled.push_back(count * size);
  }
  Value split = b.reshape(node.operand(0), apart);
  return b.reshape(b.broadcast(split, repeated), tiled);
}

static FailureOr<Value> importConcat(OnnxNode &node) {
  SmallVector<Value> parts;
  for (Value part : node.getOperands())
    if (part)
      parts.push_back(part);
  RankedTensorType type = getTensorType(parts.front());
  FailureOr<int64_t> axis =
      node.getAxis(node.getInt("axis", 1), type.getRank());
  if (failed(axis))
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  shape[*axis] = 0;
  for (Value part : parts) {
    SmallVector<int64_t> expected(shape);
    if (getTensorType(part).getRank() == type.getRank())
      expected[*axis] = getShape(part)[*axis];
    if (getTensorType(part) != type.clone(expected))
      return node.emitError() << "joins " << type << " with " << part.getType()
                              << " along axis " << *axis;
    shape[*axis] += expected[*axis];
  }
  return node.getBuilder().concat(parts, *axis);
}

//===----------------------------------------------------------------------===//
// Between channels and space
//===----------------------------------------------------------------------===//

/// The side of the blocks; fails unless the operand is a batch of images.
static FailureOr<int64_t> getBlockSize(OnnxNode &node) {
  int64_t size = node.getInt("blocksize", 0);
  if (getTensorType(node.operand(0)).getRank() != 4)
    return node.emitError() << "needs a batch of images with channels, not "
                            << node.operand(0).getType();
  constexpr int64_t maxSize = 1 << 20;
  if (size < 1 || size > maxSize)
    return node.emitError() << "has blocksize " << size;
  return size;
}

static FailureOr<Value> importDepthToSpace(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<int64_t> size = getBlockSize(node);
  if (failed(size))
    return failure();
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  int64_t side = *size, depth = shape[1] / (side * side);
  if (shape[1] != depth * side * side)
    return node.emitError()
           << "spreads " << shape[1] << " channels over blocks of " << side
           << "x" << side;
  bool channelsFirst = node.getString("mode", "DCR") == "CRD";
  SmallVector<int64_t> apart =
      channelsFirst ? SmallVector<int64_t>{shape[0], depth,    side,
                                           side,     shape[2], shape[3]}
                    : SmallVector<int64_t>{shape[0], side,     side,
                                           depth,    shape[2], shape[3]};
  SmallVector<int64_t> order = channelsFirst
                                   ? SmallVector<int64_t>{0, 1, 4, 2, 5, 3}
                                   : SmallVector<int64_t>{0, 3, 4, 1, 5, 2};
  Value blocks = b.transpose(b.reshape(node.operand(0), apart), order);
  return b.reshape(blocks, {shape[0], depth, shape[2] * side, shape[3] * side});
}

static FailureOr<Value> importSpaceToDepth(OnnxNode &node) {
  NNBuilder &b = node.getBuilder();
  FailureOr<int64_t> size = getBlockSize(node);
  if (failed(size))
    return failure();
  ArrayRef<int64_t> shape = getShape(node.operand(0));
  int64_t side = *size, height = shape[2] / side, width = shape[3] / side;
  if (shape[2] != height * side || shape[3] != width * side)
    return node.emitError() << "cuts " << node.operand(0).getType()
                            << " into blocks of " << side << "x" << side;
  bool channelsFirst = node.getString("mode", "DCR") == "CRD";
  SmallVector<int64_t> order = channelsFirst
                                   ? SmallVector<int64_t>{0, 1, 3, 5, 2, 4}
                                   : SmallVector<int64_t>{0, 3, 5, 1, 2, 4};
  Value blocks = b.reshape(node.operand(0),
                           {shape[0], shape[1], height, side, width, side});
  return b.reshape(b.transpose(blocks, order),
                   {shape[0], side * side * shape[1], height, width});
}

namespace pipewright {
void registerShape(OnnxOpRegistry &registry) {
  registry.add("Concat", /*since=*/4, {1, Arity::unlimited}, importConcat);
  registry.add("DepthToSpace", /*since=*/1, 1, importDepthToSpace);
  registry.add("Expand", /*since=*/8, 2, importExpand);
  registry.add("Flatten", /*since=*/1, 1, importFlatten);
  registry.add("Reshape", /*since=*/1, {1, 2}, importReshape);
  registry.add("SpaceToDepth", /*since=*/1, 1, importSpaceToDepth);
  registry.add("Squeeze", /*since=*/1, {1, 2}, importSqueeze);
  registry.add("Tile", /*since=*/6, 2, importTile);
  registry.add("Transpose", /*since=*/1, 1, importTranspose);
  registry.add("Unsqueeze", /*since=*/1, {1, 2}, importUnsqueeze);
}
} // namespace pipewright
