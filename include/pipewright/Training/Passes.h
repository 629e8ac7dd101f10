//===- Passes.h - Passes that make a model trainable ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_PASSES_H
#define PIPEWRIGHT_TRAINING_PASSES_H

#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace pipewright {

#define GEN_PASS_DECL
#include "pipewright/Training/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pipewright/Training/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_TRAINING_PASSES_H
