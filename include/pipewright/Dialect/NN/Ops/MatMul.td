//===- MatMul.td - Contractions ----------------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_MATMUL
#define PIPEWRIGHT_DIALECT_NN_OPS_MATMUL

include "pipewright/Dialect/NN/NNBase.td"

def NN_MatMulOp : NN_Op<"matmul", [Pure, NN_Contraction,
    AllElementTypesMatch<["lhs", "rhs"]>]> {
  let summary = "matrix product over equal leading batch dimensions";
  let description = [{
    Both operands have one rank, at least 2, and equal leading (batch)
    dimensions. A transposed operand is stored with its last two dimensions
    swapped, so the gradients of a product are products again and no transpose
    is materialized:

    ```mlir
    %y = nn.matmul %x, %w transpose_rhs
        : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
    ```

    Products of 16-bit floats are added up in f32; the result has the element
    type of the operands, or is f32 where the sums are wanted unrounded.
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_lhs` $transpose_lhs^)?
    (`transpose_rhs` $transpose_rhs^)? attr-dict
    `:` type($lhs) `,` type($rhs) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_MATMUL
