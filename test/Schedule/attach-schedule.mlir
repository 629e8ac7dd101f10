// RUN: pp-opt %s --split-input-file --pp-attach-schedule="schedule=1f1b microbatches=2" | FileCheck %s

// Two stages with a full backward: channels are received before the first task
// that reads them and sent after the one that makes them.

// CHECK: pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
// CHECK-NEXT: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @h[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: pp.send @h[1]
// CHECK-NEXT: pp.recv @dh[0]
// CHECK-NEXT: pp.run @s0.bw[0]
// CHECK-NEXT: pp.recv @dh[1]
// CHECK-NEXT: pp.run @s0.bw[1]
// CHECK-NEXT: pp.step
// CHECK-NEXT: }
// The backward of stage 1 reads what its forward received.
// CHECK-NEXT: pp.program step rank 1 {
// CHECK-NEXT: pp.recv @h[0]
// CHECK-NEXT: pp.run @s1.f[0]
// CHECK-NEXT: pp.run @s1.bw[0]
// CHECK-NEXT: pp.send @dh[0]
// CHECK-NEXT: pp.recv @h[1]
// CHECK-NEXT: pp.run @s1.f[1]
// CHECK-NEXT: pp.run @s1.bw[1]
// CHECK-NEXT: pp.send @dh[1]
// CHECK-NEXT: pp.step
// CHECK-NEXT: }
// CHECK-NEXT: pp.program eval rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @h[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: pp.send @h[1]
// CHECK-NEXT: }
// CHECK-NEXT: pp.program eval rank 1 {
// CHECK-NEXT: pp.recv @h[0]
// CHECK-NEXT: pp.run @s1.f[0]
// CHECK-NEXT: pp.recv @h[1]
// CHECK-NEXT: pp.run @s1.f[1]
// CHECK-NEXT: }

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "dh">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <saved "s1">) {
  pp.yield %h : tensor<2xf32>
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">, %s: tensor<2xf32> = <saved "s1">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %s : tensor<2xf32>
}

// -----

// A stage that recomputes, with its backward in two tasks: R right before B.
// The stage before it has no parameters and so no backward at all.

// CHECK: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @h[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: pp.send @h[1]
// CHECK-NEXT: pp.step
// CHECK-NEXT: }
// CHECK-NEXT: pp.program step rank 1 {
// CHECK-NEXT: pp.recv @h[0]
// CHECK-NEXT: pp.run @s1.f[0]
// CHECK-NEXT: pp.run @s1.r[0]
// CHECK-NEXT: pp.run @s1.b[0]
// CHECK-NEXT: pp.run @s1.w[0]
// CHECK-NEXT: pp.recv @h[1]
// CHECK-NEXT: pp.run @s1.f[1]
// CHECK-NEXT: pp.run @s1.r[1]
// CHECK-NEXT: pp.run @s1.b[1]
// CHECK-NEXT: pp.run @s1.w[1]
// CHECK-NEXT: pp.step
// CHECK-NEXT: }

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.r role R stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <saved "s1">) {
  pp.yield %h : tensor<2xf32>
}
pp.task @s1.b role B stage @s1 (%s: tensor<2xf32> = <saved "s1">) -> (tensor<2xf32> = <saved "s1"[1]>) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s1.w role W stage @s1 (%p: tensor<2xf32> = <saved "s1"[1]>) -> () {
  pp.yield
}

// -----

// Several channels cross in the order of their declaration on both sides,
// whatever the order of the tasks' operands.

// CHECK: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @mask[0]
// CHECK-NEXT: pp.send @h[0]
// CHECK: pp.program step rank 1 {
// CHECK-NEXT: pp.recv @mask[0]
// CHECK-NEXT: pp.recv @h[0]
// CHECK-NEXT: pp.run @s1.f[0]

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @mask activation from @s0 to @s1 : tensor<2xi1>
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">, %m: tensor<2xi1> = <input "m">)
    -> (tensor<2xf32> = <channel "h">, tensor<2xi1> = <channel "mask">) {
  pp.yield %x, %m : tensor<2xf32>, tensor<2xi1>
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">, %m: tensor<2xi1> = <channel "mask">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}

// -----

// Without backward tasks there is nothing to train: eval programs only.

// CHECK: pp.schedule "forward-only" ranks 1 microbatches 2 chunks 1
// CHECK-NOT: pp.program step
// CHECK: pp.program eval rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: }
// CHECK-NOT: pp.program

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <output "y">) {
  pp.yield %x : tensor<2xf32>
}
