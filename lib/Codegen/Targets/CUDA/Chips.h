//===- Chips.h - Which devices code is made for -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CHIPS_H
#define PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CHIPS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace pipewright::cuda {

/// The chips that \p names, such as `sm_90,sm_100`, are of, oldest first and
/// each once. `native` are those that machines for training commonly have.
llvm::Expected<llvm::SmallVector<std::string>> getChips(llvm::StringRef names);

/// The device with costs that is nearest to the chips \p names.
llvm::StringRef getDevice(llvm::StringRef names);

/// 90 for `sm_90`.
unsigned getChipNumber(llvm::StringRef chip);

} // namespace pipewright::cuda

#endif // PIPEWRIGHT_LIB_CODEGEN_TARGETS_CUDA_CHIPS_H
