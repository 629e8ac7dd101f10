// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml" | FileCheck %s

// Of the product and the activation, 64 bytes each, the policy `selective`
// keeps the product, and takes 128 bytes to make the activation again; what
// enters the second layer is 64 bytes, which its W reads too.

// CHECK-LABEL: pp.model @with_derivative
pp.parameter @w trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @with_derivative(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.layer "a" {{.*}} residual_bytes = 128, picoseconds_r = 128000, selective_bytes = 64, source = formula>
  // CHECK: pp.layer "b" {{.*}} residual_bytes = 192, picoseconds_r = 128000, selective_bytes = 128, input_bytes = 64, source = formula>
  %h = pp.layer "a" @fc(%x) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = pp.layer "b" @fc(%h) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %y : tensor<4x4xf32>
}
nn.function @fc(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32>
nn.function @fc.f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %t = nn.relu %m : tensor<4x4xf32>
  nn.return %t, %m, %t : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
nn.function @fc.r(%m: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = nn.relu %m : tensor<4x4xf32>
  nn.return %t : tensor<4x4xf32>
}
nn.function @fc.b(%m: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %dx = nn.mul %m, %t : tensor<4x4xf32>
  nn.return %dx : tensor<4x4xf32>
}
nn.function @fc.w(%x: tensor<4x4xf32>, %dw: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %a = nn.accumulate %dw, %x : tensor<4x4xf32>
  nn.return %a : tensor<4x4xf32>
}
nn.derivative @fc forward @fc.f
  backward @fc.b operands [#nn.operand<saved 0>, #nn.operand<saved 1>] gradients [0]
  weight @fc.w operands [#nn.operand<argument 0>, #nn.operand<accumulator 1>] gradients [1]
  recompute @fc.r operands [#nn.operand<saved 0>]

// -----

// Without a derivative, the product is kept, and the activation repeated.

// CHECK-LABEL: pp.model @without_derivative
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @without_derivative(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.layer "a" {{.*}} residual_bytes = 128, picoseconds_r = 128000, selective_bytes = 64, source = formula>
  %y = pp.layer "a" @fc(%x) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %y : tensor<4x4xf32>
}
nn.function @fc(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %t = nn.relu %m : tensor<4x4xf32>
  nn.return %t : tensor<4x4xf32>
}
