// RUN: pp-opt %s --split-input-file --pp-insert-reductions --pp-check-gradients | FileCheck %s
// RUN: pp-opt %s --split-input-file --pp-insert-reductions --pp-roll --pp-check-gradients | FileCheck %s --check-prefix ROLLED

// Each stage of a rank adds its gradients over the replicas when the last of its
// backwards has run. What has gradients of two layers is left to pp.step.

// CHECK-LABEL: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.run @s1.f[0]
// CHECK-NEXT: pp.run @s1.bw[0]
// CHECK-NEXT: pp.run @s0.bw[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: pp.run @s1.f[1]
// CHECK-NEXT: pp.run @s1.bw[1]
// CHECK-NEXT: pp.all_reduce [@c]
// CHECK-NEXT: pp.run @s0.bw[1]
// CHECK-NEXT: pp.all_reduce [@a, @b]
// CHECK-NEXT: pp.step
// CHECK-NEXT: }
// CHECK-LABEL: pp.program eval rank 0 {
// CHECK-NOT: pp.all_reduce

// What follows a loop's actions stays where it is.

// ROLLED: pp.run @s0.f[1]
// ROLLED-NEXT: pp.run @s1.f[1]
// ROLLED-NEXT: pp.run @s1.bw[1]
// ROLLED-NEXT: pp.all_reduce [@c]
// ROLLED-NEXT: pp.run @s0.bw[1]
// ROLLED-NEXT: pp.all_reduce [@a, @b]

pp.parameter @a trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.parameter @b trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.parameter @c trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.parameter @tied trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@a, @b, @tied]
pp.stage @s1 index 1 rank 0 chunk 1 first_layer 1 layers ["b"] parameters [@c, @tied]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s1.f role F stage @s1 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%a: tensor<2xf32> = <gradient "a">, %b: tensor<2xf32> = <gradient "b">, %t: tensor<2xf32> = <gradient "tied">)
    -> (tensor<2xf32> = <gradient "b">, tensor<2xf32> = <gradient "a">, tensor<2xf32> = <gradient "tied">) {
  pp.yield %b, %a, %t : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
pp.task @s1.bw role BW stage @s1 (%c: tensor<2xf32> = <gradient "c"[1]>, %t: tensor<2xf32> = <gradient "tied"[1]>)
    -> (tensor<2xf32> = <gradient "c"[1]>, tensor<2xf32> = <gradient "tied"[1]>) {
  pp.yield %c, %t : tensor<2xf32>, tensor<2xf32>
}
pp.update @a from layers [0]
pp.update @b from layers [0]
pp.update @c from layers [1]
pp.update @tied from layers [0, 1]
pp.schedule "gpipe" ranks 1 microbatches 2 chunks 2 replicas 2
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s1.f [0]
  pp.run @s1.bw [0]
  pp.run @s0.bw [0]
  pp.run @s0.f [1]
  pp.run @s1.f [1]
  pp.run @s1.bw [1]
  pp.run @s0.bw [1]
  pp.step
}
pp.program eval rank 0 {
  pp.run @s0.f [0]
  pp.run @s1.f [0]
  pp.run @s0.f [1]
  pp.run @s1.f [1]
}

// -----

// With one pipeline there is nothing to add.

// CHECK-LABEL: pp.schedule "1f1b" ranks 1 microbatches 1 chunks 1{{$}}
// CHECK-NOT: pp.all_reduce

pp.parameter @a trainable : tensor<2xf32> = dense<0.0> : tensor<2xf32>
pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"] parameters [@a]
pp.task @s0.f role F stage @s0 (%x: tensor<2xf32> = <input "x">) -> () {
  pp.yield
}
pp.task @s0.bw role BW stage @s0 (%a: tensor<2xf32> = <gradient "a">) -> (tensor<2xf32> = <gradient "a">) {
  pp.yield %a : tensor<2xf32>
}
pp.update @a from layers [0]
pp.schedule "1f1b" ranks 1 microbatches 1 chunks 1
pp.program step rank 0 {
  pp.run @s0.f [0]
  pp.run @s0.bw [0]
  pp.step
}
