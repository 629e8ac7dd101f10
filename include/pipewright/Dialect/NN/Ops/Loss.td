//===- Loss.td - Losses as a sum and a weight --------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_LOSS
#define PIPEWRIGHT_DIALECT_NN_OPS_LOSS

include "pipewright/Dialect/NN/NNBase.td"

def NN_Scalar : 0DTensorOf<[NN_Float]>;

def NN_CrossEntropyOp : NN_Op<"cross_entropy", [Pure,
    AllElementTypesMatch<["logits", "sum", "weight"]>]> {
  let summary = "sum of -log softmax(logits)[label], and how many labels count";
  let description = [{
    The last axis of the logits is the class axis; the labels have the shape
    of the other axes. A label equal to `ignore_index` counts neither in the
    sum nor in the weight. A micro-batch yields (sum, weight); the loss of a
    step is the sum of sums over the sum of weights, so that micro-batches
    with unequal numbers of valid labels give the mean over the whole batch.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IndexTensor:$labels,
                       I64Attr:$ignore_index);
  let results = (outs NN_Scalar:$sum, NN_Scalar:$weight);
  let assemblyFormat = [{$logits `,` $labels `ignore` $ignore_index attr-dict
      `:` functional-type(operands, results)}];
  let hasVerifier = 1;
}
def NN_CrossEntropyGradOp : NN_Op<"cross_entropy_grad", [Pure,
    AllElementTypesMatch<["cotangent", "logits", "result"]>,
    AllShapesMatch<["logits", "result"]>]> {
  let summary = "(softmax(logits) - onehot(label)) * cotangent, 0 where ignored";
  let arguments = (ins NN_Scalar:$cotangent, NN_FloatTensor:$logits,
                       NN_IndexTensor:$labels, I64Attr:$ignore_index);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{$cotangent `,` $logits `,` $labels
      `ignore` $ignore_index attr-dict
      `:` functional-type(operands, results)}];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_LOSS
