//===- Normalization.td - Softmax and layer norms ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_NORMALIZATION
#define PIPEWRIGHT_DIALECT_NN_OPS_NORMALIZATION

include "pipewright/Dialect/NN/NNBase.td"

class NN_SoftmaxOpBase<string mnemonic>
    : NN_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins NN_FloatTensor:$operand, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def NN_SoftmaxOp : NN_SoftmaxOpBase<"softmax"> {
  let summary = "exp(x - max x), divided by its sum, along one axis";
  let description = "`axis` counts from 0 and is not negative.";
}
def NN_LogSoftmaxOp : NN_SoftmaxOpBase<"log_softmax"> {
  let summary = "logarithm of the softmax along one axis";
  let description = "`axis` counts from 0 and is not negative.";
}
def NN_SoftmaxGradOp : NN_Op<"softmax_grad", [Pure,
    SameOperandsAndResultType]> {
  let summary = "gradient of softmax: y (dy - sum(dy y)) along one axis";
  let arguments = (ins NN_FloatTensor:$softmax, NN_FloatTensor:$cotangent,
                       I64Attr:$axis);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat =
      "$softmax `,` $cotangent `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def NN_LayerNormOp : NN_Op<"layer_norm", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "normalizes rows to mean 0 and variance 1, then scales and shifts";
  let description = [{
    A row is the span of the axes from `axis` to the last. With mean m and
    (biased) variance v of a row, the result is `(x - m) / sqrt(v + epsilon)`
    times `scale` plus `bias`, both of the row's shape. The two other results
    hold m and 1 / sqrt(v + epsilon), with one element a row (shape of the
    axes before `axis`); backward needs them.
    (Ba et al., arXiv:1607.06450)
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale,
                       Optional<NN_FloatTensor>:$bias, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean,
                      NN_FloatTensor:$inverse_deviation);
  let assemblyFormat = [{
    $operand `,` $scale (`,` $bias^)? `axis` $axis `epsilon` $epsilon attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}
def NN_LayerNormGradOp : NN_Op<"layer_norm_grad", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "gradient of layer_norm for its operand";
  let description = [{
    With n = (x - m) r the normalized row and g = dy * scale, the result is
    `r (g - mean(g) - n mean(g n))`, means over the row.
  }];
  let arguments = (ins NN_FloatTensor:$cotangent, NN_FloatTensor:$operand,
                       NN_FloatTensor:$scale, NN_FloatTensor:$mean,
                       NN_FloatTensor:$inverse_deviation, I64Attr:$axis);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $cotangent `,` $operand `,` $scale `,` $mean `,` $inverse_deviation
    `axis` $axis attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_RMSNormOp : NN_Op<"rms_norm", [Pure,
    SameOperandsAndResultElementType]> {
  let summary = "divides rows by their root mean square, then scales";
  let description = [{
    `x / sqrt(mean(x^2) + epsilon) * scale` over the axes from `axis` to the
    last. The second result is 1 / sqrt(mean(x^2) + epsilon), one element a
    row. (Zhang and Sennrich, arXiv:1910.07467)
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale,
                       I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result,
                      NN_FloatTensor:$inverse_deviation);
  let assemblyFormat = [{
    $operand `,` $scale `axis` $axis `epsilon` $epsilon attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_NORMALIZATION
