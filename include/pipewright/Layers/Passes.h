//===- Passes.h - From ops to layers ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LAYERS_PASSES_H
#define PIPEWRIGHT_LAYERS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pipewright {

#define GEN_PASS_DECL
#include "pipewright/Layers/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Layers/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_LAYERS_PASSES_H
