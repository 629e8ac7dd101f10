// RUN: pp-opt %s --split-input-file --pp-plan-arena | FileCheck %s

// Replicas that add with messages need room for a part of the largest gradient:
// half of 1024 bytes and a number more. It lies where a task's memory was, but
// not where a message may still be on its way.

// CHECK-LABEL: pp.arena rank 0
// CHECK:       pp.place <state "w"> at 2048 bytes 1024
// CHECK-NEXT:  pp.place <input "x"> at [[#TASK:]] bytes 1024 of [0]
// CHECK-NEXT:  pp.place <channel "h"> at [[#TASK + 1024]] bytes 64 of [0]
// CHECK-NEXT:  pp.place <workspace "s0.f">
// CHECK-NEXT:  pp.place <workspace "step"> at [[#TASK]] bytes 576 of [0]

// CHECK-LABEL: pp.arena rank 1
// CHECK-NOT:   <workspace "step">
// CHECK:       }

pp.parameter @w trainable : tensor<256xf32> = dense<0.0> : tensor<256xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<16xf32>
pp.task @s0.f role F stage @s0 (%w: tensor<256xf32> = <parameter "w">, %d: tensor<256xf32> = <gradient "w">, %x: tensor<256xf32> = <input "x">)
    -> (tensor<16xf32> = <channel "h">, tensor<256xf32> = <gradient "w">) {
  %h = nn.constant dense<0.0> : tensor<16xf32>
  pp.yield %h, %d : tensor<16xf32>, tensor<256xf32>
} {workspace_bytes = 64 : i64}
pp.update @w from layers [0]
pp.update_rule sgd
pp.schedule "1f1b" ranks 2 microbatches 1 chunks 1 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
  pp.all_reduce [@w]
  pp.step
}

// -----

// Of a parameter in two shards, two of four replicas each add up one; where all
// hold others, only the other parameter is added.

// CHECK-LABEL: pp.arena rank 0
// CHECK:       pp.place <workspace "step"> at {{[0-9]+}} bytes 576 of [0]

pp.parameter @w trainable shards 2 : tensor<256xf32> = dense<0.0> : tensor<512xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w]
pp.task @s0.f role F stage @s0 (%w: tensor<256xf32> = <parameter "w">, %d: tensor<256xf32> = <gradient "w">)
    -> (tensor<256xf32> = <gradient "w">) {
  pp.yield %d : tensor<256xf32>
} {workspace_bytes = 64 : i64}
pp.update @w from layers [0]
pp.update_rule sgd
pp.schedule "1f1b" ranks 1 microbatches 1 chunks 1 replicas 4
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.all_reduce [@w]
  pp.step
}

// -----

// CHECK-LABEL: pp.arena rank 0
// CHECK:       pp.place <workspace "step"> at {{[0-9]+}} bytes 192 of [0]

pp.parameter @w trainable shards 2 : tensor<256xf32> = dense<0.0> : tensor<512xf32>
pp.parameter @b trainable : tensor<64xf32> = dense<0.0> : tensor<64xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@w, @b]
pp.task @s0.f role F stage @s0 (%w: tensor<256xf32> = <parameter "w">, %b: tensor<64xf32> = <parameter "b">, %d: tensor<256xf32> = <gradient "w">, %e: tensor<64xf32> = <gradient "b">)
    -> (tensor<256xf32> = <gradient "w">, tensor<64xf32> = <gradient "b">) {
  pp.yield %d, %e : tensor<256xf32>, tensor<64xf32>
} {workspace_bytes = 64 : i64}
pp.update @w from layers [0]
pp.update @b from layers [0]
pp.update_rule sgd
pp.schedule "1f1b" ranks 1 microbatches 1 chunks 1 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.all_reduce [@b]
  pp.step
}
