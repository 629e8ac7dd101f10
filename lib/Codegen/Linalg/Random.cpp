//===- Random.cpp - Counter-based random numbers
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Destination.h"
#include "Loops.h"
#include "Patterns.h"

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace pipewright;

using Words = std::array<Value, 4>;

/// A constant of 32 bits.
static Value getWord(Arithmetic &arith, uint32_t value) {
  return arith.constantInt(arith.getI32Type(), static_cast<int32_t>(value));
}

/// The low and the high word of the 64-bit \p value.
static std::pair<Value, Value> splitWords(Arithmetic &arith, Value value) {
  Type word = arith.getI32Type();
  Value low = arith.make<arith::TruncIOp>(word, value);
  Value shifted = arith.make<arith::ShRUIOp>(
      value, arith.constantInt(arith.getI64Type(), 32));
  return {low, arith.make<arith::TruncIOp>(word, shifted)};
}

/// The low and the high word of a constant times \p word.
static std::pair<Value, Value> multiplyWide(Arithmetic &arith, int64_t constant,
                                            Value word) {
  Type wide = arith.getI64Type();
  Value product = arith.mul(arith.make<arith::ExtUIOp>(wide, word),
                            arith.constantInt(wide, constant));
  return splitWords(arith, product);
}

/// Philox-4x32-10: Salmon et al., Parallel random numbers: as easy as 1, 2, 3,
/// SC 2011.
static Words createPhilox(Arithmetic &arith, Words counter, Value keyLow,
                          Value keyHigh) {
  constexpr int64_t multipliers[] = {0xD2511F53, 0xCD9E8D57};
  constexpr uint32_t weyl[] = {0x9E3779B9, 0xBB67AE85};
  auto exclusiveOr = [&](Value a, Value b) {
    return arith.make<arith::XOrIOp>(a, b);
  };
  auto bump = [&](Value key, uint32_t constant) {
    return arith.add(key, getWord(arith, constant));
  };
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      keyLow = bump(keyLow, weyl[0]);
      keyHigh = bump(keyHigh, weyl[1]);
    }
    auto [low0, high0] = multiplyWide(arith, multipliers[0], counter[0]);
    auto [low1, high1] = multiplyWide(arith, multipliers[1], counter[2]);
    counter = {exclusiveOr(exclusiveOr(high1, counter[1]), keyLow), low1,
               exclusiveOr(exclusiveOr(high0, counter[3]), keyHigh), low0};
  }
  return counter;
}

namespace {
/// Four elements a round of the generator, so a loop over groups of four and
/// what is left after it.
struct DropoutMaskToLoops : OpRewritePattern<nn::DropoutMaskOp> {
  using OpRewritePattern::OpRewritePattern;

  /// The 64-bit key of this mask.
  static Value createKey(Arithmetic &arith, Value buffer) {
    auto load = [&](int64_t index) {
      return arith.make<memref::LoadOp>(
          buffer, ValueRange{arith.constantInt(arith.getIndexType(), index)});
    };
    Value mixed = arith.mul(
        load(1), arith.constantInt(arith.getI64Type(),
                                   static_cast<int64_t>(0x9E3779B97F4A7C15)));
    return arith.make<arith::XOrIOp>(load(0), mixed);
  }

  /// Stores elements [4 group, 4 group + count) of the mask.
  static void storeGroup(Arithmetic &arith, nn::DropoutMaskOp op, Value key,
                         Value group, int64_t count, Value mask) {
    Type index = arith.getIndexType(), wide = arith.getI64Type();
    Type element = cast<MemRefType>(mask.getType()).getElementType();
    double ratio = op.getRatio().convertToDouble();
    auto [keyLow, keyHigh] = splitWords(arith, key);
    auto [low, high] =
        splitWords(arith, arith.make<arith::IndexCastOp>(wide, group));
    Value stream = getWord(arith, op.getStream());
    Words words = createPhilox(arith, {low, high, stream, getWord(arith, 0)},
                               keyLow, keyHigh);

    Value threshold =
        getWord(arith, static_cast<int64_t>(std::floor(ratio * 4294967296.0)));
    Value kept = arith.constant(element, 1 / (1 - ratio));
    Value dropped = arith.constant(element, 0);
    Value first = arith.mul(group, arith.constantInt(index, 4));
    for (int64_t lane = 0; lane < count; ++lane) {
      Value keep = arith.make<arith::CmpIOp>(arith::CmpIPredicate::uge,
                                             words[lane], threshold);
      Value position = arith.add(first, arith.constantInt(index, lane));
      memref::StoreOp::create(arith, arith.select(keep, kept, dropped), mask,
                              ValueRange{position});
    }
  }

  LogicalResult matchAndRewrite(nn::DropoutMaskOp op,
                                PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    Destination destination =
        takeDestination(op.getResult(), rewriter, /*canAccumulate=*/false);
    Value keyBuffer = destination.getReadBuffer(op.getKey(), rewriter);
    Arithmetic arith(op.getLoc(), rewriter);
    Value mask = flatten(arith, destination.buffer);
    Value key = createKey(arith, keyBuffer);
    int64_t groups = type.getNumElements() / 4;
    createLoops(arith, {groups}, [&](Arithmetic &arith, ValueRange group) {
      storeGroup(arith, op, key, group[0], /*count=*/4, mask);
    });
    if (int64_t rest = type.getNumElements() % 4)
      storeGroup(arith, op, key,
                 arith.constantInt(arith.getIndexType(), groups), rest, mask);
    finishDestination(destination, op.getResult(), rewriter);
    return success();
  }

  /// \p buffer, which is contiguous, with one axis.
  static Value flatten(Arithmetic &arith, Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    if (type.getRank() == 0)
      return arith.make<memref::ExpandShapeOp>(
          MemRefType::get({1}, type.getElementType()), buffer,
          ArrayRef<ReassociationIndices>());
    SmallVector<ReassociationIndices> all(1);
    llvm::append_range(all[0], llvm::seq<int64_t>(0, type.getRank()));
    return arith.make<memref::CollapseShapeOp>(buffer, all);
  }
};
} // namespace

void pipewright::populateRandomToLinalg(RewritePatternSet &patterns) {
  patterns.add<DropoutMaskToLoops>(patterns.getContext());
}
