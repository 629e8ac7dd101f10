// RUN: pp-opt %s --pp-balance-stages="ranks=3 balance=uniform" --pp-outline-stages --pp-verify-stages | FileCheck %s
// RUN: pp-opt %s --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages --pp-verify-stages | FileCheck %s --check-prefix=ONE
// RUN: pp-opt %s --pp-balance-stages="ranks=3 balance=uniform" --pp-outline-stages="backward=split" --pp-verify-stages | FileCheck %s --check-prefix=SPLIT

// A skip connection from layer a over b to c. Stage 1 uses the value that it
// passes on, so it adds its own contribution to the gradient it receives; on
// one rank the same sum is taken. The parameter of a and c has one gradient
// per layer. Layer a does not run B: nobody wants the gradient of the input.
// The gradient of the loss is the loss scale.

pp.parameter @w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @v trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @skip(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @scale(%x) parameters [@w] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @scale(%a) parameters [@v] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @join(%b, %a) parameters [@w] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %sum, %weight = pp.layer "loss" @loss(%c) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["c"] %c : tensor<4xf32> loss %sum, %weight : tensor<f32>, tensor<f32>
}

// CHECK-DAG: pp.channel @act.0.0 activation from @s0 to @s1
// CHECK-DAG: pp.channel @act.1.0 activation from @s1 to @s2
// CHECK-DAG: pp.channel @act.1.1 activation from @s1 to @s2
// CHECK-DAG: pp.channel @grad.1.0 gradient from @s1 to @s0
// CHECK-DAG: pp.channel @grad.2.0 gradient from @s2 to @s1
// CHECK-DAG: pp.channel @grad.2.1 gradient from @s2 to @s1

// CHECK: pp.task @s0.f role F stage @s0 (%[[X:[a-z0-9]+]]: tensor<4xf32> = <input "x">, %[[W:[a-z0-9]+]]: tensor<4xf32> = <parameter "w">) -> (tensor<4xf32> = <channel "act.0.0">)
// CHECK-NEXT: %[[Y:.*]] = nn.call @scale(%[[X]], %[[W]])
// CHECK-NEXT: pp.yield %[[Y]]

// CHECK: pp.task @s0.bw role BW stage @s0
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4xf32> = <input "x">, %[[DY:[a-z0-9]+]]: tensor<4xf32> = <channel "grad.1.0">, %[[DW:[a-z0-9]+]]: tensor<4xf32> = <gradient "w">
// CHECK-SAME: -> (tensor<4xf32> = <gradient "w">)
// CHECK-NEXT: %[[SUM:.*]] = nn.call @scale.w(%[[X]], %[[DY]], %[[DW]])
// CHECK-NEXT: pp.yield %[[SUM]]

// CHECK: pp.task @s1.f role F stage @s1 (%[[A:[a-z0-9]+]]: tensor<4xf32> = <channel "act.0.0">
// CHECK-SAME: -> (tensor<4xf32> = <channel "act.1.0">, tensor<4xf32> = <channel "act.1.1">)
// CHECK-NEXT: %[[B:.*]] = nn.call @scale
// CHECK-NEXT: pp.yield %[[A]], %[[B]]

// CHECK: pp.task @s1.bw role BW stage @s1
// CHECK-SAME: %[[DB:[a-z0-9]+]]: tensor<4xf32> = <channel "grad.2.1">, %[[DA:[a-z0-9]+]]: tensor<4xf32> = <channel "grad.2.0">, %[[A:[a-z0-9]+]]: tensor<4xf32> = <channel "act.0.0">
// CHECK-NEXT: %[[OWN:.*]] = nn.call @scale.b(%{{.*}}, %[[DB]])
// CHECK-NEXT: %[[SUM:.*]] = nn.add %[[DA]], %[[OWN]]
// CHECK-NEXT: %[[DV:.*]] = nn.call @scale.w(%[[A]], %[[DB]], %{{.*}})
// CHECK-NEXT: pp.yield %[[DV]], %[[SUM]]

// CHECK: pp.task @s2.f role F stage @s2 (%[[B:[a-z0-9]+]]: tensor<4xf32> = <channel "act.1.1">, %[[A:[a-z0-9]+]]: tensor<4xf32> = <channel "act.1.0">, %{{.*}}: tensor<4xf32> = <parameter "w">)
// CHECK-SAME: -> (tensor<4xf32> = <output "c">, tensor<f32> = <loss_sum "">, tensor<f32> = <loss_weight "">, tensor<4xf32> = <saved "s2">)
// CHECK-NEXT: %[[C:.*]]:2 = nn.call @join.f(%[[B]], %[[A]]
// CHECK-NEXT: %[[L:.*]]:2 = nn.call @loss(%[[C]]#0)
// CHECK-NEXT: pp.yield %[[C]]#0, %[[L]]#0, %[[L]]#1, %[[C]]#1

// CHECK: pp.task @s2.bw role BW stage @s2
// CHECK-SAME: (%[[SCALE:[a-z0-9]+]]: tensor<f32> = <loss_scale "">,
// CHECK-SAME: %[[S:[a-z0-9]+]]: tensor<4xf32> = <saved "s2">
// CHECK-SAME: <gradient "w"[2]>) -> (tensor<4xf32> = <gradient "w"[2]>, tensor<4xf32> = <channel "grad.2.0">, tensor<4xf32> = <channel "grad.2.1">)
// CHECK-NEXT: %[[DC:.*]] = nn.call @loss.b(%[[SCALE]])
// CHECK-NEXT: %[[D:.*]]:3 = nn.call @join.b(%{{.*}}, %[[DC]])
// CHECK-NEXT: %[[DW:.*]] = nn.call @scale.w(%[[S]], %[[D]]#2, %{{.*}})
// CHECK-NEXT: pp.yield %[[DW]], %[[D]]#1, %[[D]]#0

// ONE-NOT: pp.channel
// ONE: pp.task @s0.f {{.*}} -> (tensor<4xf32> = <output "c">, tensor<f32> = <loss_sum "">, tensor<f32> = <loss_weight "">, tensor<4xf32> = <saved "s0">, tensor<4xf32> = <saved "s0"[1]>)
// ONE: pp.task @s0.bw role BW stage @s0
// ONE: %[[D:.*]]:3 = nn.call @join.b
// ONE: %[[OWN:.*]] = nn.call @scale.b(%{{.*}}, %[[D]]#0)
// ONE: nn.add %[[D]]#1, %[[OWN]]

// What B makes for W is saved between them.
// SPLIT: pp.task @s2.b role B stage @s2
// SPLIT-SAME: -> (tensor<4xf32> = <saved "s2"[1]>, tensor<4xf32> = <channel "grad.2.0">, tensor<4xf32> = <channel "grad.2.1">)
// SPLIT-NOT: @scale.w
// SPLIT: pp.task @s2.w role W stage @s2 (%[[S:[a-z0-9]+]]: tensor<4xf32> = <saved "s2">, %[[D:[a-z0-9]+]]: tensor<4xf32> = <saved "s2"[1]>, %[[DW:[a-z0-9]+]]: tensor<4xf32> = <gradient "w"[2]>)
// SPLIT-NEXT: nn.call @scale.w(%[[S]], %[[D]], %[[DW]])

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
