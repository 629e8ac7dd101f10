//===- Embedding.td - Look-ups and their gradients ---------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_EMBEDDING
#define PIPEWRIGHT_DIALECT_NN_OPS_EMBEDDING

include "pipewright/Dialect/NN/NNBase.td"

def NN_GatherOp : NN_Op<"gather", [Pure,
    AllElementTypesMatch<["table", "result"]>]> {
  let summary = "takes slices of a tensor by index along one axis";
  let description = [{
    The result's shape is the table's with the axis replaced by the shape of
    the indices. A negative index counts from the end.

    ```mlir
    %y = nn.gather %table, %ids axis 0
        : tensor<256x64xf32>, tensor<2x8xi64> -> tensor<2x8x64xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$table, NN_IndexTensor:$indices,
                       I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$table `,` $indices `axis` $axis attr-dict
      `:` type($table) `,` type($indices) `->` type($result)}];
  let hasVerifier = 1;
}
def NN_ScatterAddOp : NN_Op<"scatter_add", [Pure,
    AllElementTypesMatch<["updates", "result"]>]> {
  let summary = "the transpose of gather: adds slices into a zero tensor by index";
  let description = [{
    The result is zero except where an index names a slice along `axis`, which
    holds the sum of all updates for that index, added in the order of the
    indices. Shapes are those of `nn.gather` with result and table swapped.
  }];
  let arguments = (ins NN_FloatTensor:$updates, NN_IndexTensor:$indices,
                       I64Attr:$axis);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{$updates `,` $indices `axis` $axis attr-dict
      `:` type($updates) `,` type($indices) `->` type($result)}];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_EMBEDDING
