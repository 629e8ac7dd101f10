//===- Program.td - Schedules and rank programs ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_DIALECT_PP_OPS_PROGRAM
#define PIPEWRIGHT_DIALECT_PP_OPS_PROGRAM

include "pipewright/Dialect/PP/PPBase.td"

def PP_ScheduleOp : PP_Op<"schedule", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "which schedule the programs follow";
  let description = [{
    There are `replicas` pipelines of `ranks` ranks, each with `microbatches`
    micro-batches of its own in a step. They run the same programs.

    ```mlir
    pp.schedule "1f1b" ranks 4 microbatches 8 chunks 1
    pp.schedule "1f1b" ranks 4 microbatches 8 chunks 1 replicas 2
    ```
  }];
  let arguments = (ins StrAttr:$policy, PP_Count:$ranks, PP_Count:$microbatches,
                       PP_Count:$chunks,
                       DefaultValuedAttr<PP_Count, "1">:$replicas);
  let assemblyFormat = [{$policy `ranks` $ranks `microbatches` $microbatches
                         `chunks` $chunks (`replicas` $replicas^)? attr-dict}];
}

def PP_ProgramOp : PP_Op<"program", [SingleBlock, NoTerminator,
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "what one rank does in one step, in order";
  let description = [{
    ```mlir
    pp.program step rank 0 {
      pp.run @s0.f [0]
      pp.send @a.0.0 [0]
      pp.repeat %i = 1 to 8 {
        pp.run @s0.f [%i]
        pp.send @a.0.0 [%i]
        pp.recv @g.1.0 [%i + -1]
        pp.run @s0.bw [%i + -1]
      }
      pp.recv @g.1.0 [7]
      pp.run @s0.bw [7]
      pp.step
    }
    ```
  }];
  let arguments = (ins PP_ProgramKindAttr:$kind, PP_Index:$rank);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`` $kind `rank` $rank $body attr-dict";
}

// An action on micro-batch `offset`, or `index + offset` inside a pp.repeat.
class PP_ActionOp<string mnemonic,
                  list<string> parents = ["ProgramOp", "RepeatOp"]>
    : PP_Op<mnemonic, [ParentOneOf<parents>,
                       DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins FlatSymbolRefAttr:$symbol, Optional<Index>:$index,
                       I64Attr:$offset);
  let assemblyFormat =
      "$symbol `[` custom<Microbatch>($index, $offset) `]` attr-dict";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$symbol,
                                 "int64_t":$microbatch), [{
    build($_builder, $_state,
          ::mlir::FlatSymbolRefAttr::get($_builder.getContext(), symbol),
          ::mlir::Value(), $_builder.getI64IntegerAttr(microbatch));
  }]>];
}
def PP_RunOp : PP_ActionOp<"run", ["ProgramOp", "RepeatOp", "OverlapOp"]> {
  let summary = "runs a task for one micro-batch";
}
def PP_SendOp : PP_ActionOp<"send"> {
  let summary = "sends a channel's buffer of one micro-batch to its other end";
  let description = [{
    May block until the receiver posts its receive.
  }];
}
def PP_RecvOp : PP_ActionOp<"recv"> {
  let summary = "receives into a channel's buffer of one micro-batch";
}

def PP_AllToAllOp : PP_ActionOp<"all_to_all", ["OverlapOp"]> {
  let summary = "exchanges blocks of rows of one micro-batch between replicas";
  let description = [{
    The rank goes on: the task that reads what is received waits for it. All
    replicas run one program, so they exchange in the same order.
  }];
}

def PP_OverlapOp : PP_Op<"overlap", [SingleBlock, NoTerminator,
    ParentOneOf<["ProgramOp", "RepeatOp"]>]> {
  let summary = "tasks that may run at the same time";
  let description = [{
    Each branch runs its tasks in order; the branches run side by side or, where
    a target has one queue only, one after the other. So no branch may use what
    another one makes, or write where another one writes. What the tasks receive
    is there before the first of them, and what they make is sent after the last
    one.

    A schedule's pair of a forward and a backward is written this way: the
    forward is the first branch, and the backward, which may be in two tasks,
    the second.

    ```mlir
    pp.overlap {
      pp.run @s0.f [4]
    }, {
      pp.run @s3.b [1]
      pp.run @s3.w [1]
    }
    ```

    The tasks of a branch may be parts of one, with the exchanges between them.
    One branch alone is such a task, which overlaps with nothing but them; where
    there are two, one computes while the other exchanges.

    ```mlir
    pp.overlap {
      pp.run @s0.f [4]
      pp.all_to_all @x.0.0 [4]
      pp.run @s0.f.1 [4]
    }
    ```

    A branch has no memory of its own but what its tasks are bound to; a target
    that runs branches side by side gives each a workspace.
  }];
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = "$branches attr-dict";
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  // With so many empty branches.
  let builders = [OpBuilder<(ins "unsigned":$branches), [{
    for (unsigned branch = 0; branch < branches; ++branch)
      $_state.addRegion()->emplaceBlock();
  }]>];
}

