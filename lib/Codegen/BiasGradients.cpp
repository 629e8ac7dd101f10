//===- BiasGradients.cpp - Sums beside gradients of weights
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of a bias is the sum of what the gradient of the weights is a
// product of. Libraries may add it up while they read it for the product:
//
//   weights += x^T dy        bias += sum of the rows of dy
//
//===----------------------------------------------------------------------===//

#include "Destination.h"
#include "Epilogues.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace pipewright;
using bufferization::MaterializeInDestinationOp;
using bufferization::ToTensorOp;

namespace {
/// A product, and the sums of one of its operands.
struct BiasGradient {
  nn::MatMulOp product;
  /// With tensors.
  EpilogueCall call;
  nn::ReduceOp sum;
};
} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// The sums of f32 over the first axis of \p operand, [terms, elements], that
/// are the only thing kernels would read it for; null if there are none.
static nn::ReduceOp findSum(Value operand) {
  nn::ReduceOp sum;
  for (Operation *user : operand.getUsers()) {
    auto wide = dyn_cast<nn::CastOp>(user);
    if (wide && wide->hasOneUse())
      user = *wide->user_begin();
    if (readsMemory(user))
      continue;
    if (sum || !isa<nn::ReduceOp>(user))
      return nullptr;
    sum = cast<nn::ReduceOp>(user);
  }
  bool isSum = sum && sum.getKind() == nn::Reduction::Sum &&
               sum.getAxes() == ArrayRef<int64_t>(0) &&
               cast<RankedTensorType>(operand.getType()).getRank() == 2 &&
               getElementTypeOrSelf(sum.getType()).isF32();
  return isSum ? sum : nullptr;
}

/// The op after which \p value is where it belongs: it is added to an argument
/// of the function, or written as it is.
static Operation *getLast(Value value) {
  auto accumulate = value.hasOneUse()
                        ? dyn_cast<nn::AccumulateOp>(*value.user_begin())
                        : nullptr;
  return accumulate ? accumulate : value.getDefiningOp();
}

/// Whether nobody reads the results of \p op before \p last.
static bool isReadAfter(Operation *op, Operation *last) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return last->isBeforeInBlock(user);
  });
}

static bool match(BiasGradient &gradient, bool isOfLhs) {
  EpilogueCall &call = gradient.call;
  // Terms are the first axis of either operand.
  if (isOfLhs ? !call.product.transposeLhs : call.product.transposeRhs)
    return false;
  Value operand = isOfLhs ? call.product.lhs : call.product.rhs;
  gradient.sum = findSum(operand);
  if (!gradient.sum)
    return false;
  if (auto accumulate = dyn_cast<nn::AccumulateOp>(getLast(gradient.sum)))
    if (!accumulate.getAccumulator().getDefiningOp<ToTensorOp>())
      return false;
  call.sums = gradient.sum;
  call.sumsLhs = isOfLhs;
  Operation *product = getLast(gradient.product);
  Operation *sum = getLast(gradient.sum);
  Operation *last = product->isBeforeInBlock(sum) ? sum : product;
  return isReadAfter(product, last) && isReadAfter(sum, last);
}

//===----------------------------------------------------------------------===//
// Both ways
//===----------------------------------------------------------------------===//

static void write(Value value, Value buffer, Location loc, OpBuilder &builder) {
  MaterializeInDestinationOp::create(builder, loc, /*result=*/Type(), value,
                                     buffer, /*restrict=*/true,
                                     /*writable=*/true);
}

/// Writes \p sum to \p destination, or adds it.
static void deliver(Value sum, const Destination &destination, Location loc,
                    OpBuilder &builder) {
  if (destination.accumulate) {
    Value before = ToTensorOp::create(builder, loc, sum.getType(),
                                      destination.buffer, /*restrict=*/true,
                                      /*writable=*/true);
    sum = nn::AccumulateOp::create(builder, loc, before, sum);
  }
  write(sum, destination.buffer, loc, builder);
}

/// The library has sums of its own, and does not add to those that are there.
static void emitLibrary(EpilogueCall call, const Destination &destination,
                        const CodegenTarget &target, Location loc,
                        OpBuilder &builder) {
  call.sums = destination.buffer;
  if (!destination.accumulate)
    return target.emitEpilogue(call, loc, builder);
  auto type = cast<MemRefType>(destination.buffer.getType());
  call.sums = memref::AllocOp::create(builder, loc, type);
  target.emitEpilogue(call, loc, builder);
  Value sums = ToTensorOp::create(
      builder, loc,
      RankedTensorType::get(type.getShape(), type.getElementType()), call.sums,
      /*restrict=*/true, /*writable=*/false);
  deliver(sums, destination, loc, builder);
}

static void emitOthers(const EpilogueCall &call, nn::ReduceOp sum,
                       const Destination &destination,
                       const CodegenTarget &target, OpBuilder &builder) {
  target.emitMatMul(call.product, sum.getLoc(), builder);
  IRMapping copies;
  if (auto wide = sum.getOperand().getDefiningOp<nn::CastOp>())
    builder.clone(*wide, copies);
  Operation *copy = builder.clone(*sum, copies);
  deliver(copy->getResult(0), destination, sum.getLoc(), builder);
}

static void lower(BiasGradient &gradient, const CodegenTarget &target,
                  RewriterBase &rewriter) {
  nn::ReduceOp sum = gradient.sum;
  Location loc = gradient.product.getLoc();
  Operation *afterProduct = getLast(gradient.product);
  Operation *afterSum = getLast(sum);
  bool sumIsLast = afterProduct->isBeforeInBlock(afterSum);
  Destination destination = takeDestination(gradient.product, rewriter);
  Destination sums = takeDestination(sum.getResult(), rewriter);
  rewriter.setInsertionPoint(sumIsLast ? afterSum : afterProduct);
  EpilogueCall call = gradient.call;
  for (Value *operand : {&call.product.lhs, &call.product.rhs})
    *operand = destination.getReadBuffer(*operand, rewriter);
  call.product.result = destination.buffer;
  call.product.accumulate = destination.accumulate;
  call.sums = sums.buffer;
  target.emitEpilogueChoice(
      call,
      [&](OpBuilder &builder) {
        emitLibrary(call, sums, target, loc, builder);
      },
      [&](OpBuilder &builder) { emitOthers(call, sum, sums, target, builder); },
      loc, rewriter);
  Value summed = sum.getOperand();
  // The last op is where the rewriter stands.
  if (!sumIsLast)
    finishDestination(sums, sum, rewriter);
  finishDestination(destination, gradient.product, rewriter);
  if (sumIsLast)
    finishDestination(sums, sum, rewriter);
  eraseDead(summed, rewriter);
}

bool pipewright::lowerBiasGradient(nn::MatMulOp op, const MatMulCall &product,
                                   const CodegenTarget &target,
                                   RewriterBase &rewriter) {
  for (bool isOfLhs : {false, true}) {
    BiasGradient gradient{op, {}, {}};
    gradient.call.product = product;
    if (!match(gradient, isOfLhs))
      continue;
    gradient.call.product.result = op;
    if (!target.hasEpilogue(gradient.call))
      continue;
    lower(gradient, target, rewriter);
    return true;
  }
  return false;
}
