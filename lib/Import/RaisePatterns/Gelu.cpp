//===- Gelu.cpp - Finds GELU, with erf and with tanh
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// GELU is x/2 (1 + f(p(x))), where f is erf or tanh and p a polynomial. Both
// p and the whole are recognized as polynomials, so neither the order of the
// products nor the way to write a cube matters.
//
//===----------------------------------------------------------------------===//

#include "Operands.h"
#include "Polynomial.h"

#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace pipewright;

/// p of the form with erf: x / sqrt(2).
static Polynomial getArgument(nn::ErfOp) {
  return Polynomial::x() * std::sqrt(0.5);
}

/// p of the form with tanh: sqrt(2 / pi) (x + 0.044715 x^3).
static Polynomial getArgument(nn::TanhOp) {
  Polynomial sum = Polynomial::x();
  sum.at(3) = 0.044715;
  return sum * std::sqrt(2 / M_PI);
}

static nn::GeluForm getForm(nn::ErfOp) { return nn::GeluForm::Erf; }
static nn::GeluForm getForm(nn::TanhOp) { return nn::GeluForm::Tanh; }

/// x/2 (1 + f).
static Polynomial getGelu() {
  Polynomial gelu = Polynomial::x() * 0.5;
  gelu.at(1, 1) = 0.5;
  return gelu;
}

/// The value x of which \p argument is the polynomial \p expected: one of
/// those from which it is computed by sums and products.
static Value findOperand(Value argument, const Polynomial &expected) {
  constexpr size_t maxCandidates = 16;
  SmallVector<Value> candidates = {argument};
  for (size_t i = 0; i < candidates.size() && i < maxCandidates; ++i) {
    Value x = candidates[i];
    std::optional<Polynomial> polynomial = expand(argument, x, /*f=*/{});
    if (polynomial && polynomial->isClose(expected, argument.getType()))
      return x;
    Operation *op = x.getDefiningOp();
    if (isa_and_nonnull<nn::AddOp, nn::MulOp, nn::DivOp, nn::PowOp>(op))
      llvm::append_range(candidates, op->getOperands());
  }
  return {};
}

/// The op that completes the GELU of \p x: a user of \p f, or a user of it,
/// and so on.
static Operation *findLastOp(Value x, Value f) {
  constexpr int maxDistance = 4;
  Polynomial gelu = getGelu();
  SmallVector<Operation *> users(f.getUsers());
  for (int distance = 0; distance < maxDistance; ++distance) {
    SmallVector<Operation *> next;
    for (Operation *user : users) {
      if (!isa<nn::AddOp, nn::MulOp, nn::DivOp>(user))
        continue;
      Value result = user->getResult(0);
      std::optional<Polynomial> polynomial = expand(result, x, f);
      if (polynomial && polynomial->isClose(gelu, result.getType()))
        return user;
      // No GELU on the way to its result is used elsewhere.
      if (result.hasOneUse())
        next.push_back(*result.user_begin());
    }
    users = next;
  }
  return nullptr;
}

namespace {
/// \p OpTy is the function f.
template <typename OpTy>
struct RaiseGelu : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value x = findOperand(op.getOperand(), getArgument(op));
    if (!x)
      return failure();
    Operation *last = findLastOp(x, op.getResult());
    if (!last)
      return rewriter.notifyMatchFailure(
          op, "nothing completes the GELU that it is the argument of");
    rewriter.setInsertionPoint(last);
    rewriter.replaceOpWithNewOp<nn::GeluOp>(last, x, getForm(op));
    return success();
  }
};
} // namespace

namespace pipewright {
void registerGelu(RewritePatternSet &patterns) {
  patterns.add<RaiseGelu<nn::ErfOp>, RaiseGelu<nn::TanhOp>>(
      patterns.getContext());
}
} // namespace pipewright
