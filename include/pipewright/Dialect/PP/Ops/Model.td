//===- Model.td - Parameters, the model, its layers --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_OPS_MODEL
#define PIPEWRIGHT_DIALECT_PP_OPS_MODEL

include "pipewright/Dialect/PP/PPBase.td"

def PP_ParameterOp : PP_Op<"parameter", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "a named tensor of the model file";
  let description = [{
    The symbol is the ONNX initializer's name, unchanged. With `shards`, the
    type is that of one of as many parts along the first axis, of which each
    rank of a group of replicas holds one; the file has all of them. The bytes stay in
    the file; only what has no bytes of its own there (text models, values
    stored in another width, folded transposes) is held inline. `trainable` parameters
    get a gradient and an update. Values of 16 bits make a parameter of
    f32 (a master weight) if they are `stored` so.

    ```mlir
    pp.parameter @"fc1.weight" trainable : tensor<16x8xf32>
      = #pp.external<"/models/mlp.onnx", offset = 312, length = 512>
    ```
  }];
  let arguments = (ins NN_SymbolName:$sym_name, UnitAttr:$trainable,
                       TypeAttrOf<NN_Tensor>:$type, AnyAttr:$value,
                       DefaultValuedAttr<PP_Count, "1">:$shards);
  let assemblyFormat = [{$sym_name (`trainable` $trainable^)?
                         (`shards` $shards^)? `:` $type `=` $value attr-dict}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The type of all shards together, as in the file.
    ::mlir::RankedTensorType getWholeType();
  }];
}

def PP_ModelOp : PP_Op<"model", [Symbol, IsolatedFromAbove,
    SingleBlock, HasParent<"::mlir::ModuleOp">]> {
  let summary = "the model for one micro-batch";
  let description = [{
    Its block's arguments are the model's inputs, described one by one by
    `inputs`. After Import it holds `nn` ops; after Layers only `pp.layer`s
    (and `pp.random_key`s, and what replicas exchange between layers).

    ```mlir
    pp.model @mlp(%x: tensor<2x8xf32> = #pp.input_spec<"x", axis = 0>) {
      %h = pp.layer "fc1" @fc1(%x) parameters [@"fc1.weight"]
          : (tensor<2x8xf32>) -> tensor<2x16xf32>
      pp.return outputs ["h"] %h : tensor<2x16xf32>
    }
    ```
  }];
  let arguments = (ins NN_SymbolName:$sym_name,
      TypedArrayAttrBase<PP_InputAttr, "input specs">:$inputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The description of input \p index.
    InputAttr getInputSpec(unsigned index) {
      return ::llvm::cast<InputAttr>(getInputs()[index]);
    }
    /// The samples of a micro-batch; 1 if no input is cut.
    int64_t getMicrobatchSize();
    /// The argument named \p name, or null.
    ::mlir::BlockArgument findInput(::llvm::StringRef name);
    /// Adds an input at the end.
    ::mlir::BlockArgument addInput(InputAttr spec, ::mlir::Type type,
                                   ::mlir::Location loc);
  }];
}

def PP_ReturnOp : PP_Op<"return", [HasParent<"ModelOp">, Terminator,
    AttrSizedOperandSegments]> {
  let summary = "the model's named outputs and its loss";
  let description = [{
    `loss` is absent or two scalars, the sum and the weight over which it is
    averaged; the loss of a step is the sum of sums over the sum of weights.

    `axes` holds for each output the axis along which its micro-batches follow
    each other; without it that is axis 0 of all.
  }];
  let arguments = (ins StrArrayAttr:$names, Variadic<NN_Tensor>:$outputs,
                       Variadic<NN_Tensor>:$loss,
                       OptionalAttr<DenseI64ArrayAttr>:$axes);
  let assemblyFormat = [{
    `outputs` $names ($outputs^ `:` type($outputs))?
    (`loss` $loss^ `:` type($loss))? (`axes` $axes^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The axis of the output \p name along which micro-batches follow each
    /// other.
    int64_t getAxis(::llvm::StringRef name);
  }];
}

def PP_GetParameterOp : PP_Op<"get_parameter", [Pure,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the value of a parameter, before layers are outlined";
  let arguments = (ins FlatSymbolRefAttr:$parameter);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$parameter attr-dict `:` type($result)";
}

def PP_RandomKeyOp : PP_Op<"random_key", [Pure]> {
  let summary = "the key of a layer's random numbers";
  let description = [{
    A pure function of (seed, step, micro-batch) and `layer`. Before layers
    are outlined `layer` is 0: outlining numbers it.
  }];
  let arguments = (ins PP_Index:$layer);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "`layer` $layer attr-dict `:` type($result)";
}

def PP_BlockOp : PP_Op<"block", [SingleBlockImplicitTerminator<"YieldOp">,
    HasParent<"ModelOp">]> {
  let summary = "ops that form one layer, before it is outlined";
  let description = [{
    `--pp-form-layers` moves ops into blocks, in order, each named as people
    count layers; `--pp-outline-layers` turns each block into a `pp.layer`
    that calls a function.
  }];
  let arguments = (ins StrAttr:$name);
  let results = (outs Variadic<NN_Tensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name $body attr-dict (`:` type($outputs)^)?";
}

def PP_YieldOp : PP_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["BlockOp", "TaskOp"]>]> {
  let summary = "the results of a block or a task";
  let arguments = (ins Variadic<NN_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{
    build($_builder, $_state, ::mlir::ValueRange());
  }]>];
}

def PP_ExchangedOp : PP_Op<"exchanged", [Pure, SameOperandsAndResultType,
    HasParent<"ModelOp">]> {
  let summary = "blocks of rows, exchanged between replicas";
  let description = [{
    The operand is as many blocks of rows as there are `peers`, replicas that
    hold different experts. Block i of the result of peer j is block j of the
    operand of peer i: an all-to-all, which is its own gradient. From Cost on,
    `picoseconds` is how long it takes.

    ```mlir
    %y = pp.exchanged %x peers 2 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins NN_Tensor:$operand, PP_Count:$peers,
                       DefaultValuedAttr<PP_Index, "0">:$picoseconds);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = [{$operand `peers` $peers
      (`picoseconds` $picoseconds^)? attr-dict `:` type($result)}];
  let hasVerifier = 1;
}

def PP_LayerOp : PP_Op<"layer", [Pure, HasParent<"ModelOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one layer: a call of its function with its parameters";
  let description = [{
    The function takes the arguments and then the parameters. Layers are
    ordered: a layer uses results of earlier ones. Its location is that of
    the ONNX node that names it best. `remat` says what is kept of it for
    backward.
  }];
  let arguments = (ins StrAttr:$name, FlatSymbolRefAttr:$callee,
      Variadic<NN_Tensor>:$arguments,
      TypedArrayAttrBase<FlatSymbolRefAttr, "parameters">:$parameters,
      OptionalAttr<PP_CostAttr>:$cost,
      DefaultValuedAttr<PP_RematPolicyAttr, "RematPolicy::None">:$remat);
  let results = (outs Variadic<NN_Tensor>:$outputs);
  let assemblyFormat = [{
    $name $callee `(` $arguments `)` `parameters` $parameters (`cost` $cost^)?
    (`remat` $remat^)? attr-dict `:` functional-type($arguments, $outputs)
  }];
}

#endif // PIPEWRIGHT_DIALECT_PP_OPS_MODEL
