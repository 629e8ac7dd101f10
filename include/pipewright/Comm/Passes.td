//===- Passes.td - What moves between ranks ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COMM_PASSES
#define PIPEWRIGHT_COMM_PASSES

include "mlir/Pass/PassBase.td"

def InsertTransfers : Pass<"pp-insert-transfers", "::mlir::ModuleOp"> {
  let summary = "pass values that skip stages on, one boundary at a time";
  let description = [{
    Requires outlined stages.
    Ensures that each `pp.channel` joins neighbouring stages: a value that
    skips stages is received and passed on by the F task of each stage between,
    its gradient by the B or BW task.
  }];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def InsertAllReduce : Pass<"pp-insert-all-reduce", "::mlir::ModuleOp"> {
  let summary = "add the gradients of both directions";
  let description = [{
    Requires outlined stages. Ensures that each `pp.update` adds the gradients
    of all layers of all directions, those of direction 0 first: the ranks that
    hold copies of a parameter get the same sum and make the same update, so
    that the copies stay equal, bit for bit. With one direction nothing changes.

    ```mlir
    pp.update @wte from layers [0, 13]
    ```
    becomes, with 14 layers and two directions,
    ```mlir
    pp.update @wte from layers [0, 13, 14, 27]
    ```
  }];
}

def VerifyComm : Pass<"pp-verify-comm", "::mlir::ModuleOp"> {
  let summary = "check that both ends of each channel are there";
  let description = [{
    Fails unless each `pp.channel` joins neighbouring stages, is written by one
    task, of its source, and is read by tasks of its target only, at least one,
    and unless the same is true of each `pp.exchange` and its stage.
  }];
}

#endif // PIPEWRIGHT_COMM_PASSES
