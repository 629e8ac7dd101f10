//===- PPBase.td - The pp dialect: who computes what, when -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_PPBASE
#define PIPEWRIGHT_DIALECT_PP_PPBASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "pipewright/Dialect/NN/NNBase.td"

def PPDialect : Dialect {
  let name = "pp";
  let cppNamespace = "::pipewright::pp";
  let summary = "who computes what, when, and what moves";
  let description = [{
    No arithmetic: layers, stages, tasks, channels and the actions of each
    rank. Parameters, channels, stages and tasks are symbols; actions name
    them with a micro-batch and carry no SSA values, so a program prints like
    a schedule.
  }];
  let dependentDialects = ["::pipewright::nn::NNDialect"];
  let useDefaultAttributePrinterParser = 1;
  // Of a module's `pp.phase`, how far it has come.
  let hasOperationAttrVerify = 1;
}

class PP_Op<string mnemonic, list<Trait> traits = []>
    : Op<PPDialect, mnemonic, traits>;

// Positions and sizes. What an action counts from is the one number that may be
// negative.
def PP_Index : ConfinedAttr<I64Attr, [IntNonNegative]>;
def PP_Count : ConfinedAttr<I64Attr, [IntPositive]>;

class PP_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::pipewright::pp";
  let genSpecializedAttr = 0;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

def PP_Phase : PP_Enum<"Phase", "how far a module has come", [
    I32EnumAttrCase<"Import", 1, "import">,
    I32EnumAttrCase<"Layers", 2, "layers">,
    I32EnumAttrCase<"Training", 3, "training">,
    I32EnumAttrCase<"Cost", 4, "cost">,
    I32EnumAttrCase<"Stages", 5, "stages">,
    I32EnumAttrCase<"Comm", 6, "comm">,
    I32EnumAttrCase<"Remat", 7, "remat">,
    I32EnumAttrCase<"Schedule", 8, "schedule">,
    I32EnumAttrCase<"Program", 9, "program">]>;
def PP_PhaseAttr : EnumAttr<PPDialect, PP_Phase, "phase"> {
  let assemblyFormat = "`<` $value `>`";
}

def PP_Role : PP_Enum<"Role", "what a task does for its stage", [
    I32EnumAttrCase<"F", 0>, I32EnumAttrCase<"B", 1>, I32EnumAttrCase<"W", 2>,
    I32EnumAttrCase<"BW", 3>, I32EnumAttrCase<"R", 4>]> {
  let description = [{
    F: forward; B: gradient for the inputs; W: gradient for the weights; BW:
    both; R: recomputes what F did not keep.
  }];
}
def PP_RoleAttr : EnumAttr<PPDialect, PP_Role, "role">;

def PP_ChannelKind : PP_Enum<"ChannelKind", "what moves over a channel", [
    I32EnumAttrCase<"Activation", 0, "activation">,
    I32EnumAttrCase<"Gradient", 1, "gradient">]>;
def PP_ChannelKindAttr : EnumAttr<PPDialect, PP_ChannelKind, "channel_kind">;

def PP_Optimizer : PP_Enum<"Optimizer", "update rule", [
    I32EnumAttrCase<"SGD", 0, "sgd">, I32EnumAttrCase<"AdamW", 1, "adamw">]>;
def PP_OptimizerAttr : EnumAttr<PPDialect, PP_Optimizer, "optimizer">;

def PP_CostSource : PP_Enum<"CostSource", "where a cost comes from", [
    I32EnumAttrCase<"Formula", 0, "formula">,
    I32EnumAttrCase<"Table", 1, "table">,
    I32EnumAttrCase<"Measured", 2, "measured">]> {
  let description = [{
    formula: from what ops compute and a description of the device; table: a
    file of times that someone gave; measured: by `pipewright profile`. What
    adds several up is as good as the first of these among them.
  }];
}

def PP_RematPolicy : PP_Enum<"RematPolicy",
    "what is kept of a layer for its backward", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Selective", 1, "selective">,
    I32EnumAttrCase<"Full", 2, "full">]> {
  let description = [{
    none: all saved values; selective: those that the recompute function of the
    layer's derivative does not make; full: nothing but what enters the layer.
    The others are computed again.
  }];
}
def PP_RematPolicyAttr : EnumAttr<PPDialect, PP_RematPolicy, "remat_policy">;

def PP_ProgramKind : PP_Enum<"ProgramKind", "what a program runs", [
    I32EnumAttrCase<"Step", 0, "step">, I32EnumAttrCase<"Eval", 1, "eval">]>;
def PP_ProgramKindAttr : EnumAttr<PPDialect, PP_ProgramKind, "program_kind">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def PP_ExternalAttr : AttrDef<PPDialect, "External"> {
  let mnemonic = "external";
  let summary = "a byte range of a file that holds a tensor's values";
  let description = [{
    Little-endian, row-major, dense; not necessarily aligned. `file` is as the
    importer resolved it, absolute. `stored` is f16 or bf16 where the
    values of a parameter of f32 have that type there; they are converted when
    a build is packaged. An empty `file` says that there are no values: such a
    model can be planned, but not built.
  }];
  let parameters = (ins StringRefParameter<"file">:$file, "int64_t":$offset,
                        "int64_t":$length,
                        OptionalParameter<"::mlir::Type">:$stored);
  let builders = [
    AttrBuilder<(ins "::llvm::StringRef":$file, "int64_t":$offset,
                     "int64_t":$length, CArg<"::mlir::Type", "{}">:$stored), [{
      return $_get($_ctxt, file, offset, length, stored);
    }]>
  ];
  let skipDefaultBuilders = 1;
  let assemblyFormat = "`<` $file `,` struct($offset, $length, $stored) `>`";
}

