//===- Generic.h - The forms of linalg.generic that we make -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_LINALG_GENERIC_H
#define PIPEWRIGHT_LIB_CODEGEN_LINALG_GENERIC_H

#include "Arithmetic.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"

namespace pipewright {

/// Computes one element from the elements of the inputs, which are as wide as
/// their compute type; so is what it returns, or as the result is stored.
using ElementFn =
    llvm::function_ref<mlir::Value(Arithmetic &, mlir::ValueRange)>;

/// An input of a generic op, read through a map from its loops.
struct MappedInput {
  mlir::Value tensor;
  mlir::AffineMap map;
};

/// The value of each element of a tensor of type \p type. Inputs without a map
/// have the shape of the result.
mlir::Value createMap(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Type type, llvm::ArrayRef<MappedInput> inputs,
                      ElementFn compute);

/// One partial result of a reduction: where it starts, what each element
/// contributes, and how contributions are combined.
struct Reducer {
  double initial;
  llvm::function_ref<mlir::Value(Arithmetic &, mlir::ValueRange)> contribute;
  llvm::function_ref<mlir::Value(Arithmetic &, mlir::Value, mlir::Value)>
      combine;
};

/// Reduces over \p axes of loops with the extents \p loops. The results have
/// the shape of the other loops and the compute type of \p element.
llvm::SmallVector<mlir::Value> createReduction(
    mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element,
    llvm::ArrayRef<int64_t> loops, llvm::ArrayRef<int64_t> axes,
    llvm::ArrayRef<MappedInput> inputs, llvm::ArrayRef<Reducer> reducers);

/// \p tensor with its elements stored as in \p type.
mlir::Value storeAs(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Type type, mlir::Value tensor);

/// Sums, in an order that the vectorizer may choose.
mlir::Value addUp(Arithmetic &arith, mlir::Value sum, mlir::Value value);
/// The larger value; NaN if one is.
mlir::Value takeMax(Arithmetic &arith, mlir::Value max, mlir::Value value);

/// A tensor of type \p type full of \p value.
mlir::Value createFilled(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type type, double value);

/// The map that drops the loops \p axes of \p loops loops.
mlir::AffineMap getMapWithout(llvm::ArrayRef<int64_t> axes, int64_t loops,
                              mlir::MLIRContext *context);

/// The axes of a shape of \p rank from \p axis to the last.
llvm::SmallVector<int64_t> getAxesFrom(int64_t axis, int64_t rank);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_LINALG_GENERIC_H
