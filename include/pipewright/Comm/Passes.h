//===- Passes.h - What moves between ranks ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COMM_PASSES_H
#define PIPEWRIGHT_COMM_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pipewright {

#define GEN_PASS_DECL
#include "pipewright/Comm/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Comm/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_COMM_PASSES_H
