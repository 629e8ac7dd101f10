// Programs whose messages meet and whose tasks all run, but which compute
// something else. Each case changes one thing of a correct module.

// RUN: pp-opt %s --pp-check-schedule --pp-check-comm --pp-check-gradients --pp-check-equivalence -o /dev/null

// The last micro-batch does not reach a weight gradient.

// RUN: sed '/pp.run @s1.w\[1\]/d' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: S8: the gradient of 'w' from layer 2 has only its first 1 micro-batches when it is last written here, by task 's1.w' of micro-batch 0

// W takes the gradient of another layer: both are tensors of one type.

// RUN: sed '/role W stage @s1/s/<saved "s1"\[1\]>/<saved "s1"[2]>/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=BINDING
// BINDING: error: S8: the gradient of 'w' from layer 2, last written here by task 's1.w' of micro-batch 1, is not what the model computes
// BINDING: note: the first value that the model does not have is made here, by task 's1.w' of micro-batch 0
// BINDING: note: in this op, to which the model never gives these operands; compare the task's bindings and the order of its micro-batches

// A layer computes with the parameter of another one; eval is wrong too.

// RUN: sed '/role F stage @s1/s/<parameter "v">/<parameter "w">/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=PARAMETER
// PARAMETER-COUNT-2: error: S8: output 'c' of micro-batch 0, last written here by task 's1.f' of micro-batch 0, is not what the model computes

// Micro-batches are added in another order.

// RUN: sed 's/@s1.w\[0\]/@s1.w[x]/; s/@s1.w\[1\]/@s1.w[0]/; s/@s1.w\[x\]/@s1.w[1]/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: S8: the gradient of 'w' from layer 2, last written here by task 's1.w' of micro-batch 0, is not what the model computes
// ORDER: note: the first value that the model does not have is made here, by task 's1.w' of micro-batch 1

// Two contributions to a gradient are added the other way around. That is the
// same sum in exact arithmetic and, for two numbers, in floating point, but with
// a third one it would not be.

// RUN: sed '/nn.add %1#1, %2/s/%1#1, %2/%2, %1#1/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: error: S8: the gradient of 'w' from layer 0, last written here by task 's0.w' of micro-batch 1, is not what the model computes
// SUM: note: the first value that the model does not have is made here, by task 's1.b' of micro-batch 0

// The gradient of the loss is not scaled, scaled twice, or scaled again where a
// gradient leaves the stage.

// RUN: sed 's/^  %0 = nn.call @loss.b(%arg0)/  %one = nn.constant dense<1.0> : tensor<f32>\n  %0 = nn.call @loss.b(%one)/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: sed 's/^  %0 = nn.call @loss.b(%arg0)/  %both = nn.mul %arg0, %arg0 : tensor<f32>\n  %0 = nn.call @loss.b(%both)/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: sed 's/^  pp.yield %1#2, %1#0, %3/  %all = nn.broadcast %arg0 : tensor<f32> -> tensor<4xf32>\n  %more = nn.mul %3, %all : tensor<4xf32>\n  pp.yield %1#2, %1#0, %more/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=AGAIN
// SCALE: error: S8: the gradient of 'w' from layer 2, last written here by task 's1.w' of micro-batch 1, is not what the model computes
// SCALE: note: the first value that the model does not have is made here, by task 's1.b' of micro-batch 0
// AGAIN: error: S8: the gradient of 'w' from layer 0, last written here by task 's0.w' of micro-batch 1, is not what the model computes
// AGAIN: note: the first value that the model does not have is made here, by task 's1.b' of micro-batch 0

// Two micro-batches share a slot while both are in use: the second forward
// overwrites what the first W needs.

// RUN: sed '/^.. memory of rank 1/r %S/Inputs/shared-slot.mlir' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SLOT
// SLOT: error: S8: reads #pp.binding<saved "s1"> of micro-batch 0, whose memory holds #pp.binding<saved "s1"> of micro-batch 1
// SLOT: note: which was written here, by task 's1.f' of micro-batch 1

// With a slot for each, the memory is right.

