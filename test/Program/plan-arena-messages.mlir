// RUN: pp-opt %s --pp-plan-arena | FileCheck %s

// A message leaves while the next task runs. So the forward of micro-batch 1
// may not write where micro-batch 0 leaves from; that of micro-batch 2 may. The
// receiver needs a slot from when it posts the receive, before the forward of
// micro-batch 0, until it uses what came.

// CHECK-LABEL: pp.arena rank 0
// CHECK: pp.place <channel "h"> at [64, 128] bytes 64 of [0, 1, 0]
// CHECK-LABEL: pp.arena rank 1
// CHECK: pp.place <channel "h"> at [0, 64] bytes 64 of [0, 1, 0]

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
} {workspace_bytes = 0 : i64}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
} {workspace_bytes = 0 : i64}
pp.schedule "gpipe" ranks 2 microbatches 3 chunks 1
pp.program step rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
    pp.send @h [%i]
  }
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.recv @h [1]
  pp.run @s1.f [0]
  pp.recv @h [2]
  pp.run @s1.f [1]
  pp.run @s1.f [2]
}
