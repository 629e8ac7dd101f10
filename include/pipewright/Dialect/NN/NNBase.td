//===- NNBase.td - The nn dialect: what is computed --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_NNBASE
#define PIPEWRIGHT_DIALECT_NN_NNBASE

include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NNDialect : Dialect {
  let name = "nn";
  let cppNamespace = "::pipewright::nn";
  let summary = "what is computed: a closed set of differentiable tensor ops";
  let description = [{
    All shapes are static and all values are tensors with value semantics.
    Elementwise ops take operands of one shape: a broadcast is an op of its
    own. The set is closed: the ONNX importer decomposes what it reads into
    these ops, and gradients are built from them too, so that a cost formula,
    an evaluator and a lowering for each op cover a whole training step.

    Canonicalization removes what computes nothing and moves splats around; it
    never makes a constant with more than one distinct element. Arithmetic on
    constants is folded by `--nn-fold`, which has a limit of size.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

// MLIR prints a name of no letters as one that it does not read.
def NN_SymbolName : ConfinedAttr<SymbolNameAttr, [
    AttrConstraint<CPred<"!::llvm::cast<::mlir::StringAttr>($_self).empty()">,
                   "which is not empty">]>;

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NNDialect, mnemonic, traits>;

/// Results are sums of products of the operands, the first ones of which have
/// the type of the factors. If there is one result, it is of their element type
/// or, where that has 16 bits, may be of f32.
def NN_Contraction : NativeOpTrait<"Contraction"> {
  let cppNamespace = "::pipewright::nn";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def NN_Float : AnyTypeOf<[F16, BF16, F32, F64], "floating-point">;
def NN_Integer : AnyTypeOf<[I8, I16, I32, I64], "signless integer">;
def NN_Number : AnyTypeOf<[F16, BF16, F32, F64, I8, I16, I32, I64], "number">;
def NN_Element
    : AnyTypeOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64], "element">;

def NN_HasReasonableSizePred
    : CPred<"::pipewright::nn::hasReasonableSize("
            "::llvm::cast<::mlir::ShapedType>($_self).getShape())">;

class NN_TensorOf<list<Type> elements>
    : RankedTensorOf<elements, [HasStaticShapePred, NN_HasReasonableSizePred],
                     "statically shaped tensor (at most 2^48 elements)">;

def NN_Tensor : NN_TensorOf<[NN_Element]>;
def NN_FloatTensor : NN_TensorOf<[NN_Float]>;
def NN_NumberTensor : NN_TensorOf<[NN_Number]>;
def NN_IndexTensor : NN_TensorOf<[AnyTypeOf<[I32, I64]>]>;
def NN_LongTensor : NN_TensorOf<[I64]>;
def NN_BoolTensor : NN_TensorOf<[I1]>;

#endif // PIPEWRIGHT_DIALECT_NN_NNBASE
