//===- Experts.td - Rows that each have a matrix of several -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_EXPERTS
#define PIPEWRIGHT_DIALECT_NN_OPS_EXPERTS

include "pipewright/Dialect/NN/NNBase.td"

def NN_ExpertMatMulOp : NN_Op<"expert_matmul", [Pure, NN_Contraction,
    AllElementTypesMatch<["rows", "weights"]>]> {
  let summary = "multiplies each row with the matrix of its own expert";
  let description = [{
    Row i of the result is row i of `rows` times the matrix
    `weights[experts[i]]`: a layer of a mixture of experts, in which a token
    is a row for each expert that its router chose. No row is dropped, no row
    meets another expert, and no matrix is copied (Gale et al., "MegaBlocks",
    arXiv:2211.15841). Rows come in any order; to bring those of an expert
    together is part of computing the op (Tan et al., "Scattered
    Mixture-of-Experts Implementation", arXiv:2403.08245).

    A negative number counts experts from the end, as in `nn.gather`. A number
    that names no expert makes a row of zeros. With `transpose_weights`, the
    last two dimensions of the weights are stored swapped. The type of the
    result follows the rule of `nn.matmul`.

    ```mlir
    %y = nn.expert_matmul %x, %w, %experts transpose_weights
        : tensor<8x16xf32>, tensor<4x32x16xf32>, tensor<8xi64> -> tensor<8x32xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$rows, NN_FloatTensor:$weights,
                       NN_LongTensor:$experts, UnitAttr:$transpose_weights);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $rows `,` $weights `,` $experts
    (`transpose_weights` $transpose_weights^)? attr-dict
    `:` type($rows) `,` type($weights) `,` type($experts) `->` type($result)
  }];
  let hasVerifier = 1;
}

def NN_ExpertOuterOp : NN_Op<"expert_outer", [Pure, NN_Contraction,
    AllElementTypesMatch<["lhs", "rhs"]>]> {
  let summary = "sums, for each expert, the outer products of its rows";
  let description = [{
    Matrix e of the result is the sum over the rows i with `experts[i]` = e of
    the outer product of row i of `lhs` and row i of `rhs`, zeros for an
    expert without rows: the gradient of an `nn.expert_matmul` for its weights.
    The experts are numbered as there; a row whose number names none is in no
    sum.

    ```mlir
    %dw = nn.expert_outer %x, %dy, %experts
        : tensor<8x16xf32>, tensor<8x32xf32>, tensor<8xi64> -> tensor<4x16x32xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$lhs, NN_FloatTensor:$rhs,
                       NN_LongTensor:$experts);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{$lhs `,` $rhs `,` $experts attr-dict
      `:` type($lhs) `,` type($rhs) `,` type($experts) `->` type($result)}];
  let hasVerifier = 1;
}

def NN_PermuteRowsOp : NN_Op<"permute_rows", [Pure,
    AllElementTypesMatch<["rows", "result"]>]> {
  let summary = "moves rows to other places";
  let description = [{
    Row i of the result is row `indices[i]` of `rows`, or zeros if there is no
    such row. Row n of `rows` goes to place `inverse[n]` of the result, or
    nowhere if there is no such place: each of the two says what the other one
    does, so that the gradient moves rows back and adds nothing.

    ```mlir
    %packed = nn.permute_rows %x, %rowOf, %placeOf
        : tensor<8x16xf32>, tensor<12xi64>, tensor<8xi64> -> tensor<12x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$rows, NN_LongTensor:$indices,
                       NN_LongTensor:$inverse);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$rows `,` $indices `,` $inverse attr-dict
      `:` type($rows) `,` type($indices) `,` type($inverse)
      `->` type($result)}];
  let hasVerifier = 1;
}

def NN_InvertIndicesOp : NN_Op<"invert_indices", [Pure]> {
  let summary = "which index names each place";
  let description = [{
    Element p of the result is the i with `indices[i]` = p, or -1 if there is
    none. No two indices name the same place; those that name none are left out.

    ```mlir
    %rowOf = nn.invert_indices %placeOf : tensor<8xi64> -> tensor<12xi64>
    ```
  }];
  let arguments = (ins NN_LongTensor:$indices);
  let results = (outs NN_LongTensor:$result);
  let assemblyFormat = [{$indices attr-dict `:` type($indices)
      `->` type($result)}];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_EXPERTS
