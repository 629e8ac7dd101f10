//===- EvaluatorRegistry.h - How each op is computed ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each file beside this one adds the evaluators of one family of ops.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_EVALUATORREGISTRY_H
#define PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_EVALUATORREGISTRY_H

#include "pipewright/Dialect/NN/HostTensor.h"
#include "pipewright/Dialect/NN/NN.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace pipewright::nn {

class EvaluatorRegistry {
public:
  /// Fills the results, which have the op's result types and are 0 at first.
  using Evaluator = std::function<mlir::LogicalResult(
      mlir::Operation *, llvm::ArrayRef<HostTensor>,
      llvm::MutableArrayRef<HostTensor>)>;

  /// The registry with all families.
  static const EvaluatorRegistry &get();

  /// Adds `LogicalResult evaluate(OpTy, ArrayRef<HostTensor> operands,
  /// MutableArrayRef<HostTensor> results)`.
  template <typename OpTy, typename Function>
  void addFallible(Function evaluate) {
    evaluators[mlir::TypeID::get<OpTy>()] =
        [evaluate](mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
                   llvm::MutableArrayRef<HostTensor> results) {
          return evaluate(llvm::cast<OpTy>(op), operands, results);
        };
  }

  /// Adds `void evaluate(OpTy, ArrayRef<HostTensor> operands, HostTensor
  /// &result)`, for an op of one result that has a value for all operands.
  template <typename OpTy, typename Function>
  void add(Function evaluate) {
    evaluators[mlir::TypeID::get<OpTy>()] =
        [evaluate](mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
                   llvm::MutableArrayRef<HostTensor> results) {
          evaluate(llvm::cast<OpTy>(op), operands, results.front());
          return mlir::success();
        };
  }

  /// The evaluator of an op, or null.
  const Evaluator *lookup(mlir::TypeID op) const {
    auto found = evaluators.find(op);
    return found == evaluators.end() ? nullptr : &found->second;
  }

private:
  llvm::DenseMap<mlir::TypeID, Evaluator> evaluators;
};

} // namespace pipewright::nn

#endif // PIPEWRIGHT_LIB_DIALECT_NN_EVALUATE_EVALUATORREGISTRY_H
