//===- Passes.td - Passes that make a model trainable ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_TRAINING_PASSES
#define PIPEWRIGHT_TRAINING_PASSES

include "mlir/Pass/PassBase.td"

def Differentiate : Pass<"nn-differentiate", "::mlir::ModuleOp"> {
  let summary = "make the F, B and W functions of each distinct layer";
  let description = [{
    Requires a `pp.model` of layers with a loss.
    Ensures that each function called by a `pp.layer` has one `nn.derivative`,
    and that exactly the parameters with a gradient are `trainable`.

    `@f.f` also returns what backward needs beside arguments and results; what
    is cheap is computed again instead. `@f.b` computes the gradients of the
    arguments that depend on a trainable parameter; `@f.w` adds the gradients
    of trainable parameters to their accumulators. Contributions to the
    gradient of one value are added from its last use to its first, so the sum
    has the same bits in every schedule.

    A function that several layers share gets the gradients that any of them
    needs. Layers that train other parameters of it than the first get a copy.

    ```mlir
    nn.function @fc(%x: tensor<2x8xf32>, %w: tensor<16x8xf32>) -> tensor<2x16xf32> {
      %y = nn.matmul %x, %w transpose_rhs : …
      nn.return %y : tensor<2x16xf32>
    }
    ```
    becomes, where the gradients of both arguments are wanted,
    ```mlir
    nn.function @fc.f(%x, %w) -> %y { … }
    nn.function @fc.b(%w, %dy) -> %dx {
      %dx = nn.matmul %dy, %w : …
    }
    nn.function @fc.w(%x, %dy, %accumulator) -> %sum {
      %dw = nn.matmul %dy, %x transpose_lhs : …
      %sum = nn.accumulate %accumulator, %dw : …
    }
    nn.derivative @fc forward @fc.f backward @fc.b … weight @fc.w …
    ```
  }];
  let options = [
    Option<"train", "train", "std::string", "\"\"",
           "regular expression: train only parameters whose name it matches">,
    Option<"freeze", "freeze", "std::string", "\"\"",
           "regular expression: do not train parameters whose name it matches">,
  ];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

#endif // PIPEWRIGHT_TRAINING_PASSES
