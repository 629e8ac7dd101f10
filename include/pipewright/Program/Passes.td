//===- Passes.td - Passes of the phase Program -------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEWRIGHT_PROGRAM_PASSES
#define PIPEWRIGHT_PROGRAM_PASSES

include "mlir/Pass/PassBase.td"

def OrderMessages : Pass<"pp-order-messages", "::mlir::ModuleOp"> {
  let summary = "send and receive in one order on all ranks";
  let description = [{
    Requires programs that pass `--pp-check-schedule`; their sends and receives
    may be in any order, or absent. Ensures that they pass `--pp-check-comm`:
    all messages are ordered once, by the end of the tasks that make them in a
    dry run with the stages' costs, and every rank issues its sends and receives
    in that order. A receive comes before the task during which its value is
    made, so that the message arrives while the rank computes. Loops are written
    out. `eval` programs, which run one micro-batch after the other, are left as
    they are.

    ```mlir
    pp.run @s1.bw [0]
    pp.send @dh [0]
    pp.recv @h [1]
    pp.run @s1.f [1]
    ```
    becomes, where the previous rank made `@h [1]` before it takes `@dh [0]`,
    ```mlir
    pp.recv @h [1]
    pp.run @s1.bw [0]
    pp.send @dh [0]
    pp.run @s1.f [1]
    ```
  }];
}

def InsertReductions : Pass<"pp-insert-reductions", "::mlir::ModuleOp"> {
  let summary = "add gradients over replicas as soon as they are there";
  let description = [{
    Requires programs without loops and a `pp.schedule`. Ensures, if that has
    several replicas, that each `step` program has a `pp.all_reduce` for the
    parameters with a gradient of one layer, right after the last task that adds
    to it: the sum over the replicas is made while other tasks run. Gradients of
    several layers are added first, which `pp.step` does, and then those sums
    over the replicas.

    ```mlir
    pp.run @s0.bw [0]
    pp.run @s0.bw [1]
    pp.step
    ```
    becomes
    ```mlir
    pp.run @s0.bw [0]
    pp.run @s0.bw [1]
    pp.all_reduce [@fc1.weight, @fc1.bias]
    pp.step
    ```
  }];
}

def RollPrograms : Pass<"pp-roll", "::mlir::ModuleOp"> {
  let summary = "turn repeated actions of a program into loops";
  let description = [{
    Requires programs. Ensures that `pp.walkActions` sees the same sequence as
    before, in fewer ops: a run of equal groups of actions whose micro-batches
    all grow by the same number from group to group becomes a `pp.repeat`. So
    the program of a periodic schedule is as long for few micro-batches as for
    many.

    ```mlir
    pp.run @s0.f [0]
    pp.send @a [0]
    pp.run @s0.f [1]
    pp.send @a [1]
    ```
    becomes
    ```mlir
    pp.repeat %i = 0 to 2 {
      pp.run @s0.f [%i]
      pp.send @a [%i]
    }
    ```
  }];
}

def UnrollPrograms : Pass<"pp-unroll", "::mlir::ModuleOp"> {
  let summary = "write every action of a program out";
  let description = [{
    Requires programs. Ensures that no `pp.repeat` is left and that
    `pp.walkActions` sees the same sequence as before; the inverse of
    `--pp-roll`.
  }];
}

def PlanArena : Pass<"pp-plan-arena", "::mlir::ModuleOp"> {
  let summary = "give everything a rank holds its place in one arena";
  let description = [{
    Requires programs, and tasks whose `workspace_bytes` are known. Ensures one
    `pp.arena` per rank that places each parameter, gradient, optimizer state
    and buffer that the rank's tasks and transfers name, and the workspace of
    each task. What is needed for a part of the step has a place per
    micro-batch, in memory that others use before and after: a saved value lies
    where, later, a task computes or a message arrives. So the total is the peak
    of what is in use at any time, or little more. What is sent is in use until
    the next task has run, which need not wait for it.

    With `memory`, a rank that needs more is an error: it says when the rank
    needs most, and what takes most of it then.

    With `messages-apart`, what is sent to other ranks or received from them
    lies behind all else and shares memory only with other messages: a device
    that moves them by itself allocates that part as its network likes best, and
    no task waits until a message that is not its own has left.
  }];
  let options = [
    Option<"memory", "memory", "int64_t", "0",
           "limit for the arena of a rank, in bytes; 0: none">,
    Option<"messagesApart", "messages-apart", "bool", "false",
           "keep messages behind all else">,
  ];
}

#endif // PIPEWRIGHT_PROGRAM_PASSES
