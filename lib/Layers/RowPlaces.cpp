//===- RowPlaces.cpp - Where rows go that experts of peers compute
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitExperts.h"

#include "pipewright/Dialect/NN/Create.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

int64_t ExpertSharing::countBlockRows(const ExpertRegion &region) const {
  int64_t rows = region.countRows();
  double share = std::ceil(capacity * double(rows) / double(peers));
  if (capacity == 0 || share >= double(rows))
    return rows;
  return std::max<int64_t>(1, int64_t(share));
}

namespace {
/// Builds arithmetic on whole numbers.
class Integers {
public:
  Integers(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value splat(Value like, int64_t number) {
    return nn::createSplatLike(builder, loc, like, double(number));
  }
  template <typename OpTy>
  Value create(Value lhs, Value rhs) {
    return OpTy::create(builder, loc, lhs.getType(), lhs, rhs);
  }
  template <typename OpTy>
  Value create(Value lhs, int64_t rhs) {
    return create<OpTy>(lhs, splat(lhs, rhs));
  }
  Value compare(nn::Comparison predicate, Value lhs, Value rhs) {
    auto type =
        cast<RankedTensorType>(lhs.getType()).clone(builder.getI1Type());
    return nn::CompareOp::create(builder, loc, type, predicate, lhs, rhs);
  }
  /// \p value where it is below \p limit, elsewhere \p other.
  Value selectBelow(Value value, int64_t limit, Value below, Value other) {
    Value condition = compare(nn::Comparison::Less, value, splat(value, limit));
    return nn::SelectOp::create(builder, loc, below.getType(), condition, below,
                                other);
  }

  OpBuilder &builder;
  Location loc;
};
} // namespace

/// For each of \p numbers, counted from the first expert on, how many of those
/// before it are of the same of \p kinds kinds.
static Value countEarlier(Integers &build, Value numbers, int64_t kinds) {
  OpBuilder &builder = build.builder;
  auto type = cast<RankedTensorType>(numbers.getType());
  int64_t rows = type.getDimSize(0);
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, kinds));
  Value eachKind = nn::createBroadcast(
      builder, build.loc,
      nn::ConstantOp::create(builder, build.loc, type.clone({kinds}),
                             builder.getI64TensorAttr(all)),
      {rows, kinds});
  Value kind = nn::createBroadcast(
      builder, build.loc,
      nn::createReshape(builder, build.loc, numbers, {rows, 1}), {rows, kinds});
  Value isKind = nn::createCast(
      builder, build.loc, build.compare(nn::Comparison::Equal, kind, eachKind),
      type.getElementType());
  Value earlier = nn::CumulativeSumOp::create(
      builder, build.loc, isKind.getType(), isKind, /*axis=*/0,
      /*exclusive=*/true, /*reverse=*/false);
  return nn::ReduceOp::create(builder, build.loc, type, nn::Reduction::Sum,
                              build.create<nn::MulOp>(isKind, earlier),
                              ArrayRef<int64_t>{1});
}

Value pipewright::createMove(OpBuilder &builder, Location loc, Value rows,
                             Value indices, Value inverse) {
  auto type = cast<RankedTensorType>(rows.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = cast<RankedTensorType>(indices.getType()).getDimSize(0);
  return nn::PermuteRowsOp::create(builder, loc, type.clone(shape), rows,
                                   indices, inverse);
}

RowPlaces pipewright::createPlaces(OpBuilder &builder,
                                   const ExpertRegion &region, Value numbers,
                                   const ExpertSharing &sharing) {
  Integers build(builder, region.loc);
  int64_t experts = sharing.countExperts(region);
  int64_t blockRows = sharing.countBlockRows(region);
  int64_t all = sharing.countPlaces(region);

  // A number below 0 counts from the end; one that is too low for that is as
  // one that is too high: of no peer, with a place that there is not.
  Value number = build.selectBelow(
      numbers, 0, build.create<nn::AddOp>(numbers, region.experts), numbers);
  Value nowhere = build.splat(number, sharing.peers);
  Value peer = build.selectBelow(number, 0, nowhere,
                                 build.create<nn::DivOp>(number, experts));
  Value earlier = countEarlier(build, peer, sharing.peers);
  Value place = build.create<nn::AddOp>(
      build.create<nn::MulOp>(peer, blockRows), earlier);
  if (blockRows < region.countRows())
    place =
        build.selectBelow(earlier, blockRows, place, build.splat(place, all));

  auto type = cast<RankedTensorType>(numbers.getType()).clone({all});
  Value rows = nn::InvertIndicesOp::create(builder, region.loc, type, place);
  // Zeros are moved to where there is no row: there, they are to stand for the
  // number behind the last one.
  Value local =
      build.create<nn::SubOp>(number, build.create<nn::MulOp>(peer, experts));
  Value moved =
      createMove(builder, region.loc, build.create<nn::SubOp>(local, experts),
                 rows, place);
  return {place, rows, build.create<nn::AddOp>(moved, experts)};
}
