//===- Autocast.h - A layer function in mixed precision ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_TRAINING_AUTOCAST_H
#define PIPEWRIGHT_LIB_TRAINING_AUTOCAST_H

#include "pipewright/Dialect/NN/NN.h"

namespace pipewright {

/// Gives \p function the type \p type, in which floats may have other widths,
/// and converts what it reads and returns. Conversions of parameters, the
/// arguments from \p firstParameter on, are as late as possible, so that their
/// gradients are as wide as they are as early as possible.
///
/// If \p narrow is not null, its f32 ops are computed as `--pp-set-precision`
/// says.
void setPrecision(nn::FunctionOp function, mlir::FunctionType type,
                  unsigned firstParameter, mlir::FloatType narrow);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_TRAINING_AUTOCAST_H
