// RUN: pp-opt %s --pp-plan-arena | FileCheck %s
// RUN: not pp-opt %s --pp-plan-arena=memory=1000 2>&1 | FileCheck %s --check-prefix=LIMIT

// Two of three micro-batches are in flight at a time: a saved value gets as many
// places as are in use together, and shares them with nothing that is in use
// then. The loss scale lasts.

// LIMIT: error: rank 0 needs 1664 bytes of memory, but may take 1000: 1088 bytes for parameters, gradients and optimizer state, and 576 for what it holds during F s0 mb1: 256 for tensor<64xf32> of micro-batch 1, 128 for tensor<2xf32> of micro-batches 0-1, 128 for workspace of task 's0.f' of micro-batch 1

pp.parameter @unused : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @w trainable : tensor<64xf32> = dense<0.0> : tensor<64xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters [@w]
pp.channel @g gradient from @s1 to @s0 : tensor<2xf32>
pp.update_rule sgd
pp.update @w from layers [0, 7]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">, %w: tensor<64xf32> = <parameter "w">, %l: tensor<f32> = <loss_scale "">)
    -> (tensor<2xf32> = <saved "s0">, tensor<64xf32> = <saved "s0"[1]>) {
  pp.yield %x, %w : tensor<2xf32>, tensor<64xf32>
} {workspace_bytes = 70 : i64}
pp.task @s0.bw role BW stage @s0 (%g: tensor<2xf32> = <channel "g">, %s: tensor<2xf32> = <saved "s0">, %l: tensor<f32> = <loss_scale "">, %d: tensor<64xf32> = <gradient "w">)
    -> (tensor<64xf32> = <gradient "w">) {
  pp.yield %d : tensor<64xf32>
} {workspace_bytes = 10 : i64}
pp.schedule "1f1b" ranks 1 microbatches 3 chunks 1
pp.program step rank 0 {
  pp.repeat %i = 0 to 2 {
    pp.run @s0.f [%i]
  }
  pp.recv @g [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [2]
  pp.repeat %i = 1 to 3 {
    pp.recv @g [%i]
    pp.run @s0.bw [%i]
  }
  pp.step
}
pp.program eval rank 0 {
  pp.repeat %i = 0 to 3 {
    pp.run @s0.f [%i]
  }
}

// CHECK: pp.arena rank 0 bytes 1664
// CHECK-NEXT: pp.place <parameter "w"> at 0 bytes 256
// The owner of a tied parameter also has room for the other contribution.
// CHECK-NEXT: pp.place <gradient "w"> at 256 bytes 256
// CHECK-NEXT: pp.place <gradient "w"[7]> at 512 bytes 256
// CHECK-NEXT: pp.place <state "w"> at 768 bytes 256
// CHECK-NEXT: pp.place <loss_scale ""> at 1024 bytes 64 of [0, 0, 0]
// CHECK-NEXT: pp.place <input "x"> at 1472 bytes 64 of [0, 0, 0]
// CHECK-NEXT: pp.place <saved "s0"> at [1536, 1600] bytes 64 of [0, 1, 0]
// The forward is over, when the gradient arrives where this lay.
// CHECK-NEXT: pp.place <saved "s0"[1]> at 1088 bytes 256 of [0, 0, 0]
// CHECK-NEXT: pp.place <workspace "s0.f"> at 1344 bytes 128 of [0, 0, 0]
// CHECK-NEXT: pp.place <channel "g"> at 1088 bytes 64 of [0, 0, 0]
// CHECK-NEXT: pp.place <workspace "s0.bw"> at 1152 bytes 64 of [0, 0, 0]
