//===- Destination.h - An op as code on buffers -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_DESTINATION_H
#define PIPEWRIGHT_LIB_CODEGEN_DESTINATION_H

#include "mlir/IR/PatternMatch.h"

namespace pipewright {

/// The buffer that an op writes its result to when the op is lowered before
/// bufferization, and the tensors that it reads.
struct Destination {
  mlir::Value buffer;
  /// The result is added to what the buffer holds.
  bool accumulate = false;
  /// The tensor value that the buffer stands for once it is written.
  mlir::Value written;
  /// The tensors of which the code reads the buffers.
  llvm::SmallVector<mlir::Value> reads;

  /// \p tensor as a contiguous buffer that is only read, by code before
  /// `finishDestination`.
  mlir::Value getReadBuffer(mlir::Value tensor, mlir::RewriterBase &rewriter);
};

/// Chooses the buffer for \p result, the one result of an op that is about to
/// be lowered: an accumulator if the result is only added to it and the op can
/// do so, a buffer of the function's results if the result goes there, else a
/// new one. Sets the rewriter to where the buffer is to be written;
/// `finishDestination` comes after that.
Destination takeDestination(mlir::Value result, mlir::RewriterBase &rewriter,
                            bool canAccumulate = true);

/// Makes all users of \p result read \p destination, and erases the op that
/// defines the result.
void finishDestination(Destination destination, mlir::Value result,
                       mlir::RewriterBase &rewriter);

/// \p buffer, which is contiguous, in the shape of \p tensor.
mlir::Value reshapeBuffer(mlir::Value buffer, mlir::Value tensor,
                          mlir::RewriterBase &rewriter);

/// Erases what \p values were computed by and nobody needs any more.
void eraseDead(llvm::ArrayRef<mlir::Value> values,
               mlir::RewriterBase &rewriter);

/// The same for all results of \p op, each with the destination that was taken
/// for it.
void finishDestinations(llvm::ArrayRef<Destination> destinations,
                        mlir::Operation *op, mlir::RewriterBase &rewriter);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_DESTINATION_H
