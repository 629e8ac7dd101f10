// RUN: pp-opt %s --pp-balance-stages="ranks=3 balance=uniform" --pp-outline-stages --pp-insert-transfers --pp-attach-schedule="schedule=1f1b microbatches=5" --pp-check-equivalence | FileCheck %s
// RUN: pp-opt %s --pp-balance-stages="ranks=2 balance=uniform" --pp-outline-stages="backward=split" --pp-insert-transfers --pp-attach-schedule="schedule=zb-h1 microbatches=5" --pp-order-messages --pp-roll --pp-check-equivalence | FileCheck %s
// RUN: pp-opt %s --pp-choose-remat=policy=full --pp-balance-stages="ranks=2 balance=uniform" --pp-outline-stages --pp-insert-transfers --pp-apply-remat --pp-attach-schedule="schedule=gpipe microbatches=5" --pp-order-messages --pp-check-equivalence | FileCheck %s

// A parameter with two layers and a value that skips a stage. Whatever the cut
// and the schedule, with recomputation or without, the programs compute the
// model: the pass changes nothing.

// CHECK: pp.program step rank 0
// CHECK: pp.program eval rank 0

pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @v trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @skip(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @scale(%x) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @scale(%a) parameters [@v] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @join(%b, %a) parameters [@w] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum, %weight = pp.layer "loss" @loss(%c) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["c"] %c : tensor<4xf32> loss %sum, %weight : tensor<f32>, tensor<f32>
}

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
