//===- Gradients.h - The gradient of each op, operand by operand -*- C++
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule computes the gradient of one operand. Rules of one op do not know of
// each other, so the gradients for a layer's inputs (B) and for its weights
// (W) are built apart, and a schedule may run them at different times.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_GRADIENTS_H
#define PIPEWRIGHT_TRAINING_GRADIENTS_H

#include "pipewright/Training/GradientBuilder.h"

#include "llvm/ADT/StringMap.h"

#include <functional>
#include <map>

namespace pipewright {

class GradientRegistry {
public:
  /// Builds the gradient of one operand from the cotangents of the op's
  /// results, in which null stands for zero; null again means zero. Operands
  /// and results of the op may be used freely: what is not at hand in backward
  /// is saved by forward.
  using Rule = std::function<mlir::Value(
      mlir::Operation *, llvm::ArrayRef<mlir::Value>, GradientBuilder &)>;

  /// The registry with the entries of lib/Training/Gradients.
  static const GradientRegistry &get();

  /// Adds the rule for \p operand of an op. \p rule takes (OpTy, dy,
  /// GradientBuilder &) if the op has one result, and otherwise all its
  /// results' cotangents as an ArrayRef<Value>.
  template <typename OpTy, typename RuleT>
  void add(unsigned operand, RuleT rule) {
    insert(OpTy::getOperationName(), operand, wrap<OpTy>(std::move(rule)));
  }

  /// Adds a rule for all operands of a variadic op; it takes the operand's
  /// number after the op.
  template <typename OpTy, typename RuleT>
  void addForEach(RuleT rule) {
    variadic[OpTy::getOperationName()] =
        [rule](mlir::Operation *op, unsigned operand, mlir::Value dy,
               GradientBuilder &b) {
          return rule(llvm::cast<OpTy>(op), operand, dy, b);
        };
  }

  /// States that the loss does not depend on \p operand in a way that has a
  /// gradient: an index, a condition, or a step function, whose gradient is 0
  /// wherever it exists.
  template <typename OpTy>
  void addConstant(std::initializer_list<unsigned> operands) {
    for (unsigned operand : operands)
      insert(OpTy::getOperationName(), operand, Rule());
  }

  /// Whether \p operand is covered, by a rule or as constant.
  bool covers(llvm::StringRef opName, unsigned operand) const;

  /// Whether \p operand has a rule.
  bool hasRule(llvm::StringRef opName, unsigned operand) const;
  bool hasRule(mlir::OpOperand &operand) const;

  /// Builds the gradient of \p operand, which has a rule; null if it is zero.
  mlir::Value build(mlir::OpOperand &operand,
                    llvm::ArrayRef<mlir::Value> cotangents,
                    GradientBuilder &builder) const;

private:
  using VariadicRule = std::function<mlir::Value(
      mlir::Operation *, unsigned, mlir::Value, GradientBuilder &)>;

  template <typename OpTy, typename RuleT>
  static Rule wrap(RuleT rule) {
    return [rule](mlir::Operation *op, llvm::ArrayRef<mlir::Value> cotangents,
                  GradientBuilder &b) -> mlir::Value {
      // In this order: a Value converts to an ArrayRef of one, not back.
      if constexpr (std::is_invocable_v<RuleT, OpTy,
                                        llvm::ArrayRef<mlir::Value>,
                                        GradientBuilder &>)
        return rule(llvm::cast<OpTy>(op), cotangents, b);
      else
        return rule(llvm::cast<OpTy>(op), cotangents[0], b);
    };
  }

  void insert(llvm::StringRef opName, unsigned operand, Rule rule) {
    rules[opName][operand] = std::move(rule);
  }

  /// A null rule: the operand is constant.
  llvm::StringMap<std::map<unsigned, Rule>> rules;
  llvm::StringMap<VariadicRule> variadic;
};

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_GRADIENTS_H