// RUN: sed 's/at 128 bytes 64 of \[0, 0\]/at [128, 576] bytes 64 of [0, 1]/; s/bytes 576/bytes 640/' %S/Inputs/shared-slot.mlir > %t.arena
// RUN: sed '/^.. memory of rank 1/r %t.arena' %s | pp-opt --pp-check-equivalence -o /dev/null

// Different values share memory while both are in use: the gradient of the
// second micro-batch comes to lie where a value for W was saved.

// RUN: sed 's/<channel "grad.1.0"> at \[448, 512\]/<channel "grad.1.0"> at [448, 320]/' %t.arena > %t.values
// RUN: sed '/^.. memory of rank 1/r %t.values' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=VALUES
// VALUES: error: S8: reads #pp.binding<saved "s1"[2]> of micro-batch 0, whose memory holds #pp.binding<channel "grad.1.0"> of micro-batch 1
// VALUES: note: which was written here, by task 's1.b' of micro-batch 1

// A task writes where it reads.

// RUN: sed 's/<saved "s1"\[1\]> at \[192, 256\]/<saved "s1"[1]> at [192, 384]/' %t.arena > %t.task
// RUN: sed '/^.. memory of rank 1/r %t.task' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=TASK
// TASK: error: S8: task 's1.b' of micro-batch 1 uses #pp.binding<saved "s1"[1]> and #pp.binding<saved "s1"[2]> at the same time, which share memory

// The scratch memory of a task lies where a value waits for another task.

// RUN: sed '/<saved "s1"\[1\]>/i pp.place <workspace "s1.f"> at 160 bytes 64 of [0, 0]' %t.arena > %t.scratch
// RUN: sed '/^.. memory of rank 1/r %t.scratch' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SCRATCH
// SCRATCH: error: S8: task 's1.f' of micro-batch 0 uses #pp.binding<saved "s1"> and #pp.binding<workspace "s1.f"> at the same time, which share memory

// A value lies where a parameter is, or two things that last share memory.

// RUN: sed '/<saved "s1"\[1\]>/i pp.place <parameter "w"> at 480 bytes 16' %t.arena > %t.parameter
// RUN: sed '/^.. memory of rank 1/r %t.parameter' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=LASTS
// LASTS: error: S8: task 's1.b' of micro-batch 0 uses #pp.binding<channel "grad.1.0"> and #pp.binding<parameter "w"> at the same time, which share memory
// RUN: sed '/<saved "s1"\[1\]>/i pp.place <state "w"> at 480 bytes 16' %t.arena > %t.state
// RUN: sed '/^.. memory of rank 1/r %t.state' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: error: S8: writes #pp.binding<channel "grad.1.0"> of micro-batch 0 over #pp.binding<state "w">
// RUN: sed '/<saved "s1"\[1\]>/i pp.place <parameter "w"> at 544 bytes 16 pp.place <gradient "w"[2]> at 544 bytes 16' %t.arena > %t.both
// RUN: sed '/^.. memory of rank 1/r %t.both' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: S8: #pp.binding<gradient "w"[2]> shares memory with #pp.binding<parameter "w">; both last

// A binding has slots for another number of micro-batches.

// RUN: sed 's/bytes 64 of \[0, 1\]/bytes 64 of [0]/' %t.arena > %t.short
// RUN: sed '/^.. memory of rank 1/r %t.short' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: S8: #pp.binding<channel "act.0.0"> has slots of 1 micro-batches; there are 2
// RUN: sed '/^.. memory of rank 1/r %t.arena' %s | sed '/^.. memory of rank 1/r %t.arena' | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: S8: rank 1 has two arenas
// RUN: sed 's/arena rank 1/arena rank 2/' %t.arena > %t.rank
// RUN: sed '/^.. memory of rank 1/r %t.rank' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: S8: there is no rank 2; there are 2

// The second forward and the first backward overlap. Apart from memory that is
// no mistake.

