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

def ShardExperts : Pass<"pp-shard-experts", "::mlir::ModuleOp"> {
  let summary = "share the experts of layers out over replicas";
  let description = [{
    Requires a model of `pp.layer`s, some of which have an `nn.expert_matmul`
    by parameters.
    Ensures that each of these is three layers with `pp.exchanged` between them:
    the first one packs rows for the peers that have their experts, the second
    one computes as many rows with the experts that one replica has, the third
    one unpacks their results. The parameters of experts have `shards`.

    A block has a place for each row, so that none is dropped, unless there is a
    `capacity`: then a peer takes from another one so many times its even share
    of rows, the first ones, and others give zeros, as do rows of no expert
    (Fedus et al., "Switch Transformers", arXiv:2101.03961). A place without a
    row has a number that names no expert, so that it costs nothing in a product.

    What stands between two products of experts has to keep rows apart, as
    elementwise ops do. Biases are looked up by the numbers of experts.

    ```mlir
    %y = pp.layer "h.0" @h.0(%x) parameters [@router, @up, @down] : ...
    ```
    becomes
    ```mlir
    %r:5 = pp.layer "h.0" @h.0(%x) parameters [@router] : ...
    %rows = pp.exchanged %r#1 peers 2 : tensor<16x8xf32>
    %numbers = pp.exchanged %r#2 peers 2 : tensor<16xi64>
    %e = pp.layer "h.0/experts" @"h.0/experts"(%rows, %numbers)
        parameters [@up, @down] : ...
    %results = pp.exchanged %e peers 2 : tensor<16x8xf32>
    %y = pp.layer "h.0/combine" @"h.0/combine"(%r#3, %r#4, %results, %r#0)
        parameters [] : ...
    ```
  }];
  let options = [
    Option<"peers", "peers", "int64_t", "2",
           "The replicas that share the experts of a layer">,
    Option<"capacity", "capacity", "double", "0.0",
           "How many times its even share of another one's rows a peer takes "
           "at most; 0: all">,
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def VerifyLayers : Pass<"pp-verify-layers", "::mlir::ModuleOp"> {
  let summary = "check that the model is a list of closed, named layers";
  let description = [{
    Fails unless each op of the model is a `pp.layer`, a `pp.exchanged` of
    what a layer makes for another one, or a `pp.random_key` that carries the
    index of the only layer that uses it, and unless layers have distinct names.
  }];
}

#endif // PIPEWRIGHT_LAYERS_PASSES
