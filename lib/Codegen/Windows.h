//===- Windows.h - Windows that slide over images ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What convolutions and pooling have in common. Windows have the axes of
// `nn.im2col`: batch, channels, kernel and positions.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_WINDOWS_H
#define PIPEWRIGHT_LIB_CODEGEN_WINDOWS_H

#include "pipewright/Codegen/Target.h"

#include "mlir/IR/PatternMatch.h"

namespace pipewright {

using Sizes = llvm::ArrayRef<int64_t>;

Sizes getSizes(mlir::Value tensor);

/// The number of spatial axes of windows.
int64_t countAxes(Sizes windows);

/// Whether \p image, in the shape of \p windows, is all of them; sets \p call.
bool setWholeWindows(SlidingWindows &call, Sizes image, Sizes windows);

/// The image that \p windows are taken of, without padding by \p value if that
/// is the same on both sides; null if a library's windows are not like that.
/// Sets \p call.
mlir::Value findImage(SlidingWindows &call, nn::Im2ColOp windows,
                      const llvm::APFloat &value);

/// The image that windows are added up to, likewise.
mlir::Value findSum(SlidingWindows &call, nn::Col2ImOp windows);

/// What \p value is the conversion of, or itself.
mlir::Value skipCast(mlir::Value value);

/// \p value with elements of \p type.
mlir::Value castTo(mlir::Type type, mlir::Value value,
                   mlir::RewriterBase &rewriter);

/// The op that alone uses the result of \p op, if it is an \p OpTy.
template <typename OpTy>
OpTy getOnlyUser(mlir::Operation *op) {
  return op && op->hasOneUse() ? llvm::dyn_cast<OpTy>(*op->user_begin())
                               : OpTy();
}

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_WINDOWS_H
