//===- Passes.td - Passes of the phase Schedule ------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_SCHEDULE_PASSES
#define PIPEWRIGHT_SCHEDULE_PASSES

include "mlir/Pass/PassBase.td"

def AttachSchedule : Pass<"pp-attach-schedule", "::mlir::ModuleOp"> {
  let summary = "write each rank's program by a schedule";
  let description = [{
    Requires stages with their tasks and channels. Ensures a `pp.schedule` and,
    for each rank, a `step` program (if there are backward tasks) and an `eval`
    program that runs all micro-batches forward.

    Each channel is received right before the first task that reads it and sent
    right after the task that makes it, which blocking sends may deadlock:
    `--pp-order-messages` puts that right. If a stage recomputes, R runs right
    before its backward. A full backward of the schedule becomes B and W where a
    stage has these instead of BW. A pair becomes a `pp.overlap`, beside which
    its messages and its recomputation are. So does a role in parts, with the
    `pp.all_to_all` of what a part sends right after it.

    A search keeps the stages where they are and makes the step short by their
    costs. With `memory` it prefers schedules whose activations, as far as the
    tasks tell, fit beside the parameters; `--pp-plan-arena` decides.

    ```mlir
    pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
    pp.program step rank 1 {
      pp.recv @h [0]
      pp.run @s1.f [0]
      pp.run @s1.bw [0]
      pp.send @dh [0]
      pp.recv @h [1]
      pp.run @s1.f [1]
      pp.run @s1.bw [1]
      pp.send @dh [1]
      pp.step
    }
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"1f1b\"",
           "name of a schedule, or a .csv or .json file that holds one">,
    Option<"microbatches", "microbatches", "int64_t", "1",
           "micro-batches per step">,
    Option<"replicas", "replicas", "int64_t", "1",
           "pipelines that share the samples of a step">,
    Option<"memory", "memory", "int64_t", "0",
           "limit for the arena of a rank, in bytes, for schedules that are "
           "searched; 0: none">,
  ];
}

def CheckSchedule : Pass<"pp-check-schedule", "::mlir::ModuleOp"> {
  let summary = "prove that the programs do all work once and in order";
  let description = [{
    Requires programs. Ensures that each task of each stage runs exactly once
    per micro-batch (S1), on the rank that holds the stage (S2), after what it
    needs (S3); that the ranks' orders, side by side, reach the end (S5); and
    that weight gradients are added in the order of micro-batches (S7). Of tasks
    that overlap, none may read or write what another one writes (S3, S7). The
    parts of a role run in order, for one micro-batch, with their exchanges.
  }];
}

def CheckComm : Pass<"pp-check-comm", "::mlir::ModuleOp"> {
  let summary = "prove that the programs' messages meet and cannot deadlock";
  let description = [{
    Requires programs. Ensures that channels are sent and received on the ranks
    that hold their stages (S2), sent after they are made and received before
    they are read (S3); that each receive has its send, and each queue of
    messages has one order on both sides (S4); and that the ranks reach the end
    with a transport in which a message moves when both ends are ready (S5). One
    run of the process network decides this for all interleavings; a cycle is
    shown rank by rank.

    Exchanges between replicas are no part of it: all replicas run these
    programs, and the run that is found goes on in all of them at once, each
    exchange between ranks that have all come to it. A network of processes that
    can reach its end in one way reaches it in each.
  }];
  let options = [
    Option<"transport", "transport", "std::string", "\"blocking\"",
           "how messages travel: blocking, grouped, stream, stream-per-peer, "
           "stream-per-kind, stream-per-peer-kind or stream-per-channel">,
    Option<"credits", "credits", "int64_t", "0",
           "messages of a queue that may be under way before a send "
           "blocks; 0: a send waits for its receive">,
  ];
}

def CheckGradients : Pass<"pp-check-gradients", "::mlir::ModuleOp"> {
  let summary = "prove that updates see every gradient";
  let description = [{
    Requires step programs. Ensures that each trainable parameter has one
    `pp.update`; that each layer it lists has one task that adds to that
    gradient, and no other task does; that this task runs for every micro-batch;
    that each program has one `pp.step`, its last action; and that, with several
    replicas, the gradient of each parameter of one layer is added over them
    once, when it is complete (S7).
  }];
}

def CheckEquivalence : Pass<"pp-check-equivalence", "::mlir::ModuleOp"> {
  let summary = "prove that the programs compute what the model computes";
  let description = [{
    Requires a `pp.model` of layers, and programs whose messages meet
    (`--pp-check-comm`). Ensures that every output, loss and gradient of the
    union of all ranks' programs is that of the model (S8).

    Both sides run on numbers instead of tensors. The model's side walks layers
    and their derivatives, one micro-batch after the other, and knows no stages.
    The programs' side runs tasks, messages and, where memory has been planned,
    the slots that micro-batches share. Equal numbers come from equal ops on
    equal inputs, sums in the same order included, so they are equal bits. The
    first value that the model does not have is shown.
  }];
}

#endif // PIPEWRIGHT_SCHEDULE_PASSES
