//===- Passes.td - From layers to stages and their tasks ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_STAGES_PASSES
#define PIPEWRIGHT_STAGES_PASSES

include "mlir/Pass/PassBase.td"

def BalanceStages : Pass<"pp-balance-stages", "::mlir::ModuleOp"> {
  let summary = "cut the layers into stages";
  let description = [{
    Requires outlined layers, priced unless `balance` is `params` or `uniform`.
    Ensures `ranks * chunks` `pp.stage`s that hold each layer once, in order.
    Stage i is on rank i mod `ranks`; with `placement`, there are as many stages
    as it has numbers, and each is on the rank that it says. The stages of a
    rank are its chunks 0, 1, and so on. With `reverse-placement` all stages are
    there a second time, as those of direction 1, on the ranks that it says.

    The heaviest stage is as light as possible; then the sum of squares is
    smallest; then the fewest bytes cross. Layers without parameters (the loss)
    stay with the layer before them, and so do layers that get rows from other
    replicas: more stages than other layers are an error.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "pipeline ranks">,
    Option<"chunks", "chunks", "int64_t", "1", "stages of each rank">,
    Option<"balance", "balance", "::pipewright::Balance",
           "::pipewright::Balance::Time", "what is spread evenly",
           [{::llvm::cl::values(
               clEnumValN(::pipewright::Balance::Time, "time",
                          "time of all roles"),
               clEnumValN(::pipewright::Balance::Params, "params",
                          "elements of parameters"),
               clEnumValN(::pipewright::Balance::Flops, "flops",
                          "FLOPs of all roles"),
               clEnumValN(::pipewright::Balance::Uniform, "uniform",
                          "number of layers"))}]>,
    ListOption<"placement", "placement", "int64_t",
               "the rank of each stage (default: in loops over the ranks)">,
    ListOption<"reversePlacement", "reverse-placement", "int64_t",
               "the rank of each stage of direction 1 (default: there is none)">,
    ListOption<"splitAt", "split-at", "std::string",
               "layers or ONNX nodes: a stage begins at the layer that is, or "
               "holds, each">,
    ListOption<"sizes", "sizes", "int64_t",
               "layers of each stage, counted as 'uniform' counts them, in "
               "place of a balance">
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def OutlineStages : Pass<"pp-outline-stages", "::mlir::ModuleOp"> {
  let summary = "make the tasks of each stage";
  let description = [{
    Requires the `pp.stage`s of `--pp-balance-stages`, of each direction.
    Ensures an F task for each stage and, where the layers have derivatives, a
    BW task, or a B and a W task. Values that cross are declared as
    `pp.channel`s from the stage that makes them to the next one that uses
    them, and on from there; their gradients return the same way.

    Where layers use what replicas exchange (`pp.exchanged`), F, and B or BW, go
    on in another part: the part before it makes what the declared `pp.exchange`
    sends, later ones read what it receives. The gradient of what is exchanged
    is exchanged too. Whatever else one part makes for a later one is saved.

    Each stage adds its contributions to the gradient it received, from its
    last layer to its first: the same sums in the same order for every cut.
    Model inputs and random keys are read where they are used and never cross.
    Gradients are made only for values whose layer wants them. The `pp.model`
    stays: it describes inputs, outputs and loss. Outputs are made by stages of
    direction 0, which alone run where there is no training.
  }];
  let options = [
    Option<"backward", "backward", "::pipewright::BackwardForm",
           "::pipewright::BackwardForm::Fused", "backward tasks of a stage",
           [{::llvm::cl::values(
               clEnumValN(::pipewright::BackwardForm::Fused, "fused",
                          "one task, BW"),
               clEnumValN(::pipewright::BackwardForm::Split, "split",
                          "two tasks, B and W"))}]>
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

def VerifyStages : Pass<"pp-verify-stages", "::mlir::ModuleOp"> {
  let summary = "check that each layer is in exactly one stage";
  let description = [{
    Fails unless the stages of each direction are numbered from 0, hold the
    layers of the model in order, each once, list the parameters of their
    layers, and have one F task, in one or several parts.
  }];
}

#endif // PIPEWRIGHT_STAGES_PASSES
