//===- Elementwise.td - One result element per operand element -*- tablegen -*-//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_ELEMENTWISE
#define PIPEWRIGHT_DIALECT_NN_OPS_ELEMENTWISE

include "pipewright/Dialect/NN/NNBase.td"

class NN_UnaryOp<string mnemonic, Type type, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat(
          [Pure, SameOperandsAndResultType, Elementwise], traits)> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

class NN_BinaryOp<string mnemonic, Type type, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat(
          [Pure, SameOperandsAndResultType, Elementwise], traits)> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

def NN_NegOp : NN_UnaryOp<"neg", NN_NumberTensor> {
  let summary = "negation";
  let hasFolder = 1;
}
def NN_AbsOp : NN_UnaryOp<"abs", NN_NumberTensor> {
  let summary = "absolute value; its gradient at 0 is 0";
}
def NN_SignOp : NN_UnaryOp<"sign", NN_NumberTensor> {
  let summary = "-1, 0 or 1";
}
def NN_ExpOp : NN_UnaryOp<"exp", NN_FloatTensor> {
  let summary = "natural exponential";
}
def NN_LogOp : NN_UnaryOp<"log", NN_FloatTensor> {
  let summary = "natural logarithm";
}
def NN_SqrtOp : NN_UnaryOp<"sqrt", NN_FloatTensor> {
  let summary = "square root";
}
def NN_RsqrtOp : NN_UnaryOp<"rsqrt", NN_FloatTensor> {
  let summary = "reciprocal of the square root";
}
def NN_ReciprocalOp : NN_UnaryOp<"reciprocal", NN_FloatTensor> {
  let summary = "one divided by the operand";
}
def NN_TanhOp : NN_UnaryOp<"tanh", NN_FloatTensor> {
  let summary = "hyperbolic tangent";
}
def NN_ErfOp : NN_UnaryOp<"erf", NN_FloatTensor> {
  let summary = "error function";
}
def NN_SinOp : NN_UnaryOp<"sin", NN_FloatTensor> { let summary = "sine"; }
def NN_CosOp : NN_UnaryOp<"cos", NN_FloatTensor> { let summary = "cosine"; }
def NN_SigmoidOp : NN_UnaryOp<"sigmoid", NN_FloatTensor> {
  let summary = "logistic function, 1 / (1 + exp(-x))";
}
def NN_SiluOp : NN_UnaryOp<"silu", NN_FloatTensor> {
  let summary = "the operand times its logistic function (Swish)";
}
def NN_ReluOp : NN_UnaryOp<"relu", NN_FloatTensor> {
  let summary = "maximum of the operand and 0; its gradient at 0 is 0";
}
def NN_FloorOp : NN_UnaryOp<"floor", NN_FloatTensor> {
  let summary = "largest whole number not above the operand";
}
def NN_CeilOp : NN_UnaryOp<"ceil", NN_FloatTensor> {
  let summary = "smallest whole number not below the operand";
}
def NN_NotOp : NN_UnaryOp<"not", NN_BoolTensor> {
  let summary = "logical negation";
}

def NN_GeluForm : I32EnumAttr<"GeluForm", "which formula a GELU uses", [
    I32EnumAttrCase<"Erf", 0, "erf">, I32EnumAttrCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::pipewright::nn";
}

def NN_GeluOp : NN_Op<"gelu", [Pure, SameOperandsAndResultType, Elementwise]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    `erf`: x/2 (1 + erf(x / sqrt 2)).
    `tanh`: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
    (Hendrycks and Gimpel, arXiv:1606.08415)
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_GeluForm:$form);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$form $operand attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

def NN_AddOp : NN_BinaryOp<"add", NN_NumberTensor, [Commutative]> {
  let summary = "sum";
}
def NN_SubOp : NN_BinaryOp<"sub", NN_NumberTensor> {
  let summary = "difference";
}
def NN_MulOp : NN_BinaryOp<"mul", NN_NumberTensor, [Commutative]> {
  let summary = "product";
  let hasFolder = 1;
}
def NN_DivOp : NN_BinaryOp<"div", NN_NumberTensor> {
  let summary = "quotient; truncates towards zero for integers";
  let hasFolder = 1;
}
def NN_ModOp : NN_BinaryOp<"mod", NN_NumberTensor> {
  let summary = "remainder with the sign of the divisor";
}
def NN_PowOp : NN_BinaryOp<"pow", NN_FloatTensor> {
  let summary = "the left operand to the power of the right one";
  let hasCanonicalizer = 1;
}
def NN_MaxOp : NN_BinaryOp<"max", NN_NumberTensor, [Commutative]> {
  let summary = "larger element; equal elements share the gradient in halves";
}
def NN_MinOp : NN_BinaryOp<"min", NN_NumberTensor, [Commutative]> {
  let summary = "smaller element; equal elements share the gradient in halves";
}
def NN_AndOp : NN_BinaryOp<"and", NN_BoolTensor, [Commutative]> {
  let summary = "logical and";
}
def NN_OrOp : NN_BinaryOp<"or", NN_BoolTensor, [Commutative]> {
  let summary = "logical or";
}

def NN_Comparison : I32EnumAttr<"Comparison", "an order relation", [
    I32EnumAttrCase<"Equal", 0, "eq">, I32EnumAttrCase<"NotEqual", 1, "ne">,
    I32EnumAttrCase<"Less", 2, "lt">, I32EnumAttrCase<"LessOrEqual", 3, "le">,
    I32EnumAttrCase<"Greater", 4, "gt">,
    I32EnumAttrCase<"GreaterOrEqual", 5, "ge">]> {
  let cppNamespace = "::pipewright::nn";
}

def NN_CompareOp : NN_Op<"compare", [Pure, SameTypeOperands,
    SameOperandsAndResultShape, Elementwise]> {
  let summary = "elementwise comparison; false where an operand is NaN, except ne";
  let arguments = (ins NN_Comparison:$predicate, NN_Tensor:$lhs,
                       NN_Tensor:$rhs);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat =
      "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def NN_SelectOp : NN_Op<"select", [Pure, AllTypesMatch<["on_true", "on_false",
    "result"]>, AllShapesMatch<["condition", "result"]>, Elementwise]> {
  let summary = "takes an element of one of two tensors";
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$on_true,
                       NN_Tensor:$on_false);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$condition `,` $on_true `,` $on_false attr-dict `:`
                         type($condition) `,` type($result)}];
  let hasFolder = 1;
}

def NN_CastOp : NN_Op<"cast", [Pure, SameOperandsAndResultShape, Elementwise]> {
  let summary = "converts the element type";
  let description = [{
    Float to integer truncates towards zero; anything to `i1` is `!= 0`; `i1`
    to a number is 0 or 1; float to a narrower float rounds to nearest even.
  }];
  let arguments = (ins NN_Tensor:$operand);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasFolder = 1;
}

def NN_AccumulateOp : NN_Op<"accumulate", [Pure, SameOperandsAndResultType]> {
  let summary = "adds a contribution to a gradient accumulator, in place";
  let description = [{
    The result is `accumulator + value`. Where the accumulator is an argument
    of the enclosing function and the result is returned by it, both are one
    buffer: weight gradients are summed where they live, and a `nn.matmul` or
    `nn.scatter_add` that makes the value writes straight into it.
  }];
  let arguments = (ins NN_FloatTensor:$accumulator, NN_FloatTensor:$value);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$accumulator `,` $value attr-dict `:` type($result)";
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_ELEMENTWISE
