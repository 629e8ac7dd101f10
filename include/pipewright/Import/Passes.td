//===- Passes.td - Passes that simplify what was imported --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_IMPORT_PASSES
#define PIPEWRIGHT_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def Fold : Pass<"nn-fold", "::mlir::ModuleOp"> {
  let summary = "compute ops whose operands are all constants";
  let description = [{
    Requires nothing.
    Ensures that an `nn` op whose operands are all constants, and whose
    operands and results are of at most `max-bytes` each, is a constant.

    Weights are parameters and no constants, so they are never folded. The
    reference evaluator computes the values; an op that has none, as a look-up
    beyond the end of a table, is an error.

    ```mlir
    %0 = nn.constant dense<[2, 3]> : tensor<2xi64>
    %1 = nn.reduce prod %0 axes [0] : tensor<2xi64> -> tensor<i64>
    ```
    becomes
    ```mlir
    %1 = nn.constant dense<6> : tensor<i64>
    ```
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "65536",
           "leave ops alone that read or make a larger tensor (bytes)">,
  ];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

def RaisePatterns : Pass<"nn-raise-patterns", "::mlir::ModuleOp"> {
  let summary = "find attention, norms, activations and experts spelled out";
  let description = [{
    Requires nothing.
    Ensures that ops which together compute an `nn.attention`, `nn.rotary`,
    `nn.gelu`, `nn.silu`, `nn.softmax`, `nn.layer_norm` or `nn.rms_norm` are
    that op, at the location of the last of them. What it computes differs by
    rounding only. A product of rows with a copy of a matrix each, looked up by
    number, is an `nn.expert_matmul`.

    Optimization remarks of the category `raise` say what was raised (passed)
    and what came close and why it was left (missed); `pp-opt` prints them with
    `--remarks-filter=raise`.

    Operands of commutative ops may come in any order; a division may be a
    product with a reciprocal and a power a product.

    ```mlir
    %0 = nn.div %x, %sqrt2 : tensor<2x8xf32>
    %1 = nn.erf %0 : tensor<2x8xf32>
    %2 = nn.add %1, %one : tensor<2x8xf32>
    %3 = nn.mul %x, %2 : tensor<2x8xf32>
    %4 = nn.mul %3, %half : tensor<2x8xf32>
    ```
    becomes
    ```mlir
    %4 = nn.gelu erf %x : tensor<2x8xf32>
    ```
  }];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
}

#endif // PIPEWRIGHT_IMPORT_PASSES
