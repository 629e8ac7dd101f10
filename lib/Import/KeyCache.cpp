//===- KeyCache.cpp - Keys and values of earlier positions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeyCache.h"

#include "AttentionHeads.h"
#include "FlatIndex.h"

using namespace mlir;
using namespace pipewright;

Value pipewright::putIntoCache(NNBuilder &b, Value past, Value added,
                               const CacheLayout &layout) {
  int64_t batch = getShape(added)[0], count = layout.added;
  int64_t capacity = layout.getCapacity();
  Value ends = layout.ends;
  if (!ends)
    ends =
        b.splat(RankedTensorType::get({batch}, b.getOpBuilder().getI64Type()),
                layout.total);
  int64_t pastKeys = getShape(past)[2], allKeys = pastKeys + count;
  RankedTensorType type = getTensorType(ends).clone({batch, capacity});
  Value position = b.iota(type, /*axis=*/1);
  Value end = b.broadcast(b.reshape(ends, {batch, 1}), type.getShape());
  Value start = b.create<nn::SubOp>(end, b.splatLike(end, count));
  // Rows are taken from the past, and then from what is added to it.
  Value afterPast = b.create<nn::AddOp>(b.create<nn::SubOp>(position, start),
                                        b.splatLike(position, pastKeys));
  Value row = b.create<nn::SelectOp>(
      type, b.compare(nn::Comparison::Less, position, start), position,
      b.create<nn::MinOp>(afterPast, b.splatLike(position, allKeys - 1)));
  FlatIndex index;
  index.addAxis(b, b.iota(type, /*axis=*/0), batch);
  index.addAxis(b, row, allKeys);
  Value rows = b.transpose(b.concat({past, added}, /*axis=*/2), {0, 2, 1, 3});
  Value cache = b.transpose(index.gather(b, rows), {0, 2, 1, 3});
  Value isFilled = b.compare(nn::Comparison::Less, position, end);
  return selectOr(b, b.reshape(isFilled, {batch, 1, capacity, 1}), cache, 0.0);
}
