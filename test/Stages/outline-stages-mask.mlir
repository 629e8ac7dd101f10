// RUN: pp-opt %s --pp-balance-stages="ranks=3 balance=uniform" --pp-outline-stages --pp-verify-stages | FileCheck %s

// Layer a makes an activation, an integer mask, and a value without gradient;
// b uses none but the activation. The mask and the value cross forward only,
// from stage 0 to stage 2.

pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @v trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @mask(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a, %mask, %scale = pp.layer "a" @split(%x) parameters [@w] : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>)
  %b = pp.layer "b" @scale(%a) parameters [@v] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @masked(%b, %mask, %scale) parameters [@v] : (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<4xf32>
  %sum, %weight = pp.layer "loss" @loss(%c) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs [] loss %sum, %weight : tensor<f32>, tensor<f32>
}

// CHECK-DAG: pp.channel @act.0.0 activation from @s0 to @s1 : tensor<4xf32>
// CHECK-DAG: pp.channel @act.0.1 activation from @s0 to @s2 : tensor<4xi64>
// CHECK-DAG: pp.channel @act.0.2 activation from @s0 to @s2 : tensor<4xf32>
// CHECK-DAG: pp.channel @act.1.0 activation from @s1 to @s2 : tensor<4xf32>
// CHECK-DAG: pp.channel @grad.1.0 gradient from @s1 to @s0
// CHECK-DAG: pp.channel @grad.2.0 gradient from @s2 to @s1
// CHECK-NOT: pp.channel @grad
// CHECK: pp.task @s0.f
// CHECK-SAME: -> (tensor<4xf32> = <channel "act.0.0">, tensor<4xi64> = <channel "act.0.1">, tensor<4xf32> = <channel "act.0.2">)
// The cotangent of the value that nobody differentiates is zero.
// CHECK: pp.task @s0.bw
// CHECK-SAME: %[[DA:[a-z0-9]+]]: tensor<4xf32> = <channel "grad.1.0">
// CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT: nn.call @split.w(%{{.*}}, %[[DA]], %[[ZERO]], %{{.*}})
// CHECK: pp.task @s2.bw
// CHECK-SAME: %[[MASK:[a-z0-9]+]]: tensor<4xi64> = <channel "act.0.1">
// CHECK: nn.call @masked.b(%[[MASK]]

nn.function @split(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) {
  %y = nn.mul %x, %w : tensor<4xf32>
  %m = nn.cast %y : tensor<4xf32> -> tensor<4xi64>
  nn.return %y, %m, %y : tensor<4xf32>, tensor<4xi64>, tensor<4xf32>
}
nn.function @split.w(%x: tensor<4xf32>, %dy: tensor<4xf32>, %dz: tensor<4xf32>, %dw: tensor<4xf32>) -> tensor<4xf32> {
  %d = nn.add %dy, %dz : tensor<4xf32>
  %g = nn.mul %d, %x : tensor<4xf32>
  %sum = nn.accumulate %dw, %g : tensor<4xf32>
  nn.return %sum : tensor<4xf32>
}
nn.derivative @split forward @split operands [] gradients []
  weight @split.w operands [#nn.operand<argument 0>, #nn.operand<cotangent 0>, #nn.operand<cotangent 2>, #nn.operand<accumulator 1>] gradients [1]
nn.function @masked(%x: tensor<4xf32>, %m: tensor<4xi64>, %z: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %f = nn.cast %m : tensor<4xi64> -> tensor<4xf32>
  %p = nn.mul %x, %f : tensor<4xf32>
  %s = nn.sign %z : tensor<4xf32>
  %y = nn.add %p, %s : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
nn.function @masked.b(%m: tensor<4xi64>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %f = nn.cast %m : tensor<4xi64> -> tensor<4xf32>
  %dx = nn.mul %dy, %f : tensor<4xf32>
  nn.return %dx : tensor<4xf32>
}
nn.derivative @masked forward @masked
  backward @masked.b operands [#nn.operand<argument 1>, #nn.operand<cotangent 0>] gradients [0] operands [] gradients []

// A layer with one parameter, and its derivative.
nn.function @scale(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.mul %x, %w : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
nn.function @scale.b(%w: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %dx = nn.mul %dy, %w : tensor<4xf32>
  nn.return %dx : tensor<4xf32>
}
nn.function @scale.w(%x: tensor<4xf32>, %dy: tensor<4xf32>, %dw: tensor<4xf32>) -> tensor<4xf32> {
  %g = nn.mul %dy, %x : tensor<4xf32>
  %sum = nn.accumulate %dw, %g : tensor<4xf32>
  nn.return %sum : tensor<4xf32>
}
nn.derivative @scale forward @scale
  backward @scale.b operands [#nn.operand<argument 1>, #nn.operand<cotangent 0>] gradients [0]
  weight @scale.w operands [#nn.operand<argument 0>, #nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]

// The sum of all elements, with weight 1.
nn.function @loss(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  %sum = nn.reduce sum %x axes [0] : tensor<4xf32> -> tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  nn.return %sum, %one : tensor<f32>, tensor<f32>
}
nn.function @loss.b(%ds: tensor<f32>) -> tensor<4xf32> {
  %dx = nn.broadcast %ds : tensor<f32> -> tensor<4xf32>
  nn.return %dx : tensor<4xf32>
}
nn.derivative @loss forward @loss backward @loss.b operands [#nn.operand<cotangent 0>] gradients [0] operands [] gradients []
