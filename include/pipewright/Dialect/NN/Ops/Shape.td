//===- Shape.td - Moving elements without arithmetic -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_SHAPE
#define PIPEWRIGHT_DIALECT_NN_OPS_SHAPE

include "pipewright/Dialect/NN/NNBase.td"

def NN_ConstantOp : NN_Op<"constant", [Pure, ConstantLike,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor known at compile time";
  let description = [{
    For small tensors and for splats; weights are `pp.parameter`s, whose bytes
    stay in the model file.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def NN_ReshapeOp : NN_Op<"reshape", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "the same elements in row-major order under another shape";
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_TransposeOp : NN_Op<"transpose", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "permutes the axes: axis i of the result is axis permutation[i]";
  let arguments = (ins NN_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$operand $permutation attr-dict
      `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_BroadcastOp : NN_Op<"broadcast", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "repeats elements by NumPy's rule";
  let description = [{
    Shapes are aligned at their last axes; an axis of size 1, or one that the
    operand lacks, is repeated.
  }];
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_SliceOp : NN_Op<"slice", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "every `strides[i]`-th element from `offsets[i]` on, per axis";
  let description = [{
    Offsets are not negative and strides are positive; the result's shape says
    how many elements are taken. A reversed axis is a `nn.reverse`.
  }];
  let arguments = (ins NN_Tensor:$operand, DenseI64ArrayAttr:$offsets,
                       DenseI64ArrayAttr:$strides);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$operand `offsets` $offsets `strides` $strides attr-dict
      `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_ReverseOp : NN_Op<"reverse", [Pure, SameOperandsAndResultType]> {
  let summary = "reverses the order of elements along some axes";
  let arguments = (ins NN_Tensor:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand `axes` $axes attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_PadOp : NN_Op<"pad", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "puts a tensor into a larger one filled with a constant";
  let description = [{
    Element i of an axis lands at `low + i * (interior + 1)`; the rest is
    `value`. The gradient of a slice is a pad with zeros and the other way
    round. Amounts are not negative.
  }];
  let arguments = (ins NN_Tensor:$operand, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior,
                       DefaultValuedAttr<F64Attr, "0.0">:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$operand `low` $low `high` $high `interior` $interior
      attr-dict `:` type($operand) `->` type($result)}];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def NN_ConcatOp : NN_Op<"concat", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "joins tensors along one axis";
  let arguments = (ins Variadic<NN_Tensor>:$parts, I64Attr:$axis);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$parts `axis` $axis attr-dict
      `:` type($parts) `->` type($result)}];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_SHAPE
