//===- Passes.h - Simplify what was imported --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_PASSES_H
#define PIPEWRIGHT_IMPORT_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pipewright {

#define GEN_PASS_DECL
#include "pipewright/Import/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Import/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_IMPORT_PASSES_H
