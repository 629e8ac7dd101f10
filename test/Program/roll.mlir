// RUN: pp-opt %s --pp-roll | FileCheck %s
// RUN: pp-opt %s --pp-roll --pp-unroll | FileCheck %s --check-prefix=UNROLL
// RUN: pp-opt %s --pp-unroll > %t.flat && pp-opt %s --pp-roll --pp-unroll | diff - %t.flat

// Warm-up, steady state and drain of 1F1B become a loop each.

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @a activation from @s0 to @s1 : tensor<2xf32>
pp.channel @g gradient from @s1 to @s0 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "a">) {
  pp.yield %x : tensor<2xf32>
}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "g">) -> () {
  pp.yield
}

// CHECK-LABEL: step rank 0
// CHECK-NEXT: pp.repeat %[[I:.*]] = 0 to 2 {
// CHECK-NEXT:   pp.run @s0.f[%[[I]]]
// CHECK-NEXT:   pp.send @a[%[[I]]]
// CHECK-NEXT: }
// CHECK-NEXT: pp.repeat %[[J:.*]] = 0 to 2 {
// CHECK-NEXT:   pp.recv @g[%[[J]]]
// CHECK-NEXT:   pp.run @s0.bw[%[[J]]]
// CHECK-NEXT:   pp.run @s0.f[%[[J]] + 2]
// CHECK-NEXT:   pp.send @a[%[[J]] + 2]
// CHECK-NEXT: }
// CHECK-NEXT: pp.repeat %[[K:.*]] = 2 to 4 {
// CHECK-NEXT:   pp.recv @g[%[[K]]]
// CHECK-NEXT:   pp.run @s0.bw[%[[K]]]
// CHECK-NEXT: }
// CHECK-NEXT: pp.step
// UNROLL-NOT: pp.repeat
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @a [0]
  pp.run @s0.f [1]
  pp.send @a [1]
  pp.recv @g [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [2]
  pp.send @a [2]
  pp.recv @g [1]
  pp.run @s0.bw [1]
  pp.run @s0.f [3]
  pp.send @a [3]
  pp.recv @g [2]
  pp.run @s0.bw [2]
  pp.recv @g [3]
  pp.run @s0.bw [3]
  pp.step
}
