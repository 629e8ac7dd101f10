// RUN: pp-opt %s --pp-attach-schedule="schedule=auto microbatches=4" --pp-check-schedule -o %t.free.mlir
// RUN: pp-translate --emit-schedule-json %t.free.mlir | FileCheck %s --check-prefix=FREE
// RUN: pp-opt %s --pp-attach-schedule="schedule=auto microbatches=4 memory=45" --pp-check-schedule -o %t.tight.mlir
// RUN: pp-translate --emit-schedule-json %t.tight.mlir | FileCheck %s --check-prefix=TIGHT
// RUN: pp-opt %s --pp-attach-schedule="schedule=auto microbatches=4 memory=39" | diff - %t.free.mlir

// A search keeps the stages where they are, here in an order that no schedule
// has, and uses their costs. Stage 1 takes twice as long as stage 0 and is never
// idle after the first forward, so a step takes 1 + 4 * 6 microseconds: stage 0
// ends beside the last W of stage 1.

// FREE: "placement": [
// FREE-NEXT: [1,0]
// FREE: "makespan": 25,

// A forward reads and writes two tensors of 8 bytes, the parameter has 8 and
// SGD keeps a gradient and a state of the same size. So 45 bytes leave room for
// one micro-batch and a bit, and 39 are too few for any, which the arena's plan
// will say. With one, stage 0 starts the next forward when its W is done, and
// stage 1 waits for that: 3 * 7 until the last one starts, and 7.

// TIGHT: "makespan": 28,
// TIGHT: "peak_activations": {{\[}}1,1]

pp.parameter @w trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.update_rule sgd
pp.update @w from layers [0]
pp.stage @s0 index 0 rank 1 chunk 0 first_layer 0 layers ["a"] parameters [@w]
  cost <flops_f = 0, flops_b = 0, flops_w = 0, picoseconds_f = 1000000, picoseconds_b = 1000000, picoseconds_w = 1000000, activation_bytes = 0, residual_bytes = 0, source = formula>
pp.stage @s1 index 1 rank 0 chunk 0 first_layer 1 layers ["b"] parameters []
  cost <flops_f = 0, flops_b = 0, flops_w = 0, picoseconds_f = 2000000, picoseconds_b = 2000000, picoseconds_w = 2000000, activation_bytes = 0, residual_bytes = 0, source = formula>
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">, %w: tensor<2xf32> = <parameter "w">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %g : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%g: tensor<2xf32> = <saved "s0">, %d: tensor<2xf32> = <gradient "w">) -> (tensor<2xf32> = <gradient "w">) {
  pp.yield %d : tensor<2xf32>
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <saved "s1">) {
  pp.yield %h : tensor<2xf32>
}
pp.task @s1.b role B stage @s1 (%s: tensor<2xf32> = <saved "s1">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s1.w role W stage @s1 (%s: tensor<2xf32> = <saved "s1">) -> () {
  pp.yield
}
