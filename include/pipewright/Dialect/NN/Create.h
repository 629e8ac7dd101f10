//===- Create.h - Makes ops where there is something to do ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What rewrites of several phases build. Each function returns its operand
// where that is what is asked for already.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_CREATE_H
#define PIPEWRIGHT_DIALECT_NN_CREATE_H

#include "pipewright/Dialect/NN/NN.h"

#include "mlir/IR/Builders.h"

namespace pipewright::nn {

mlir::Value createReshape(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value createBroadcast(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, llvm::ArrayRef<int64_t> shape);
mlir::Value createTranspose(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value,
                            llvm::ArrayRef<int64_t> permutation);
mlir::Value createCast(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value value, mlir::Type element);

/// A tensor with the type of \p like filled with \p number.
mlir::Value createSplatLike(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value like, double number);

} // namespace pipewright::nn

#endif // PIPEWRIGHT_DIALECT_NN_CREATE_H
