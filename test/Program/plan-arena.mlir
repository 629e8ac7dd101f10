// RUN: pp-opt %s --pp-plan-arena | FileCheck %s
// RUN: not pp-opt %s --pp-plan-arena=memory=1000 2>&1 | FileCheck %s --check-prefix=LIMIT

// Two of three micro-batches are in flight at a time: saved values and the
// received gradient get as many slots as are in use together, losses all, the
// loss scale one.

// LIMIT: error: rank 0 needs 1728 bytes of memory, but may take 1000; the largest part is 256 bytes for parameter 'w' in 1 slots

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

// CHECK: pp.arena rank 0 bytes 1728
// CHECK-NEXT: pp.place <parameter "w"> at 0 bytes 256
// The owner of a tied parameter also has room for the other contribution.
// CHECK-NEXT: pp.place <gradient "w"> at 256 bytes 256
// CHECK-NEXT: pp.place <gradient "w"[7]> at 512 bytes 256
// CHECK-NEXT: pp.place <state "w"> at 768 bytes 256
// CHECK-NEXT: pp.place <input "x"> at 1024 bytes 64 of [0, 0, 0]
// CHECK-NEXT: pp.place <loss_scale ""> at 1088 bytes 64 of [0, 0, 0]
// CHECK-NEXT: pp.place <saved "s0"> at 1152 bytes 64 slots 2 of [0, 1, 0]
// CHECK-NEXT: pp.place <saved "s0"[1]> at 1280 bytes 256
// CHECK-NEXT: pp.place <channel "g"> at {{.*}} bytes 64 of [0, 0, 0]
// CHECK-NEXT: pp.place <workspace ""> at {{.*}} bytes 128
