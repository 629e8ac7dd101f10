//===- MissingExperts.cpp - Experts that tracing a model left out
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tracer writes down what ran. A loop over the experts that some token went
// to becomes as many copies of an expert as the example happened to use, and
// tokens that go elsewhere are lost without a word.
//
//===----------------------------------------------------------------------===//

#include "AbsentRows.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pipewright;

namespace {
/// A choice of one expert: an index along an axis of a mask.
struct Choice {
  Value mask;
  int64_t axis, index;

  int64_t getSize() const {
    return cast<RankedTensorType>(mask.getType()).getDimSize(axis);
  }
};
} // namespace

static std::optional<Choice> matchChoice(nn::GatherOp op) {
  DenseIntElementsAttr index;
  if (op.getIndices().getType().getNumElements() != 1 ||
      !matchPattern(op.getIndices(), m_Constant(&index)))
    return std::nullopt;
  Choice choice{op.getTable(), int64_t(op.getAxis()),
                (*index.begin()).getSExtValue()};
  if (choice.index < 0)
    choice.index += choice.getSize();
  return choice;
}

static std::optional<Choice> matchChoice(nn::SliceOp op) {
  ArrayRef<int64_t> from = op.getOperand().getType().getShape();
  ArrayRef<int64_t> to = op.getResult().getType().getShape();
  std::optional<Choice> choice;
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == to[axis])
      continue;
    if (to[axis] != 1 || choice)
      return std::nullopt;
    choice = Choice{op.getOperand(), int64_t(axis), op.getOffsets()[axis]};
  }
  return choice;
}

/// The expert whose rows are where \p condition holds.
static std::optional<Choice> findChoice(Value condition) {
  while (Operation *op = condition.getDefiningOp()) {
    std::optional<Choice> choice;
    if (auto gather = dyn_cast<nn::GatherOp>(op))
      choice = matchChoice(gather);
    else if (auto slice = dyn_cast<nn::SliceOp>(op))
      choice = matchChoice(slice);
    if (choice)
      return choice;
    if (!isa<nn::CastOp, nn::ReshapeOp, nn::TransposeOp, nn::CompareOp,
             nn::SliceOp>(op))
      break;
    condition = op->getOperand(0);
  }
  return std::nullopt;
}

/// How many there are of what \p mask follows from a choice of the best of; 0
/// if it does not.
static int64_t countChoices(Value mask) {
  constexpr size_t maxValues = 64;
  llvm::SetVector<Value> values;
  values.insert(mask);
  for (size_t at = 0; at < values.size() && at < maxValues; ++at) {
    Operation *op = values[at].getDefiningOp();
    if (auto best = dyn_cast_or_null<nn::TopKOp>(op))
      return best.getOperand().getType().getDimSize(best.getAxis());
    if (op)
      values.insert(op->operand_begin(), op->operand_end());
  }
  return 0;
}

/// Whether an axis of \p size has an element for each of \p experts; one more
/// may stand for none of them.
static bool isForExperts(int64_t size, int64_t experts) {
  return experts > 0 && (size == experts || size == experts + 1);
}

void pipewright::warnOfMissingExperts(ArrayRef<ConditionalRows> rows) {
  struct Router {
    Location loc;
    int64_t size;
    llvm::SetVector<int64_t> experts;
  };
  llvm::MapVector<std::pair<Value, int64_t>, Router> routers;
  for (const ConditionalRows &found : rows)
    if (std::optional<Choice> choice = findChoice(found.condition))
      routers
          .insert({{choice->mask, choice->axis},
                   {found.coordinates.getLoc(), choice->getSize(), {}}})
          .first->second.experts.insert(choice->index);
  for (const auto &[key, router] : routers) {
    int64_t wanted = countChoices(key.first), there = router.experts.size();
    if (isForExperts(router.size, wanted) && there < wanted)
      emitWarning(router.loc)
          << "a router chooses among " << wanted
          << " experts, of which the model has " << there
          << "; tokens of the others are lost: trace the model with all of "
             "them";
  }
}
