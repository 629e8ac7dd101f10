//===- Derivative.h - F, B and W of a layer function ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_DERIVATIVE_H
#define PIPEWRIGHT_TRAINING_DERIVATIVE_H

#include "pipewright/Training/Activity.h"

namespace pipewright {

/// Makes `@f.f`, `@f.b`, `@f.w` and their `nn.derivative` behind the function
/// `@f`, for the gradients that \p activity asks for. Reports an op that has
/// no gradient.
mlir::FailureOr<nn::DerivativeOp> buildDerivative(nn::FunctionOp function,
                                                  const Activity &activity);

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_DERIVATIVE_H
