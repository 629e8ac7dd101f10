// RUN: split-file %s %t
// RUN: pp-opt %t/module.mlir --pp-attach-schedule="schedule=%t/pair.json microbatches=2" --pp-check-schedule | FileCheck %s

// A pair of the schedule overlaps the tasks of its forward and of its backward.
// Its messages, and the recomputation that its backward needs, are beside it.

// CHECK: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @h[0]
// CHECK-NEXT: pp.run @s0.r[0]
// CHECK-NEXT: pp.recv @dh[0]
// CHECK-NEXT: pp.overlap {
// CHECK-NEXT:   pp.run @s0.f[1]
// CHECK-NEXT: }, {
// CHECK-NEXT:   pp.run @s0.b[0]
// CHECK-NEXT:   pp.run @s0.w[0]
// CHECK-NEXT: }
// CHECK-NEXT: pp.send @h[1]
// CHECK-NEXT: pp.run @s0.r[1]
// CHECK-NEXT: pp.recv @dh[1]
// CHECK-NEXT: pp.run @s0.b[1]
// CHECK-NEXT: pp.run @s0.w[1]
// CHECK-NEXT: pp.step
// CHECK-NEXT: }

//--- pair.json
{"schedule": "pair", "ranks": 2, "microbatches": 2, "chunks": 1,
 "placement": [[0, 1]],
 "actions": [[{"op": "F", "stage": 0, "mb": 0, "dir": 0},
              {"op": "FB", "f": {"stage": 0, "mb": 1, "dir": 0},
               "b": {"stage": 0, "mb": 0, "dir": 0, "op": "BW"}},
              {"op": "BW", "stage": 0, "mb": 1, "dir": 0}],
             [{"op": "F", "stage": 1, "mb": 0, "dir": 0},
              {"op": "BW", "stage": 1, "mb": 0, "dir": 0},
              {"op": "F", "stage": 1, "mb": 1, "dir": 0},
              {"op": "BW", "stage": 1, "mb": 1, "dir": 0}]]}
//--- module.mlir
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.channel @dh gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.r role R stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <saved "s0">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.b role B stage @s0 (%g: tensor<2xf32> = <channel "dh">, %s: tensor<2xf32> = <saved "s0">) -> (tensor<2xf32> = <saved "s0"[1]>) {
  pp.yield %g : tensor<2xf32>
}
pp.task @s0.w role W stage @s0 (%g: tensor<2xf32> = <saved "s0"[1]>) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <saved "s1">) {
  pp.yield %h : tensor<2xf32>
}
pp.task @s1.r role R stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.b role B stage @s1 (%s: tensor<2xf32> = <saved "s1">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %s : tensor<2xf32>
}
pp.task @s1.w role W stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
