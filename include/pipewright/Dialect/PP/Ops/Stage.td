//===- Stage.td - Stages, their tasks, their channels ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_OPS_STAGE
#define PIPEWRIGHT_DIALECT_PP_OPS_STAGE

include "pipewright/Dialect/PP/PPBase.td"

def PP_StageOp : PP_Op<"stage", [Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a run of layers on one rank";
  let description = [{
    Stages are numbered by `index` from 0 in the order of their layers.
    Layers are those of the model from `first_layer` on, `layers` by name.

    A pipeline of two directions has its stages twice: those of `direction` 1
    hold the same layers on other ranks, with parameters of their own, and run
    the second half of the micro-batches. Their layers are numbered on after
    those of direction 0, because each has gradients of its own.

    ```mlir
    pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["fc1"]
      parameters [@"fc1.weight"]
    pp.stage @u0 index 0 rank 1 chunk 0 first_layer 2 layers ["fc1"]
      parameters [@"fc1.weight"] direction 1
    ```
  }];
  let arguments = (ins NN_SymbolName:$sym_name, PP_Index:$index, PP_Index:$rank,
      PP_Index:$chunk, PP_Index:$first_layer, StrArrayAttr:$layers,
      TypedArrayAttrBase<FlatSymbolRefAttr, "parameters">:$parameters,
      OptionalAttr<PP_CostAttr>:$cost,
      DefaultValuedAttr<PP_Index, "0">:$direction);
  let assemblyFormat = [{
    $sym_name `index` $index `rank` $rank `chunk` $chunk
    `first_layer` $first_layer `layers` $layers
    `parameters` $parameters (`cost` $cost^)? (`direction` $direction^)?
    attr-dict
  }];
  let hasVerifier = 1;
}

def PP_ChannelOp : PP_Op<"channel", [Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a value that crosses from one stage to the next or back";
  let description = [{
    Declared once and named by both ends. Activations go to later stages,
    gradients back. From Comm on, channels join neighbouring stages: a value
    that skips stages moves one boundary at a time, so that its memory is
    accounted for on each rank it passes through, and gradients of a value
    used by several stages are always added from the last stage to the first.

    ```mlir
    pp.channel @act.0.0 activation from @s0 to @s1 : tensor<2x16xf32>
    ```
  }];
  let arguments = (ins NN_SymbolName:$sym_name, PP_ChannelKindAttr:$kind,
      FlatSymbolRefAttr:$source, FlatSymbolRefAttr:$target,
      TypeAttrOf<NN_Tensor>:$type);
  let assemblyFormat = [{$sym_name `` $kind `from` $source `to` $target `:` $type
                         attr-dict}];
}

def PP_ExchangeOp : PP_Op<"exchange", [Symbol, HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "blocks of rows that the replicas of a stage exchange";
  let description = [{
    Between two parts of a task: the one before fills `sent`, the one behind
    reads `received`, in which block i is what peer i sent to this one.

    ```mlir
    pp.exchange @x.0.0 of @s0 peers 2 : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins NN_SymbolName:$sym_name, FlatSymbolRefAttr:$stage,
      PP_Count:$peers, TypeAttrOf<NN_Tensor>:$type);
  let assemblyFormat = [{$sym_name `of` $stage `peers` $peers `:` $type
                         attr-dict}];
  let hasVerifier = 1;
}

def PP_TaskOp : PP_Op<"task", [Symbol, IsolatedFromAbove, SingleBlock,
    HasParent<"::mlir::ModuleOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one role of a stage, for any micro-batch";
  let description = [{
    Stored once, never per micro-batch. A role is in several parts, tasks
    numbered by `part`, where replicas exchange what one part makes before the
    next one can use it. The body is a list of `nn.call`s, and
    of `nn` ops that join them (sums of gradients, zeros). Each argument and
    each yielded value is bound to memory by a `#pp.binding`.

    A backward task may read an activation channel or a model input of its
    stage: the buffer is kept until then. A task's `gradient` result has the
    same binding as one of its arguments and is updated in place.
    `workspace_bytes` is the scratch memory that the task's code needs, once
    code generation has been asked for it.

    ```mlir
    pp.task @s0.f role F stage @s0
        (%x: tensor<2x8xf32> = <input "x">,
         %w: tensor<16x8xf32> = <parameter "fc1.weight">)
        -> (tensor<2x16xf32> = <channel "act.0.0">) {
      %y = nn.call @fc1.f(%x, %w)
          : (tensor<2x8xf32>, tensor<16x8xf32>) -> tensor<2x16xf32>
      pp.yield %y : tensor<2x16xf32>
    }
    ```
  }];
  let arguments = (ins NN_SymbolName:$sym_name, PP_RoleAttr:$role,
      FlatSymbolRefAttr:$stage, PP_BindingArrayAttr:$argument_bindings,
      PP_BindingArrayAttr:$result_bindings,
      OptionalAttr<PP_Index>:$workspace_bytes,
      DefaultValuedAttr<PP_Index, "0">:$part);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The binding of block argument \p index.
    BindingAttr getArgumentBinding(unsigned index) {
      return ::llvm::cast<BindingAttr>(getArgumentBindings()[index]);
    }
    /// The binding of yielded value \p index.
    BindingAttr getResultBinding(unsigned index) {
      return ::llvm::cast<BindingAttr>(getResultBindings()[index]);
    }
    /// The memory in which it computes.
    BindingAttr getWorkspaceBinding() {
      return BindingAttr::get(getContext(), BindingKind::Workspace,
                              getSymName());
    }
    YieldOp getYield();
  }];
}

#endif // PIPEWRIGHT_DIALECT_PP_OPS_STAGE
