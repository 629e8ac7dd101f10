//===- Function.td - Layer functions and their derivatives -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_NN_OPS_FUNCTION
#define PIPEWRIGHT_DIALECT_NN_OPS_FUNCTION

include "pipewright/Dialect/NN/NNBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def NN_FunctionOp : NN_Op<"function", [FunctionOpInterface, IsolatedFromAbove,
    SingleBlock]> {
  let summary = "a layer's computation, or a part of its derivative";
  let description = [{
    One function serves all layers that compute the same on other parameters,
    which are passed as arguments; so a deep model is differentiated, priced
    and compiled as a few functions.
  }];
  let arguments = (ins NN_SymbolName:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region AnyRegion:$body);
  let hasCustomAssemblyFormat = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
                                 "::mlir::FunctionType":$type)>];
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def NN_ReturnOp : NN_Op<"return", [Pure, HasParent<"FunctionOp">, ReturnLike,
    Terminator]> {
  let summary = "ends a function with its results";
  let arguments = (ins Variadic<NN_Tensor>:$outputs);
  let assemblyFormat = "($outputs^ `:` type($outputs))? attr-dict";
  let hasVerifier = 1;
}

def NN_CallOp : NN_Op<"call", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "calls a function; its location names the layer";
  let arguments = (ins FlatSymbolRefAttr:$callee,
                       Variadic<NN_Tensor>:$arguments);
  let results = (outs Variadic<NN_Tensor>:$outputs);
  let assemblyFormat = [{$callee `(` $arguments `)` attr-dict
      `:` functional-type($arguments, $outputs)}];
}

def NN_KeepOp : NN_Op<"keep"> {
  let summary = "keeps the buffers of tensors as they are up to here";
  let description = [{
    Code generation turns some ops into code on buffers before the other ops
    have any. The uses of a tensor do not tell when such code reads its buffer;
    this op, which stands after the code, does. Bufferization deletes it.

    It is a use like any other: a tensor that has another user beside it is not
    fused into that one.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$tensors);
  let assemblyFormat = "$tensors attr-dict `:` type($tensors)";
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

def NN_ValueRole : I32EnumAttr<"ValueRole", "what a derivative's operand is", [
    I32EnumAttrCase<"Argument", 0, "argument">,
    I32EnumAttrCase<"Result", 1, "result">,
    I32EnumAttrCase<"Saved", 2, "saved">,
    I32EnumAttrCase<"Cotangent", 3, "cotangent">,
    I32EnumAttrCase<"Pending", 4, "pending">,
    I32EnumAttrCase<"Accumulator", 5, "accumulator">]> {
  let cppNamespace = "::pipewright::nn";
  let genSpecializedAttr = 0;
}

def NN_OperandAttr : AttrDef<NNDialect, "Operand"> {
  let mnemonic = "operand";
  let summary = "which value of a layer an operand of its B or W function is";
  let description = [{
    `argument i` and `result i` are those of the layer function; `saved i` is
    an extra result of F; `cotangent i` is the gradient of result i; `pending
    i` is made by B for W; `accumulator i` collects the gradient of argument i.
  }];
  let parameters = (ins EnumParameter<NN_ValueRole>:$role, "int64_t":$index);
  let assemblyFormat = "`<` $role $index `>`";
}
def NN_OperandArrayAttr : TypedArrayAttrBase<NN_OperandAttr, "operands">;

def NN_DerivativeOp : NN_Op<"derivative", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "names the F, B, W and R functions of a layer function";
  let description = [{
    For a layer function `primal (args) -> (results)`:

    * `forward (args) -> (results, saved)`: computes the results and what
      backward needs beside arguments and results;
    * `backward (backward_operands) -> (gradients, pending)`: the gradients
      of the arguments listed in `input_gradients`, in that order, then what
      it hands to W. It needs no accumulator and no parameter gradient;
    * `weight (weight_operands) -> accumulators`: adds the gradients of the
      arguments listed in `weight_gradients` to their accumulators, one result
      each, in that order;
    * `recompute (recompute_operands) -> saved`: the last of the saved values,
      to the same bits, from the first of them and from arguments, by ops that
      are cheap.

    `backward` is absent if no gradient is wanted for any argument that is not
    a parameter and W needs nothing from it; `weight` is absent if the layer
    has no trainable parameter; `recompute` is absent if it would make nothing.

    ```mlir
    nn.derivative @fc1 forward @fc1.f
      backward @fc1.b operands [#nn.operand<cotangent 0>, #nn.operand<result 0>]
               gradients [0]
      weight @fc1.w operands [#nn.operand<pending 0>, #nn.operand<argument 0>,
                              #nn.operand<accumulator 1>] gradients [1]
      recompute @fc1.r operands [#nn.operand<saved 0>]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$primal, FlatSymbolRefAttr:$forward,
      OptionalAttr<FlatSymbolRefAttr>:$backward,
      NN_OperandArrayAttr:$backward_operands,
      DenseI64ArrayAttr:$input_gradients,
      OptionalAttr<FlatSymbolRefAttr>:$weight,
      NN_OperandArrayAttr:$weight_operands,
      DenseI64ArrayAttr:$weight_gradients,
      OptionalAttr<FlatSymbolRefAttr>:$recompute,
      DefaultValuedAttr<NN_OperandArrayAttr, "{}">:$recompute_operands);
  let assemblyFormat = [{
    $primal `forward` $forward
    (`backward` $backward^)? `operands` $backward_operands
    `gradients` $input_gradients
    (`weight` $weight^)? `operands` $weight_operands
    `gradients` $weight_gradients
    (`recompute` $recompute^ `operands` $recompute_operands)? attr-dict
  }];
}

#endif // PIPEWRIGHT_DIALECT_NN_OPS_FUNCTION
