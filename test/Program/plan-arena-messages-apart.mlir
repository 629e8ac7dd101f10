// RUN: pp-opt %s --pp-plan-arena | FileCheck %s
// RUN: pp-opt %s --pp-plan-arena=messages-apart=true | FileCheck %s --check-prefix=APART

// What the task of the second stage computes may lie where a message was, unless
// messages are apart: then each message has its place behind all else, where only
// messages are.

// CHECK-LABEL: pp.arena rank 1 bytes 128
// CHECK: pp.place <channel "h"> at 0 bytes 64
// CHECK: pp.place <saved "t"> at 64 bytes 64
// CHECK: pp.place <output "y"> at 0 bytes 64

// APART-LABEL: pp.arena rank 1 bytes 192
// APART: pp.place <channel "h"> at 128 bytes 64
// APART: pp.place <saved "t"> at 0 bytes 64
// APART: pp.place <output "y"> at 64 bytes 64

pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters []
pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b"] parameters []
pp.channel @h activation from @s0 to @s1 : tensor<2xf32>
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> (tensor<2xf32> = <channel "h">) {
  pp.yield %x : tensor<2xf32>
} {workspace_bytes = 0 : i64}
pp.task @s1.f role F stage @s1 (%h: tensor<2xf32> = <channel "h">) -> (tensor<2xf32> = <saved "t">) {
  pp.yield %h : tensor<2xf32>
} {workspace_bytes = 0 : i64}
pp.task @s1.g role F stage @s1 (%t: tensor<2xf32> = <saved "t">) -> (tensor<2xf32> = <output "y">) {
  pp.yield %t : tensor<2xf32>
} {workspace_bytes = 0 : i64}
pp.schedule "gpipe" ranks 2 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.send @h [0]
}
pp.program step rank 1 {
  pp.recv @h [0]
  pp.run @s1.f [0]
  pp.run @s1.g [0]
}
