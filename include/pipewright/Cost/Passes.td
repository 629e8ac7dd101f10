//===- Passes.td - What layers cost ------------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_PASSES
#define PIPEWRIGHT_COST_PASSES

include "mlir/Pass/PassBase.td"

def AnnotateCosts : Pass<"pp-annotate-costs", "::mlir::ModuleOp"> {
  let summary = "put FLOPs, time and bytes on each pp.layer, by formula";
  let description = [{
    Requires outlined layers.
    Ensures that each `pp.layer` has a `#pp.cost` with source `formula`.

    The cost of a role is the sum over the ops of its function. Each op takes
    the longer of computing and moving its bytes on the device, plus the time
    to start it. A layer function without `nn.derivative` is given backward
    roles that cost as much as its contractions, W only if it has parameters.
  }];
  let options = [
    Option<"flopsPerSecond", "flops-per-second", "double", "200e9",
           "peak of the device, in FLOP/s">,
    Option<"bytesPerSecond", "bytes-per-second", "double", "20e9",
           "memory bandwidth of the device, in bytes/s">,
    Option<"launchSeconds", "launch-seconds", "double", "100e-9",
           "time to start an op, in seconds">
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

#endif // PIPEWRIGHT_COST_PASSES