def PP_AllReduceOp : PP_Op<"all_reduce", [HasParent<"ProgramOp">,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "begins to add gradients of parameters over all replicas";
  let description = [{
    The rank goes on: `pp.step` waits for the sums. All tasks that make the
    gradients have run for all micro-batches.

    ```mlir
    pp.run @s0.bw [7]
    pp.all_reduce [@fc1.weight, @fc1.bias]
    pp.step
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$parameters);
  let assemblyFormat = "$parameters attr-dict";
}

def PP_StepOp : PP_Op<"step", [HasParent<"ProgramOp">]> {
  let summary = "sums tied gradients, clips, and updates the parameters";
  let description = [{
    Sums of tied gradients are added over all replicas here.
  }];
  let assemblyFormat = "attr-dict";
}

def PP_RepeatOp : PP_Op<"repeat", [SingleBlock, NoTerminator,
    ParentOneOf<["ProgramOp", "RepeatOp"]>]> {
  let summary = "actions repeated for a range of micro-batches";
  let description = [{
    The index goes from `lower` on in steps of `step` as long as it is below
    `upper`. A step of more than 1 is for schedules that run several
    micro-batches of a stage before they come to the next one.

    ```mlir
    pp.repeat %i = 0 to 8 step 2 {
      pp.run @s0.f [%i]
      pp.run @s0.f [%i + 1]
      pp.run @s2.f [%i]
      pp.run @s2.f [%i + 1]
    }
    ```
  }];
  let arguments = (ins PP_Index:$lower, PP_Index:$upper,
                       DefaultValuedAttr<PP_Count, "1">:$step);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def PP_ArenaOp : PP_Op<"arena", [SingleBlock, NoTerminator,
    HasParent<"::mlir::ModuleOp">]> {
  let summary = "the one piece of memory of a rank, and what lies where";
  let description = [{
    ```mlir
    pp.arena rank 0 bytes 4096 {
      pp.place <parameter "fc1.weight"> at 0 bytes 512
      pp.place <channel "a.0.0"> at [1024, 1408] bytes 128 of [0, 1, 0, 1] eval 1
    }
    ```
  }];
  let arguments = (ins PP_Index:$rank, PP_Index:$bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`rank` $rank `bytes` $bytes $body attr-dict";
}

def PP_PlaceOp : PP_Op<"place", [HasParent<"ArenaOp">]> {
  let summary = "where a binding's memory lies in its rank's arena";
  let description = [{
    `offsets` and `bytes` (of one slot, rounded up to 64) are in bytes. A
    binding with one buffer per micro-batch has one or more slots, each at an
    offset of its own: `slot_of[k]` is that of micro-batch k in a step, and
    `eval_slot` that of all micro-batches in eval, which finishes one after the
    other. Bindings share memory if they are never in use at the same time.
  }];
  let arguments = (ins PP_BindingAttr:$binding, DenseI64ArrayAttr:$offsets,
      PP_Index:$bytes, OptionalAttr<DenseI64ArrayAttr>:$slot_of,
      DefaultValuedAttr<PP_Index, "0">:$eval_slot);
  let assemblyFormat = [{$binding `at` custom<Offsets>($offsets) `bytes` $bytes
      (`of` $slot_of^)? (`eval` $eval_slot^)? attr-dict}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where the binding lies in an action of a step, or of eval.
    int64_t getOffset(int64_t microbatch, bool isEval);
    /// Of a binding that has one buffer for the whole run.
    int64_t getOffset() { return getOffsets().front(); }
  }];
}

#endif // PIPEWRIGHT_DIALECT_PP_OPS_PROGRAM
