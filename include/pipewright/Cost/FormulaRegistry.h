//===- FormulaRegistry.h - The work of each nn op ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_FORMULAREGISTRY_H
#define PIPEWRIGHT_COST_FORMULAREGISTRY_H

#include "pipewright/Cost/Device.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <optional>

namespace pipewright {

/// Formulas for the FLOPs and bytes of ops. An entry of the folder
/// `lib/Cost/Formulas` adds those of one family.
class FormulaRegistry {
public:
  using Formula = std::function<Work(mlir::Operation *)>;

  static const FormulaRegistry &get();

  template <typename OpTy>
  void add(Work (*formula)(OpTy)) {
    formulas[OpTy::getOperationName()] = [formula](mlir::Operation *op) {
      return formula(llvm::cast<OpTy>(op));
    };
  }
  /// Ops that read all operands, write all results, and do \p flops per
  /// element of the first result.
  template <typename... OpTys>
  void addPerResultElement(int64_t flops) {
    auto formula = [flops](mlir::Operation *op) {
      return perResultElement(op, flops);
    };
    ((formulas[OpTys::getOperationName()] = formula), ...);
  }

  bool contains(llvm::StringRef operationName) const {
    return formulas.contains(operationName);
  }

  /// The work of \p op; none for an op without a formula.
  std::optional<Work> evaluate(mlir::Operation *op) const;

private:
  static Work perResultElement(mlir::Operation *op, int64_t flops);

  llvm::StringMap<Formula> formulas;
};

/// What \p op computes in: for contractions the type of the operands, whatever
/// the result is rounded to. Integers count as f32.
FloatKind getFloatKind(mlir::Operation *op);

/// The number of elements of \p value.
int64_t countElements(mlir::Value value);

/// All operands read and all results written once, and \p flops.
Work streamOperands(mlir::Operation *op, int64_t flops);

} // namespace pipewright

#endif // PIPEWRIGHT_COST_FORMULAREGISTRY_H
