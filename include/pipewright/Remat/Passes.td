//===- Passes.td - Keep values for backward or recompute them -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_REMAT_PASSES
#define PIPEWRIGHT_REMAT_PASSES

include "mlir/Pass/PassBase.td"

def ChooseRemat : Pass<"pp-choose-remat", "::mlir::ModuleOp"> {
  let summary = "say of each layer what is kept of it for backward";
  let description = [{
    Requires a `pp.model` of layers, before it is cut into stages: recomputation
    is a part of what stages cost.
    Ensures that the `remat` of each `pp.layer` is `policy`, or that of its
    place in `layers`, which must name as many as the model has.

    ```mlir
    %1 = pp.layer "h.0" @h(%0) parameters [] remat selective : …
    %2 = pp.layer "h.1" @h(%1) parameters [] remat full : …
    ```
  }];
  let options = [
    Option<"policy", "policy", "::pipewright::pp::RematPolicy",
           "::pipewright::pp::RematPolicy::None", "the policy of all layers",
           [{::llvm::cl::values(
               clEnumValN(::pipewright::pp::RematPolicy::None, "none",
                          "keep all saved values"),
               clEnumValN(::pipewright::pp::RematPolicy::Selective,
                          "selective", "recompute what is cheap for its size"),
               clEnumValN(::pipewright::pp::RematPolicy::Full, "full",
                          "keep what enters the layer"))}]>,
    ListOption<"layers", "layers", "std::string",
               "the policy of each layer in the order of the model, by name, "
               "in place of one for all">
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def ApplyRemat : Pass<"pp-apply-remat", "::mlir::ModuleOp"> {
  let summary = "recompute what backward needs instead of keeping it";
  let description = [{
    Requires outlined stages, and a policy of each layer.
    Ensures that F tasks keep no value that a layer's policy has recomputed,
    and that an R task of the stage makes these again, from kept values,
    parameters, and what the stage received:

    * `full`: the layer's F runs again. All that it makes is recomputed, its
      results too, so that full layers in a row start from what enters the
      first of them;
    * `selective`: the recompute function of the layer's derivative runs;
    * `none`: nothing is recomputed.

    Results of layers that are not full are kept if R or backward needs them. A
    stage that recomputes nothing has no R task; one of full layers alone keeps
    nothing but what it received, be it from other replicas: R is one task even
    where F is in parts, and exchanges nothing. The same functions compute the same bits.
  }];
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
