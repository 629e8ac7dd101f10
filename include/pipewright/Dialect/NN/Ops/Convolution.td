//===- Convolution.td - Windows that slide over images -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_CONVOLUTION
#define PIPEWRIGHT_DIALECT_NN_OPS_CONVOLUTION

include "pipewright/Dialect/NN/NNBase.td"

def NN_Im2ColOp : NN_Op<"im2col", [Pure, SameOperandsAndResultElementType]> {
  let summary = "the windows of a sliding kernel, element by element";
  let description = [{
    The operand has the shape [batch, channels, size...], the result [batch,
    channels, kernel..., position...]: for each spatial axis, element k of the
    window at position o is element `o * stride + k * dilation` of the operand.
    Padding is an `nn.pad` before it.

    A convolution is a matrix product with the windows, pooling a reduction over
    the kernel's axes.

    ```mlir
    %w = nn.im2col %x strides [2, 2] dilations [1, 1]
        : tensor<1x3x9x9xf32> -> tensor<1x3x3x3x4x4xf32>
    ```
  }];
  let arguments = (ins NN_NumberTensor:$operand, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs NN_NumberTensor:$result);
  let assemblyFormat = [{$operand `strides` $strides `dilations` $dilations
      attr-dict `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
}

def NN_Col2ImOp : NN_Op<"col2im", [Pure, SameOperandsAndResultElementType]> {
  let summary = "the transpose of im2col: adds windows where they lie";
  let description = [{
    Each element of the result is the sum of the window elements that `nn.im2col`
    takes from there, in the order of the windows' memory; 0 where there is none.
    Shapes are those of `nn.im2col` with operand and result swapped.
  }];
  let arguments = (ins NN_FloatTensor:$operand, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$dilations);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{$operand `strides` $strides `dilations` $dilations
      attr-dict `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_CONVOLUTION
