//===- Passes.td - Keep values for backward or recompute them -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_REMAT_PASSES
#define PIPEWRIGHT_REMAT_PASSES

include "mlir/Pass/PassBase.td"

def ApplyRemat : Pass<"pp-apply-remat", "::mlir::ModuleOp"> {
  let summary = "recompute what backward needs instead of keeping it";
  let description = [{
    Requires outlined stages.
    Ensures, with policy `full`, that F tasks keep nothing for backward but
    what they received: an R task computes the saved values again from it, with
    the same functions and so the same bits. A stage that saves nothing gets no
    R task. Policy `none` changes nothing.
  }];
  let options = [
    Option<"policy", "policy", "::pipewright::RematPolicy",
           "::pipewright::RematPolicy::None", "what is recomputed",
           [{::llvm::cl::values(
               clEnumValN(::pipewright::RematPolicy::None, "none",
                          "nothing; all saved values are kept"),
               clEnumValN(::pipewright::RematPolicy::Full, "full",
                          "all values that F makes for backward"))}]>
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def VerifyRemat : Pass<"pp-verify-remat", "::mlir::ModuleOp"> {
  let summary = "check that backward uses only what is kept or recomputed";
  let description = [{
    Fails unless each saved value that a task reads is made, with the same
    type, by exactly one earlier task of its stage: F, R or B.
  }];
}

#endif // PIPEWRIGHT_REMAT_PASSES
