//===- Attention.td - Attention and rotary positions -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_ATTENTION
#define PIPEWRIGHT_DIALECT_NN_OPS_ATTENTION

include "pipewright/Dialect/NN/NNBase.td"

def NN_AttentionOp : NN_Op<"attention", [Pure, NN_Contraction,
    AllElementTypesMatch<["query", "key", "value", "result"]>]> {
  let summary = "softmax(scale Q K^T + mask) V for each head";
  let description = [{
    Queries are [batch..., heads, queries, size], keys [batch..., groups, keys,
    size] and values [batch..., groups, keys, value size]; the result is
    [batch..., heads, queries, value size]. `groups` divides `heads`: as many
    heads in a row as that makes share the keys and values of a group. (Vaswani
    et al., arXiv:1706.03762; Ainslie et al., arXiv:2305.13245)

    With `softcap` c, the scores s are c tanh(s / c) before any mask (Gemma Team,
    arXiv:2408.00118).

    The optional mask is added to the scores [batch..., heads, queries, keys];
    it has their rank, and size 1 on an axis along which it is repeated. A query
    from which it hides all keys, by minus infinity, gets zeros. With `causal`,
    query i sees the keys up to `keys - queries + i`.

    Backward computes the weights again instead of keeping a number for each
    pair of query and key.

    ```mlir
    %y = nn.attention %q, %k, %v causal scale 1.250000e-01
        : (tensor<2x8x16x64xf32>, tensor<2x2x16x64xf32>,
           tensor<2x2x16x64xf32>) -> tensor<2x8x16x64xf32>
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key,
                       NN_FloatTensor:$value, Optional<NN_FloatTensor>:$mask,
                       F64Attr:$scale, UnitAttr:$causal,
                       OptionalAttr<F64Attr>:$softcap);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`causal` $causal^)?
    `scale` $scale (`softcap` $softcap^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_AttentionWithStatisticsOp : NN_Op<"attention_with_statistics", [Pure,
    NN_Contraction,
    AllElementTypesMatch<["query", "key", "value", "result"]>]> {
  let summary = "attention, and what a library's gradient of it starts from";
  let description = [{
    The first result is that of an `nn.attention` without mask and soft cap. The
    second, [batch..., heads, queries], has for each query the logarithm of the
    sum of the exponentials of its scores, in f32, or f64 for operands of f64:
    with it `nn.attention_grad` makes the weights again without their sums.

    `--nn-keep-attention-statistics` makes it of an `nn.attention` that the
    library of the target computes.

    ```mlir
    %y, %s = nn.attention_with_statistics %q, %k, %v causal scale 1.250000e-01
        : (tensor<2x8x16x64xbf16>, tensor<2x2x16x64xbf16>,
           tensor<2x2x16x64xbf16>) -> (tensor<2x8x16x64xbf16>, tensor<2x8x16xf32>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$query, NN_FloatTensor:$key,
                       NN_FloatTensor:$value, F64Attr:$scale,
                       UnitAttr:$causal);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$statistics);
  let assemblyFormat = [{
    $query `,` $key `,` $value (`causal` $causal^)? `scale` $scale attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_AttentionGradOp : NN_Op<"attention_grad", [Pure, NN_Contraction,
    AllElementTypesMatch<["cotangent", "query", "key", "value", "result"]>,
    AllTypesMatch<["result", "cotangent"]>,
    AllTypesMatch<["query", "query_gradient"]>,
    AllTypesMatch<["key", "key_gradient"]>,
    AllTypesMatch<["value", "value_gradient"]>]> {
  let summary = "gradients of attention_with_statistics for its operands";
  let description = [{
    With the scores S, the weights P = exp(S - statistics), one number a query
    subtracted from its row, and dS = P (dY V^T - sum(dY Y)), the sum being over
    a row of the result, the gradients are scale dS K, scale dS^T Q and P^T dY.
    (Dao, "FlashAttention-2", arXiv:2307.08691)

    ```mlir
    %dq, %dk, %dv = nn.attention_grad %dy, %q, %k, %v, %y, %s causal scale 1.250000e-01
        : (tensor<8x16x64xbf16>, tensor<8x16x64xbf16>, tensor<2x16x64xbf16>,
           tensor<2x16x64xbf16>, tensor<8x16x64xbf16>, tensor<8x16xf32>)
        -> (tensor<8x16x64xbf16>, tensor<2x16x64xbf16>, tensor<2x16x64xbf16>)
    ```
  }];
  let arguments = (ins NN_FloatTensor:$cotangent, NN_FloatTensor:$query,
                       NN_FloatTensor:$key, NN_FloatTensor:$value,
                       NN_FloatTensor:$result, NN_FloatTensor:$statistics,
                       F64Attr:$scale, UnitAttr:$causal);
  let results = (outs NN_FloatTensor:$query_gradient,
                      NN_FloatTensor:$key_gradient,
                      NN_FloatTensor:$value_gradient);
  let assemblyFormat = [{
    $cotangent `,` $query `,` $key `,` $value `,` $result `,` $statistics
    (`causal` $causal^)? `scale` $scale attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def NN_RotaryOp : NN_Op<"rotary", [Pure, SameOperandsAndResultType]> {
  let summary = "rotates pairs of numbers: x cosine + rotate(x) sine";
  let description = [{
    `rotate` turns each pair (a, b) of the last axis into (-b, a): element i
    and the one half an axis later, or neighbors if `interleaved`. (Su et al.,
    arXiv:2104.09864)
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$cosine,
                       NN_FloatTensor:$sine, UnitAttr:$interleaved);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `,` $cosine `,` $sine (`interleaved` $interleaved^)? attr-dict
    `:` type($result)
  }];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_ATTENTION
