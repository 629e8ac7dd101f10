// RUN: pp-opt %s --pp-order-messages --pp-check-schedule --pp-check-comm | FileCheck %s

// 1F1B with sends right after their task and receives right before theirs
// deadlocks if sends block. In the order in which the messages are made, rank 1
// takes the second activation before it sends the first gradient. It is made
// while rank 1 is busy with the first backward: the receive comes before that.

// CHECK-LABEL: pp.program step rank 0 {
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
// CHECK-LABEL: pp.program step rank 1 {
// CHECK-NEXT: pp.recv @h[0]
// CHECK-NEXT: pp.run @s1.f[0]
// CHECK-NEXT: pp.recv @h[1]
// CHECK-NEXT: pp.run @s1.bw[0]
// CHECK-NEXT: pp.send @dh[0]
// CHECK-NEXT: pp.run @s1.f[1]
// CHECK-NEXT: pp.run @s1.bw[1]
// CHECK-NEXT: pp.send @dh[1]
// CHECK-NEXT: pp.step
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
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> () {
  pp.yield
}
pp.task @s1.bw role BW stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <channel "dh">) {
  pp.yield %h : tensor<2xf32>
}
pp.schedule "1f1b" ranks 2 microbatches 2 chunks 1
pp.program step rank 0 {
  pp.repeat %i = 0 to 2 {
    pp.run @s0.f [%i]
    pp.send @h [%i]
  }
  pp.repeat %i = 0 to 2 {
    pp.recv @dh [%i]
    pp.run @s0.bw [%i]
  }
  pp.step
}
pp.program step rank 1 {
  pp.repeat %i = 0 to 2 {
    pp.recv @h [%i]
    pp.run @s1.f [%i]
    pp.run @s1.bw [%i]
    pp.send @dh [%i]
  }
  pp.step
}
pp.program eval rank 0 {
  pp.repeat %i = 0 to 2 {
    pp.run @s0.f [%i]
    pp.send @h [%i]
  }
}
pp.program eval rank 1 {
  pp.repeat %i = 0 to 2 {
    pp.recv @h [%i]
    pp.run @s1.f [%i]
  }
}
