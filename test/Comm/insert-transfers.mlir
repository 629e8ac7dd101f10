// RUN: pp-opt %s --pp-balance-stages="ranks=4 balance=uniform" --pp-outline-stages --pp-insert-transfers --pp-verify-comm | FileCheck %s

// A skip connection from stage 0 to stage 3: the stages between pass the value
// on, and its gradient back.

pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @v trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @long_skip(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @scale(%x) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @norm(%x) parameters [@v] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @scale(%b) parameters [@v] : (tensor<4xf32>) -> tensor<4xf32>
  %d = pp.layer "d" @join(%c, %a) parameters [@w] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum, %weight = pp.layer "loss" @loss(%d) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs [] loss %sum, %weight : tensor<f32>, tensor<f32>
}

// CHECK: module attributes {pp.phase = #pp.phase<comm>}
// CHECK: pp.channel @act.0.0 activation from @s0 to @s1
// CHECK: pp.channel @act.1.1 activation from @s1 to @s2
// CHECK: pp.channel @act.2.1 activation from @s2 to @s3
// CHECK: pp.channel @grad.3.0 gradient from @s3 to @s2
// CHECK: pp.channel @grad.2.1 gradient from @s2 to @s1
// CHECK: pp.channel @grad.1.0 gradient from @s1 to @s0

// CHECK: pp.task @s0.bw {{.*}} = <channel "grad.1.0">
// CHECK: pp.task @s1.f
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32> = <channel "act.0.0">
// CHECK-SAME: tensor<4xf32> = <channel "act.1.1">)
// CHECK: pp.yield %{{.*}}, %[[A]] :
// CHECK: pp.task @s1.bw
// CHECK-SAME: %[[DA:[a-z0-9]+]]: tensor<4xf32> = <channel "grad.2.1">
// CHECK-SAME: tensor<4xf32> = <channel "grad.1.0">)
// CHECK: pp.yield %{{.*}}, %[[DA]] :
// CHECK: pp.task @s2.f {{.*}} = <channel "act.1.1">) -> ({{.*}} = <channel "act.2.1">)
// CHECK: pp.task @s2.bw {{.*}} = <channel "grad.3.0">) -> ({{.*}} = <channel "grad.2.1">)
// CHECK: pp.task @s3.f {{.*}} = <channel "act.2.1">
// CHECK: pp.task @s3.bw {{.*}} -> ({{.*}} = <channel "grad.3.0">

// A layer that reads the model input, not the stage before.
nn.function @norm(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.mul %x, %w : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
nn.derivative @norm forward @norm operands [] gradients []
  weight @scale.w operands [#nn.operand<argument 0>, #nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]

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

// A layer that adds two values and scales the sum.
nn.function @join(%x: tensor<4xf32>, %z: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %s = nn.add %x, %z : tensor<4xf32>
  %y = nn.mul %s, %w : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
nn.function @join.f(%x: tensor<4xf32>, %z: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = nn.add %x, %z : tensor<4xf32>
  %y = nn.mul %s, %w : tensor<4xf32>
  nn.return %y, %s : tensor<4xf32>, tensor<4xf32>
}
nn.function @join.b(%w: tensor<4xf32>, %dy: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %ds = nn.mul %dy, %w : tensor<4xf32>
  nn.return %ds, %ds, %dy : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
nn.derivative @join forward @join.f
  backward @join.b operands [#nn.operand<argument 2>, #nn.operand<cotangent 0>] gradients [0, 1]
  weight @scale.w operands [#nn.operand<saved 0>, #nn.operand<pending 0>, #nn.operand<accumulator 2>] gradients [2]

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
