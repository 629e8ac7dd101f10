//===- Passes.td - From ops to layers ----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_LAYERS_PASSES
#define PIPEWRIGHT_LAYERS_PASSES

include "mlir/Pass/PassBase.td"

def FormLayers : Pass<"pp-form-layers", "::mlir::ModuleOp"> {
  let summary = "group the ops of the model into layers as people count them";
  let description = [{
    Requires an imported model.
    Ensures that its body is a list of `pp.block`s, each of which uses only
    model inputs and results of earlier ones.

    Ops are grouped by the numbered name scope of their ONNX nodes, or of the
    parameters they read (`transformer/h.3`); what comes before the first
    numbered scope is the layer `embeddings`, what comes after the last the
    layer `head`. Where no scope is numbered, the model is cut where one
    floating-point tensor crosses, so that each layer has a contraction or a
    look-up with a parameter of its own.

    Constants, parameters and cheap computations on model inputs and constants
    (masks, position ids) are copied into each block that uses them: they
    never cross from one layer to another.
  }];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def OutlineLayers : Pass<"pp-outline-layers", "::mlir::ModuleOp"> {
  let summary = "turn each pp.block into a pp.layer that calls a function";
  let description = [{
    Requires a model whose body consists of `pp.block`s.
    Ensures that it consists of `pp.layer`s and `pp.random_key`s, and that
    layers that compute the same on other parameters call one function.

    A function takes the values of other layers and model inputs first, then
    its random key if it draws random numbers, then each parameter once. Its
    random streams are numbered from 0: the key already differs between layers.
  }];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def VerifyLayers : Pass<"pp-verify-layers", "::mlir::ModuleOp"> {
  let summary = "check that the model is a list of closed, named layers";
  let description = [{
    Fails unless each op of the model is a `pp.layer`, or a `pp.random_key`
    that carries the index of the only layer that uses it, and unless layers
    have distinct names.
  }];
}

#endif // PIPEWRIGHT_LAYERS_PASSES