// RUN: sed '/step rank 1/,/memory/{/@s1.[bw]\[0\]/d; /send @grad.1.0\[0\]/d; s/^ *pp.run @s1.f\[1\]/pp.overlap {pp.run @s1.f[1]}, {pp.run @s1.b[0] pp.run @s1.w[0]} pp.send @grad.1.0[0]/}' %s > %t.overlap
// RUN: pp-opt %t.overlap --pp-check-schedule --pp-check-equivalence -o /dev/null
// RUN: sed '/^.. memory of rank 1/r %S/Inputs/shared-slot.mlir' %t.overlap | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: S8: task 's1.w' of micro-batch 0 reads #pp.binding<saved "s1"> at the same time as task 's1.f' of micro-batch 1 writes it; run one after the other

// RUN: sed '/pp.recv @grad.1.0\[1\]/d' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: error: S8: reads #pp.binding<channel "grad.1.0"> of micro-batch 1, which nothing has written

// RUN: sed '/pp.send @act.0.0\[1\]/d' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT: error: S8: waits for a message that never comes; '--pp-check-comm' tells why

// RUN: sed 's/@s1.w\[1\]/@s1.w[7]/' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: S8: there is no micro-batch 7; there are 2

// RUN: sed '/^pp.model/,/^}/d' %s | not pp-opt --pp-check-equivalence 2>&1 | FileCheck %s --check-prefix=MODEL
// MODEL: error: the module has no model to compare with

