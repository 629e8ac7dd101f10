// RUN: pp-opt %s --pp-balance-stages="ranks=2 balance=uniform" --pp-outline-stages --pp-verify-stages | FileCheck %s

// Without derivatives there are F tasks only, which keep nothing. Each reads
// its own random key. A model output that later layers use too is made by its
// own stage.

pp.parameter @w : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @forward_only(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %k0 = pp.random_key layer 0 : tensor<2xi64>
  %a = pp.layer "a" @drop(%x, %k0) parameters [@w] : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  %k1 = pp.random_key layer 1 : tensor<2xi64>
  %b = pp.layer "b" @drop(%a, %k1) parameters [@w] : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  pp.return outputs ["a", "b"] %a, %b : tensor<4xf32>, tensor<4xf32>
}

// CHECK-NOT: pp.channel @grad
// CHECK: pp.task @s0.f role F stage @s0 (%{{.*}}: tensor<4xf32> = <input "x">, %{{.*}}: tensor<2xi64> = <random_key "">, %{{.*}}: tensor<4xf32> = <parameter "w">) -> (tensor<4xf32> = <channel "act.0.0">, tensor<4xf32> = <output "a">)
// CHECK: pp.yield %[[A:.*]], %[[A]] :
// CHECK: pp.task @s1.f role F stage @s1 (%{{.*}}: tensor<4xf32> = <channel "act.0.0">, %{{.*}}: tensor<2xi64> = <random_key ""[1]>, %{{.*}}: tensor<4xf32> = <parameter "w">) -> (tensor<4xf32> = <output "b">)
// CHECK-NOT: pp.task

nn.function @drop(%x: tensor<4xf32>, %key: tensor<2xi64>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %m = nn.dropout_mask %key ratio 0.5 stream 0 : tensor<2xi64> -> tensor<4xf32>
  %d = nn.mul %x, %m : tensor<4xf32>
  %y = nn.mul %d, %w : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
