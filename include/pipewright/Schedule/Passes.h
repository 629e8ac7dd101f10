//===- Passes.h - Passes of the phase Schedule ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_PASSES_H
#define PIPEWRIGHT_SCHEDULE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace pipewright {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "pipewright/Schedule/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_SCHEDULE_PASSES_H
