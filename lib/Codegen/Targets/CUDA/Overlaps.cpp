//===- Overlaps.cpp - Sums of windows that overlap
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Overlaps.h"

#include "Launch.h"
#include "LoopNest.h"
#include "Scatter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace pipewright;
using namespace pipewright::cuda;

/// How many kernels take the place of one at most.
static constexpr int64_t maxKernels = 64;

/// Adds to \p numbers the loops' numbers that \p value is a sum of multiples
/// of; false if it is none.
static bool addNumbers(Value value, ArrayRef<scf::ForOp> nest,
                       llvm::SetVector<Value> &numbers) {
  if (getConstantIntValue(value))
    return true;
  if (llvm::any_of(nest, [&](scf::ForOp loop) {
        return loop.getInductionVar() == value;
      }))
    // A number that comes twice may cancel itself.
    return numbers.insert(value);
  if (auto sum = value.getDefiningOp<arith::AddIOp>())
    return addNumbers(sum.getLhs(), nest, numbers) &&
           addNumbers(sum.getRhs(), nest, numbers);
  auto product = value.getDefiningOp<arith::MulIOp>();
  std::optional<int64_t> factor =
      product ? getConstantIntValue(product.getRhs()) : std::nullopt;
  return factor && *factor != 0 && addNumbers(product.getLhs(), nest, numbers);
}

/// The loops of \p nest of which no two iterations store to the same place as
/// long as those of the others do not change; none if it is not known.
static SmallVector<scf::ForOp> findApart(ArrayRef<scf::ForOp> nest,
                                         memref::StoreOp store) {
  SmallVector<scf::ForOp> apart;
  for (Value index : store.getIndices()) {
    llvm::SetVector<Value> numbers;
    if (!addNumbers(index, nest, numbers))
      return {};
    // The longest loop of each axis; which of the others it is does not matter.
    scf::ForOp longest;
    for (scf::ForOp loop : nest)
      if (numbers.contains(loop.getInductionVar()) &&
          (!longest || *getConstantIntValue(loop.getUpperBound()) >
                           *getConstantIntValue(longest.getUpperBound())))
        longest = loop;
    if (longest && llvm::is_contained(apart, longest))
      return {};
    if (longest)
      apart.push_back(longest);
  }
  return apart;
}

/// All iterations of \p parallel, of which \p mapping has the numbers of the
/// other loops.
static void cloneParallel(ArrayRef<scf::ForOp> parallel, Block *body,
                          IRMapping &mapping, ImplicitLocOpBuilder &builder) {
  SmallVector<Value> upper, lower(parallel.size(), createIndex(builder, 0)),
      step(parallel.size(), createIndex(builder, 1));
  for (int64_t extent : getExtents(parallel))
    upper.push_back(createIndex(builder, extent));
  auto loops = scf::ParallelOp::create(builder, lower, upper, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loops.getBody());
  for (auto [loop, number] :
       llvm::zip_equal(parallel, loops.getInductionVars())) {
    scf::ForOp op = loop;
    mapping.map(op.getInductionVar(), number);
  }
  for (Operation &op : body->without_terminator())
    builder.clone(op, mapping);
}

bool cuda::parallelizeOverlaps(scf::ForOp outermost) {
  SmallVector<scf::ForOp> nest = getNest(outermost);
  Scatter scatter;
  if (nest.empty() || !matchSum(nest.back().getBody(), scatter))
    return false;
  SmallVector<scf::ForOp> apart = findApart(nest, scatter.store);
  SmallVector<scf::ForOp> parallel, sequential;
  for (scf::ForOp loop : nest)
    (llvm::is_contained(apart, loop) ? parallel : sequential).push_back(loop);
  SmallVector<int64_t> extents = getExtents(sequential);
  int64_t kernels = ShapedType::getNumElements(extents);
  if (parallel.empty() || sequential.empty() || kernels > maxKernels)
    return false;

  ImplicitLocOpBuilder builder(outermost.getLoc(), outermost);
  for (int64_t kernel = 0; kernel < kernels; ++kernel) {
    IRMapping mapping;
    int64_t rest = kernel;
    for (size_t loop = sequential.size(); loop-- > 0;) {
      mapping.map(sequential[loop].getInductionVar(),
                  createIndex(builder, rest % extents[loop]));
      rest /= extents[loop];
    }
    cloneParallel(parallel, nest.back().getBody(), mapping, builder);
  }
  outermost.erase();
  return true;
}