def PP_InputAttr : AttrDef<PPDialect, "Input"> {
  let mnemonic = "input_spec";
  let summary = "a model input: its name and how a batch is cut";
  let description = [{
    The type of the model's argument is that of one micro-batch. `axis` is the
    axis along which micro-batches are cut from the global batch; -1: the
    whole input goes to each micro-batch.

    `label_classes` is not 0 if the input holds class indices of a loss: each
    must be in [0, label_classes) or equal to `ignore_index`. `index_limit` is
    not 0 if the input's values index a table of that many entries: each must
    be in [-index_limit, index_limit).
  }];
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$axis,
      DefaultValuedParameter<"int64_t", "0">:$label_classes,
      DefaultValuedParameter<"int64_t", "0">:$ignore_index,
      DefaultValuedParameter<"int64_t", "0">:$index_limit);
  let assemblyFormat = [{`<` $name `,` struct($axis, $label_classes,
      $ignore_index, $index_limit) `>`}];
}

def PP_CostAttr : AttrDef<PPDialect, "Cost"> {
  let mnemonic = "cost";
  let summary = "what a layer or a stage costs for one micro-batch";
  let description = [{
    FLOPs and picoseconds of the forward (f), the gradient for the inputs (b) and
    the gradient for the weights (w); bytes of the results (`activation`) and
    of everything kept from forward to backward (`residual`).

    Of a layer, these are those of the policy `none`. `selective_bytes` are kept
    with the policy `selective`, whose recomputation takes `picoseconds_r`;
    `input_bytes` come from other layers, and are what the policy `full` keeps.

    Of a stage, `residual_bytes` and `picoseconds_r` are those of its layers'
    policies, and the other two are 0.
  }];
  let parameters = (ins "int64_t":$flops_f, "int64_t":$flops_b,
      "int64_t":$flops_w, "int64_t":$picoseconds_f,
      "int64_t":$picoseconds_b, "int64_t":$picoseconds_w, "int64_t":$activation_bytes,
      "int64_t":$residual_bytes,
      DefaultValuedParameter<"int64_t", "0">:$picoseconds_r,
      DefaultValuedParameter<"int64_t", "0">:$selective_bytes,
      DefaultValuedParameter<"int64_t", "0">:$input_bytes,
      EnumParameter<PP_CostSource>:$source);
  let assemblyFormat = "`<` struct(params) `>`";
  let extraClassDeclaration = [{
    /// Of a layer: the bytes that \p policy keeps of it for backward.
    int64_t getKeptBytes(RematPolicy policy) const;
    /// Of a layer: how long the recomputation takes that \p policy asks for.
    int64_t getRecomputePicoseconds(RematPolicy policy) const;
  }];
}

def PP_BindingKind : PP_Enum<"BindingKind", "what a task's operand or result is", [
    I32EnumAttrCase<"Input", 0, "input">,
    I32EnumAttrCase<"RandomKey", 1, "random_key">,
    I32EnumAttrCase<"Parameter", 2, "parameter">,
    I32EnumAttrCase<"Gradient", 3, "gradient">,
    I32EnumAttrCase<"Channel", 4, "channel">,
    I32EnumAttrCase<"Saved", 5, "saved">,
    I32EnumAttrCase<"LossSum", 6, "loss_sum">,
    I32EnumAttrCase<"LossWeight", 7, "loss_weight">,
    I32EnumAttrCase<"LossScale", 8, "loss_scale">,
    I32EnumAttrCase<"Output", 9, "output">,
    I32EnumAttrCase<"Workspace", 10, "workspace">,
    I32EnumAttrCase<"State", 11, "state">,
    I32EnumAttrCase<"Sent", 12, "sent">,
    I32EnumAttrCase<"Received", 13, "received">]>;
def PP_BindingAttr : AttrDef<PPDialect, "Binding"> {
  let mnemonic = "binding";
  let summary = "names the memory behind a task's operand or result";
  let description = [{
    | kind | name | index | one buffer per |
    |---|---|---|---|
    | `input` | model input | | micro-batch, read from the data |
    | `random_key` | | index of the layer | micro-batch, made by the runtime |
    | `parameter` | parameter | | rank |
    | `gradient` | parameter | number of the layer that uses it, see `pp.stage` | rank |
    | `channel` | channel | | micro-batch, from its receive or its producer to its last use |
    | `saved` | stage | number | micro-batch, from F (or R) to the last backward task |
    | `loss_sum`, `loss_weight` | | | micro-batch |
    | `loss_scale` | | | rank, the gradient of each `loss_sum`: written by the runtime before a step |
    | `output` | model output | | micro-batch |
    | `workspace` | task | | micro-batch, while the task runs |
    | `state` | parameter | number of the optimizer's tensor | rank |
    | `sent`, `received` | exchange | | micro-batch, both sides of it |

    A parameter used by several layers has one gradient buffer per layer: their
    sum is taken in layer order, on one rank as on many.
  }];
  let parameters = (ins EnumParameter<PP_BindingKind>:$kind,
      StringRefParameter<"name">:$name,
      DefaultValuedParameter<"int64_t", "0">:$index);
  let assemblyFormat = "`<` $kind $name (`[` $index^ `]`)? `>`";
  let builders = [
    AttrBuilder<(ins "BindingKind":$kind, CArg<"::llvm::StringRef", "\"\"">:$name,
                     CArg<"int64_t", "0">:$index), [{
      return $_get($_ctxt, kind, name, index);
    }]>
  ];
  let skipDefaultBuilders = 1;
}
def PP_BindingArrayAttr : TypedArrayAttrBase<PP_BindingAttr, "bindings">;

#endif // PIPEWRIGHT_DIALECT_PP_PPBASE
