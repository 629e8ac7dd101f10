//===- Reduction.td - Sums and extremes over axes ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_REDUCTION
#define PIPEWRIGHT_DIALECT_NN_OPS_REDUCTION

include "pipewright/Dialect/NN/NNBase.td"

def NN_Reduction : I32EnumAttr<"Reduction", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Mean", 1, "mean">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"Prod", 4, "prod">]> {
  let cppNamespace = "::pipewright::nn";
}

def NN_ReduceOp : NN_Op<"reduce", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "combines the elements along some axes, which it drops";
  let description = [{
    `axes` is sorted and without repeats. The axes are dropped from the
    shape; a kept axis of size 1 is a `nn.reshape` after it. Equal extremes
    share the gradient evenly, but for those of a window that `nn.im2col` takes:
    there, the first one has it all.

    ```mlir
    %y = nn.reduce sum %x axes [1] : tensor<2x8xf32> -> tensor<2xf32>
    ```
  }];
  let arguments = (ins NN_Reduction:$kind, NN_NumberTensor:$operand,
                       DenseI64ArrayAttr:$axes);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = [{$kind $operand `axes` $axes attr-dict
      `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_CumulativeSumOp : NN_Op<"cumulative_sum", [Pure,
    SameOperandsAndResultType]> {
  let summary = "running sum along one axis";
  let description = [{
    Element i is the sum of elements 0..i (`exclusive`: 0..i-1); `reverse`
    counts from the end.
  }];
  let arguments = (ins NN_NumberTensor:$operand, I64Attr:$axis,
                       UnitAttr:$exclusive, UnitAttr:$reverse);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = [{$operand `axis` $axis (`exclusive` $exclusive^)?
      (`reverse` $reverse^)? attr-dict `:` type($result)}];
  let hasVerifier = 1;
}

def NN_TopKOp : NN_Op<"top_k", [Pure]> {
  let summary = "positions of the largest elements along an axis, in order";
  let description = [{
    The result's shape is the operand's with as many elements along the axis as
    are wanted. The largest comes first (`smallest`: the smallest), of equal ones
    the one of lower position.

    ```mlir
    %experts = nn.top_k %scores axis 1 : tensor<64x8xf32> -> tensor<64x2xi64>
    ```
  }];
  let arguments = (ins NN_NumberTensor:$operand, I64Attr:$axis,
                       UnitAttr:$smallest);
  let results = (outs NN_IndexTensor:$result);
  let assemblyFormat = [{$operand `axis` $axis (`smallest` $smallest^)? attr-dict
      `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_REDUCTION
