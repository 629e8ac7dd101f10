//===- Passes.h - From layers to stages and their tasks ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_STAGES_PASSES_H
#define PIPEWRIGHT_STAGES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace pipewright {

/// What is spread evenly over the stages: time (F, B and W together), elements
/// of parameters, FLOPs, or the number of layers.
enum class Balance { Time, Params, Flops, Uniform };

/// Whether a stage has one backward task (BW) or two (B, W).
enum class BackwardForm { Fused, Split };

#define GEN_PASS_DECL
#include "pipewright/Stages/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "pipewright/Stages/Passes.h.inc"

} // namespace pipewright

#endif // PIPEWRIGHT_STAGES_PASSES_H
