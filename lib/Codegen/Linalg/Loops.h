//===- Loops.h - Loop nests of what is sequential by nature -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_LINALG_LOOPS_H
#define PIPEWRIGHT_LIB_CODEGEN_LINALG_LOOPS_H

#include "Arithmetic.h"

namespace pipewright {

/// Loops over all coordinates of \p shape, the last axis innermost.
void createLoops(Arithmetic &arith, llvm::ArrayRef<int64_t> shape,
                 llvm::function_ref<void(Arithmetic &, mlir::ValueRange)> body);

} // namespace pipewright

#endif // PIPEWRIGHT_LIB_CODEGEN_LINALG_LOOPS_H
