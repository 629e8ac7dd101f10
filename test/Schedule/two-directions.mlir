// RUN: split-file %s %t
// RUN: pp-opt %t/model.mlir --pp-balance-stages="ranks=2 balance=uniform reverse-placement=1,0" --pp-outline-stages --pp-verify-stages --pp-insert-transfers --pp-insert-all-reduce --pp-verify-comm -o %t/staged.mlir
// RUN: pp-opt %t/staged.mlir --pp-attach-schedule="schedule=%t/both.json microbatches=2" --pp-order-messages --pp-check-schedule --pp-check-comm --pp-check-gradients | FileCheck %s
// RUN: not pp-opt %t/staged.mlir --pp-attach-schedule="schedule=gpipe microbatches=2" 2>&1 | FileCheck %s --check-prefix=ONEWAY
// RUN: not pp-opt %t/model.mlir --pp-balance-stages="ranks=2 balance=uniform reverse-placement=1,0,1" 2>&1 | FileCheck %s --check-prefix=UNEVEN

// Each direction has its stages, tasks and channels, and runs half of the
// micro-batches. Outputs come from direction 0. Both uses of the tied parameter
// have gradients in both directions, which are added in one order.

// CHECK: pp.update @w from layers [0, 1, 3, 4]
// CHECK: pp.stage @s0 index 0 rank 0 chunk 0 first_layer 0 layers ["a"]
// CHECK: pp.stage @s1 index 1 rank 1 chunk 0 first_layer 1 layers ["b", "loss"]
// CHECK: pp.stage @u0 index 0 rank 1 chunk 0 first_layer 3 layers ["a"] parameters [@w] direction 1
// CHECK: pp.stage @u1 index 1 rank 0 chunk 0 first_layer 4 layers ["b", "loss"] parameters [@w] direction 1
// CHECK: pp.channel @act.0.0 activation from @s0 to @s1
// CHECK: pp.channel @grad.1.0 gradient from @s1 to @s0
// CHECK: pp.task @s1.f {{.*}} <output "b">
// CHECK: pp.channel @act.u0.0 activation from @u0 to @u1
// CHECK: pp.channel @grad.u1.0 gradient from @u1 to @u0
// CHECK: pp.task @u1.f role F stage @u1 {{.*}} -> (tensor<f32> = <loss_sum "">, tensor<f32> = <loss_weight "">) {
// CHECK: pp.task @u1.bw {{.*}} <gradient "w"[4]>

// CHECK: pp.program step rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @act.0.0[0]
// CHECK-NEXT: pp.recv @act.u0.0[1]
// CHECK-NEXT: pp.run @u1.f[1]
// CHECK-NEXT: pp.run @u1.bw[1]
// CHECK-NEXT: pp.send @grad.u1.0[1]
// CHECK-NEXT: pp.recv @grad.1.0[0]
// CHECK-NEXT: pp.run @s0.bw[0]
// CHECK-NEXT: pp.step
// CHECK: pp.program eval rank 0 {
// CHECK-NEXT: pp.run @s0.f[0]
// CHECK-NEXT: pp.send @act.0.0[0]
// CHECK-NEXT: pp.run @s0.f[1]
// CHECK-NEXT: pp.send @act.0.0[1]
// CHECK-NEXT: }

// ONEWAY: error: schedule 'gpipe' has 1 directions; the module has 2
// UNEVEN: error: cannot be cut into 2 stages in one direction and 3 in the other

//--- both.json
{"schedule": "both", "ranks": 2, "microbatches": 2, "chunks": 1,
 "placement": [[0, 1], [1, 0]],
 "actions": [[{"op": "F", "stage": 0, "mb": 0, "dir": 0},
              {"op": "F", "stage": 1, "mb": 0, "dir": 1},
              {"op": "BW", "stage": 1, "mb": 0, "dir": 1},
              {"op": "BW", "stage": 0, "mb": 0, "dir": 0}],
             [{"op": "F", "stage": 0, "mb": 0, "dir": 1},
              {"op": "F", "stage": 1, "mb": 0, "dir": 0},
              {"op": "BW", "stage": 1, "mb": 0, "dir": 0},
              {"op": "BW", "stage": 0, "mb": 0, "dir": 1}]]}
//--- model.mlir
pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @tied(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @scale(%x) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @scale(%a) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %sum, %weight = pp.layer "loss" @loss(%b) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["b"] %b : tensor<4xf32> loss %sum, %weight : tensor<f32>, tensor<f32>
}
pp.update_rule sgd
pp.update @w from layers [0, 1]

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
