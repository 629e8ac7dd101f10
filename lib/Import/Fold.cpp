//===- Fold.cpp - Computes ops whose operands are constants
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pipewright/Import/Passes.h"

#include "pipewright/Dialect/NN/Evaluate.h"

#include "mlir/IR/Matchers.h"

namespace pipewright {
#define GEN_PASS_DEF_FOLD
#include "pipewright/Import/Passes.h.inc"
} // namespace pipewright

using namespace mlir;
using namespace pipewright;

/// Whether a tensor of \p type has at most \p limit bytes.
static bool fits(Type type, int64_t limit) {
  auto tensor = cast<RankedTensorType>(type);
  int64_t bytes = llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
  return tensor.getNumElements() <= limit / bytes;
}

/// The operands of \p op if it can be folded.
static std::optional<SmallVector<nn::HostTensor>>
getConstantOperands(Operation *op, int64_t maxBytes) {
  if (op->getNumOperands() == 0 || isa<nn::CallOp>(op) ||
      !nn::hasEvaluator(op->getName()))
    return std::nullopt;
  auto isSmall = [&](Type type) { return fits(type, maxBytes); };
  if (!llvm::all_of(op->getOperandTypes(), isSmall) ||
      !llvm::all_of(op->getResultTypes(), isSmall))
    return std::nullopt;

  SmallVector<nn::HostTensor> operands;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr value;
    if (!matchPattern(operand, m_Constant(&value)))
      return std::nullopt;
    FailureOr<nn::HostTensor> tensor = nn::HostTensor::fromAttribute(value);
    if (failed(tensor))
      return std::nullopt;
    operands.push_back(std::move(*tensor));
  }
  return operands;
}

static LogicalResult foldOp(Operation *op, int64_t maxBytes) {
  auto operands = getConstantOperands(op, maxBytes);
  if (!operands)
    return success();
  auto results = nn::evaluate(op, *operands);
  if (failed(results))
    return failure();
  OpBuilder builder(op);
  for (auto [result, value] : llvm::zip_equal(op->getResults(), *results)) {
    auto type = cast<RankedTensorType>(result.getType());
    result.replaceAllUsesWith(
        nn::ConstantOp::create(builder, op->getLoc(), value.toAttribute(type)));
  }
  op->erase();
  return success();
}

namespace {
struct Fold : pipewright::impl::FoldBase<Fold> {
  using FoldBase::FoldBase;

  void runOnOperation() override {
    // Producers come before their users, so one walk folds whole chains.
    WalkResult walk = getOperation().walk([&](Operation *op) {
      return failed(foldOp(op, maxBytes)) ? WalkResult::interrupt()
                                          : WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();
    getOperation().walk([](nn::ConstantOp op) {
      if (op->use_empty())
        op->erase();
    });
  }
};
} // namespace
