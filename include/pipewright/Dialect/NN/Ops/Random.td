//===- Random.td - Counter-based random numbers ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_RANDOM
#define PIPEWRIGHT_DIALECT_NN_OPS_RANDOM

include "pipewright/Dialect/NN/NNBase.td"

def NN_RandomKeyTensor : TypeConstraint<
    CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) && "
          "::llvm::cast<::mlir::RankedTensorType>($_self).getShape() == "
          "::llvm::ArrayRef<int64_t>{2} && "
          "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()"
          ".isInteger(64)">, "random key (tensor<2xi64>)">;

def NN_DropoutMaskOp : NN_Op<"dropout_mask", [Pure]> {
  let summary = "0 with probability `ratio`, else 1 / (1 - ratio)";
  let description = [{
    A pure function of its key, `stream` and the element's index, so that the
    mask is recomputed rather than stored, is the same however the model is
    cut, and differs between steps, micro-batches and layers: the runtime
    makes the key from (seed, step, micro-batch, layer). Dropout itself is
    `nn.mul %x, %mask`.

    With Philox-4x32-10 (Salmon et al., SC 2011): counter = (element index / 4
    as 64 bits, stream, 0), key = the low and high word of `key[0] ^ key[1]
    * 0x9E3779B97F4A7C15` (wrapping); word `index mod 4` of the output is u.
    The element is kept if `u >= floor(ratio * 2^32)`.
  }];
  let arguments = (ins NN_RandomKeyTensor:$key, F64Attr:$ratio,
                       I64Attr:$stream);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{$key `ratio` $ratio `stream` $stream attr-dict
      `:` type($key) `->` type($result)}];
  let hasVerifier = 1;
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_RANDOM
