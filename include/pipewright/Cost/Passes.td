//===- Passes.td - What layers cost ------------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_COST_PASSES
#define PIPEWRIGHT_COST_PASSES

include "mlir/Pass/PassBase.td"

def AnnotateCosts : Pass<"pp-annotate-costs", "::mlir::ModuleOp"> {
  let summary = "put FLOPs, time and bytes on each pp.layer";
  let description = [{
    Requires outlined layers.
    Ensures that each `pp.layer` has a `#pp.cost`: with source `table` and the
    times of the file `layer-times`, if a row of it matches the layer's name;
    else with source `measured` and the times of `profile`, a file of
    `pipewright profile`, if it has a layer with the same functions; else, with
    a remark if there is a profile, with source `formula`. FLOPs and bytes are
    by formula always, and so are the times that a row leaves out. Each row has
    to match a layer.

    By formula, the cost of a role is the sum over the ops of its function. Each op takes
    the time to start it, and the longer of computing and moving its bytes.
    The device has a peak for each type of elements, that of the operands for
    contractions and of the result for others, and a bandwidth; an op reaches
    the part of each that the device's curve of efficiency gives for its FLOPs
    and bytes. A layer function without `nn.derivative` is given backward
    roles that cost as much as its contractions, W only if it has parameters.

    Whatever the source, the times of a layer have on top those of the
    `pp.exchanged` whose results it uses: F waits for them, and B, where there
    is one, sends back their gradients, which those of floats have. A replica
    sends each of its peers one block: this takes the largest latency of the
    links to them and the sum of the blocks over their bandwidths. The replicas
    are pipelines of `ranks` devices of `topology`, one after the other;
    without a topology, links are as the profile has measured them, and without
    either exchanges take no time. In these layers, products by expert compute
    for as many rows as experts have if each has as many as the others: of the
    places that a peer has for rows, one in as many as there are peers, or, with
    a `capacity`, one in that.
  }];
  let options = [
    Option<"deviceName", "device", "std::string", "\"cpu\"",
           "name of a device that Pipewright knows, or its .json or .toml "
           "file">,
    Option<"profileFile", "profile", "std::string", "\"\"",
           "file of measured times (default: none)">,
    Option<"layerTimesFile", "layer-times", "std::string", "\"\"",
           "file of times of layers that come before all others (default: "
           "none)">,
    Option<"topologyFile", "topology", "std::string", "\"\"",
           "name of a topology that Pipewright knows, or its file, for the "
           "times of exchanges (default: none)">,
    Option<"ranks", "ranks", "int64_t", "1", "ranks of a pipeline">,
    Option<"capacity", "capacity", "double", "0",
           "most rows that go from a peer to another, as a multiple of an even "
           "share (0: no limit)">
  ];
  let dependentDialects = ["::pipewright::pp::PPDialect"];
}

#endif // PIPEWRIGHT_COST_PASSES
