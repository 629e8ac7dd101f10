//===- Comparison.h - Results against a reference ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TEST_UNIT_CODEGEN_COMPARISON_H
#define PIPEWRIGHT_TEST_UNIT_CODEGEN_COMPARISON_H

#include "CompiledFunction.h"

namespace pipewright {

/// Checks that \p actual are the results of \p function: as exact as their
/// types are, and for conversions to the bit.
void expectResults(nn::FunctionOp function, const Tensors &actual,
                   const Tensors &expected);

} // namespace pipewright

#endif // PIPEWRIGHT_TEST_UNIT_CODEGEN_COMPARISON_H