pp.parameter @w trainable : tensor<4xf32> = dense<0.000000e+00> : tensor<4xf32>
pp.parameter @v trainable : tensor<4xf32> = dense<0.000000e+00> : tensor<4xf32>
pp.model @skip(%arg0: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "a" @scale(%arg0) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pp.layer "b" @scale(%0) parameters [@v] : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pp.layer "c" @join(%1, %0) parameters [@w] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3:2 = pp.layer "loss" @loss(%2) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["c"] %2 : tensor<4xf32> loss %3#0, %3#1 : tensor<f32>, tensor<f32>
}
nn.function @scale(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %arg0, %arg1 : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @scale.b(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %arg1, %arg0 : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @scale.w(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %arg1, %arg0 : tensor<4xf32>
  %1 = nn.accumulate %arg2, %0 : tensor<4xf32>
  nn.return %1 : tensor<4xf32>
}
nn.derivative @scale forward @scale backward @scale.b operands [#nn.operand<argument 1>, #nn.operand<cotangent 0>] gradients [0] weight @scale.w operands [#nn.operand<argument 0>, #nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]
nn.function @join(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.add %arg0, %arg1 : tensor<4xf32>
  %1 = nn.mul %0, %arg2 : tensor<4xf32>
  nn.return %1 : tensor<4xf32>
}
nn.function @join.f(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.add %arg0, %arg1 : tensor<4xf32>
  %1 = nn.mul %0, %arg2 : tensor<4xf32>
  nn.return %1, %0 : tensor<4xf32>, tensor<4xf32>
}
nn.function @join.b(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.mul %arg1, %arg0 : tensor<4xf32>
  nn.return %0, %0, %arg1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
nn.derivative @join forward @join.f backward @join.b operands [#nn.operand<argument 2>, #nn.operand<cotangent 0>] gradients [0, 1] weight @scale.w operands [#nn.operand<saved 0>, #nn.operand<pending 0>, #nn.operand<accumulator 2>] gradients [2]
nn.function @loss(%arg0: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = nn.reduce sum %arg0 axes [0] : tensor<4xf32> -> tensor<f32>
  %1 = nn.constant dense<1.000000e+00> : tensor<f32>
  nn.return %0, %1 : tensor<f32>, tensor<f32>
}
nn.function @loss.b(%arg0: tensor<f32>) -> tensor<4xf32> {
  %0 = nn.broadcast %arg0 : tensor<f32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.derivative @loss forward @loss backward @loss.b operands [#nn.operand<cotangent 0>] gradients [0] operands [] gradients []
pp.update_rule sgd
pp.update @w from layers [0, 2]
pp.update @v from layers [1]
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b", "c", "loss"] parameters [@v, @w]
pp.channel @act.0.0 activation from @s0 to @s1 : tensor<4xf32>
pp.channel @grad.1.0 gradient from @s1 to @s0 : tensor<4xf32>
pp.task @s0.f role F stage @s0 (%arg0: tensor<4xf32> = <input "x">, %arg1: tensor<4xf32> = <parameter "w">) -> (tensor<4xf32> = <channel "act.0.0">) {
  %0 = nn.call @scale(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pp.yield %0 : tensor<4xf32>
}
pp.task @s0.b role B stage @s0 (%arg0: tensor<4xf32> = <channel "grad.1.0">) -> () {
  pp.yield
}
pp.task @s0.w role W stage @s0 (%arg0: tensor<4xf32> = <input "x">, %arg1: tensor<4xf32> = <channel "grad.1.0">, %arg2: tensor<4xf32> = <gradient "w">) -> (tensor<4xf32> = <gradient "w">) {
  %0 = nn.call @scale.w(%arg0, %arg1, %arg2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pp.yield %0 : tensor<4xf32>
}
pp.task @s1.f role F stage @s1 (%arg0: tensor<4xf32> = <channel "act.0.0">, %arg1: tensor<4xf32> = <parameter "v">, %arg2: tensor<4xf32> = <parameter "w">) -> (tensor<4xf32> = <output "c">, tensor<f32> = <loss_sum "">, tensor<f32> = <loss_weight "">, tensor<4xf32> = <saved "s1">) {
  %0 = nn.call @scale(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1:2 = nn.call @join.f(%0, %arg0, %arg2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2:2 = nn.call @loss(%1#0) : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.yield %1#0, %2#0, %2#1, %1#1 : tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32>
}
pp.task @s1.b role B stage @s1 (%arg0: tensor<f32> = <loss_scale "">, %arg1: tensor<4xf32> = <parameter "w">, %arg2: tensor<4xf32> = <parameter "v">) -> (tensor<4xf32> = <saved "s1"[1]>, tensor<4xf32> = <saved "s1"[2]>, tensor<4xf32> = <channel "grad.1.0">) {
  %0 = nn.call @loss.b(%arg0) : (tensor<f32>) -> tensor<4xf32>
  %1:3 = nn.call @join.b(%arg1, %0) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  %2 = nn.call @scale.b(%arg2, %1#0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = nn.add %1#1, %2 : tensor<4xf32>
  pp.yield %1#2, %1#0, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
pp.task @s1.w role W stage @s1 (%arg0: tensor<4xf32> = <saved "s1">, %arg1: tensor<4xf32> = <saved "s1"[1]>, %arg2: tensor<4xf32> = <gradient "w"[2]>, %arg3: tensor<4xf32> = <channel "act.0.0">, %arg4: tensor<4xf32> = <saved "s1"[2]>, %arg5: tensor<4xf32> = <gradient "v"[1]>) -> (tensor<4xf32> = <gradient "w"[2]>, tensor<4xf32> = <gradient "v"[1]>) {
  %0 = nn.call @scale.w(%arg0, %arg1, %arg2) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = nn.call @scale.w(%arg3, %arg4, %arg5) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pp.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
}
pp.schedule "zb-h1" ranks 2 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.run @s0.f[0]
  pp.send @act.0.0[0]
  pp.run @s0.f[1]
  pp.send @act.0.0[1]
  pp.recv @grad.1.0[0]
  pp.run @s0.b[0]
  pp.run @s0.w[0]
  pp.recv @grad.1.0[1]
  pp.run @s0.b[1]
  pp.run @s0.w[1]
  pp.step
}
pp.program step rank 1 {
  pp.recv @act.0.0[0]
  pp.run @s1.f[0]
  pp.run @s1.b[0]
  pp.recv @act.0.0[1]
  pp.send @grad.1.0[0]
  pp.run @s1.f[1]
  pp.run @s1.b[1]
  pp.send @grad.1.0[1]
  pp.run @s1.w[0]
  pp.run @s1.w[1]
  pp.step
}
// memory of rank 1
pp.program eval rank 0 {
  pp.run @s0.f[0]
  pp.send @act.0.0[0]
  pp.run @s0.f[1]
  pp.send @act.0.0[1]
}
pp.program eval rank 1 {
  pp.recv @act.0.0[0]
  pp.run @s1.f[0]
  pp.recv @act.0.0[1]
  pp.run @s1.f[1]
}
