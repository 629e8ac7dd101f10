//===- Toolkit.h - Where the CUDA toolkit is --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_TOOLKIT_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_TOOLKIT_H

#include "llvm/Support/Error.h"

#include <string>

namespace pipewright::cuda {

constexpr llvm::StringLiteral missingToolkit =
    "cannot find the CUDA toolkit; set CUDA_HOME to its folder";

/// The folder of the CUDA toolkit: CUDA_HOME, else CUDA_PATH, else
/// /usr/local/cuda. Empty if there is none; an error if a variable names a
/// folder that is none.
llvm::Expected<std::string> findToolkit();

/// The toolkit's assembler, `ptxas`; an error if there is none.
llvm::Expected<std::string> findAssembler();

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_TOOLKIT_H
