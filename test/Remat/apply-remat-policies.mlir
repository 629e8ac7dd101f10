// RUN: pp-opt %s --pp-choose-remat="policy=selective" --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages --pp-apply-remat --pp-verify-remat | FileCheck %s --check-prefix=SELECTIVE
// RUN: pp-opt %s --pp-choose-remat="layers=none,full,full,selective,none" --pp-balance-stages="ranks=1 balance=uniform" --pp-outline-stages --pp-apply-remat --pp-verify-remat | FileCheck %s --check-prefix=MIXED
// RUN: pp-opt %s --pp-choose-remat="layers=full,none,none,none,none" --pp-balance-stages="ranks=2 balance=uniform" --pp-outline-stages="backward=split" --pp-apply-remat --pp-verify-remat | FileCheck %s --check-prefix=FIRST

// F of a layer saves a square and a sum; R makes the sum from the argument and
// the square.

// With the policy `selective`, F keeps results that R takes as arguments, which
// W reads too, and the squares. Layers share their R; the loss has none.

// SELECTIVE: pp.task @s0.f role F
// SELECTIVE-SAME: -> (tensor<f32> = <loss_sum "">, tensor<f32> = <loss_weight "">, tensor<4xf32> = <saved "s0"[1]>, tensor<4xf32> = <saved "s0"[3]>, tensor<4xf32> = <saved "s0"[5]>, tensor<4xf32> = <saved "s0"[7]>, tensor<4xf32> = <saved "s0"[8]>, tensor<4xf32> = <saved "s0"[9]>, tensor<4xf32> = <saved "s0"[10]>) {
// SELECTIVE: pp.task @s0.r role R stage @s0 (%[[X:[a-z0-9]+]]: tensor<4xf32> = <input "x">, %[[SD:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[7]>, %[[YC:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[1]>, %[[SC:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[8]>, %[[YB:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[3]>, %[[SB:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[9]>, %[[YA:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[5]>, %[[SA:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[10]>) -> (tensor<4xf32> = <saved "s0">, tensor<4xf32> = <saved "s0"[2]>, tensor<4xf32> = <saved "s0"[4]>, tensor<4xf32> = <saved "s0"[6]>) {
// SELECTIVE-NEXT: %[[A:.*]] = nn.call @layer.r(%[[X]], %[[SA]])
// SELECTIVE-NEXT: %[[B:.*]] = nn.call @layer.r(%[[YA]], %[[SB]])
// SELECTIVE-NEXT: %[[C:.*]] = nn.call @layer.r(%[[YB]], %[[SC]])
// SELECTIVE-NEXT: %[[D:.*]] = nn.call @layer.r(%[[YC]], %[[SD]])
// SELECTIVE-NEXT: pp.yield %[[D]], %[[C]], %[[B]], %[[A]]

// Two full layers behind one that keeps all start from its result, and the
// selective layer behind them from what they make again.

// MIXED: pp.task @s0.f role F
// MIXED-SAME: -> (tensor<f32> = <loss_sum "">, tensor<f32> = <loss_weight "">, tensor<4xf32> = <saved "s0"[5]>, tensor<4xf32> = <saved "s0"[6]>, tensor<4xf32> = <saved "s0"[7]>) {
// MIXED: pp.task @s0.r role R stage @s0 (%[[W1:[a-z0-9]+]]: tensor<4xf32> = <parameter "w1">, %[[W2:[a-z0-9]+]]: tensor<4xf32> = <parameter "w2">, %[[SD:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[7]>, %[[YA:[a-z0-9]+]]: tensor<4xf32> = <saved "s0"[5]>) -> (tensor<4xf32> = <saved "s0">, tensor<4xf32> = <saved "s0"[1]>, tensor<4xf32> = <saved "s0"[2]>, tensor<4xf32> = <saved "s0"[3]>, tensor<4xf32> = <saved "s0"[4]>) {
// MIXED-NEXT: %[[B:.*]]:3 = nn.call @layer.f(%[[YA]], %[[W1]])
// MIXED-NEXT: %[[C:.*]]:3 = nn.call @layer.f(%[[B]]#0, %[[W2]])
// MIXED-NEXT: %[[D:.*]] = nn.call @layer.r(%[[C]]#0, %[[SD]])
// MIXED-NEXT: pp.yield %[[D]], %[[C]]#0, %[[C]]#2, %[[B]]#0, %[[B]]#2

// The result of a full layer is made again for the W of the next one, which
// keeps the rest. Only its stage has an R.

// FIRST: pp.task @s0.f role F
// FIRST-SAME: -> (tensor<4xf32> = <channel "act.0.0">, tensor<4xf32> = <saved "s0">) {
// FIRST: pp.task @s0.r role R stage @s0 (%[[X:[a-z0-9]+]]: tensor<4xf32> = <input "x">, %[[W:[a-z0-9]+]]: tensor<4xf32> = <parameter "w0">) -> (tensor<4xf32> = <saved "s0"[1]>, tensor<4xf32> = <saved "s0"[2]>) {
// FIRST-NEXT: %[[A:.*]]:3 = nn.call @layer.f(%[[X]], %[[W]])
// FIRST-NEXT: pp.yield %[[A]]#0, %[[A]]#2
// FIRST-NOT: @s1.r

pp.parameter @w0 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @w1 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @w2 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @w3 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @chain(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %a = pp.layer "a" @layer(%x) parameters [@w0] : (tensor<4xf32>) -> tensor<4xf32>
  %b = pp.layer "b" @layer(%a) parameters [@w1] : (tensor<4xf32>) -> tensor<4xf32>
  %c = pp.layer "c" @layer(%b) parameters [@w2] : (tensor<4xf32>) -> tensor<4xf32>
  %d = pp.layer "d" @layer(%c) parameters [@w3] : (tensor<4xf32>) -> tensor<4xf32>
  %sum, %weight = pp.layer "loss" @loss(%d) parameters [] : (tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs [] loss %sum, %weight : tensor<f32>, tensor<f32>
}

nn.function @layer(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %s = nn.mul %x, %x : tensor<4xf32>
  %e = nn.add %s, %x : tensor<4xf32>
  %y = nn.mul %e, %w : tensor<4xf32>
  nn.return %y : tensor<4xf32>
}
nn.function @layer.f(%x: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %s = nn.mul %x, %x : tensor<4xf32>
  %e = nn.add %s, %x : tensor<4xf32>
  %y = nn.mul %e, %w : tensor<4xf32>
  nn.return %y, %s, %e : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
nn.function @layer.r(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %e = nn.add %s, %x : tensor<4xf32>
  nn.return %e : tensor<4xf32>
}
nn.function @layer.b(%w: tensor<4xf32>, %e: tensor<4xf32>, %dy: tensor<4xf32>) -> tensor<4xf32> {
  %de = nn.mul %dy, %w : tensor<4xf32>
  %dx = nn.mul %de, %e : tensor<4xf32>
  nn.return %dx : tensor<4xf32>
}
nn.function @layer.w(%x: tensor<4xf32>, %e: tensor<4xf32>, %dy: tensor<4xf32>, %dw: tensor<4xf32>) -> tensor<4xf32> {
  %g = nn.mul %dy, %e : tensor<4xf32>
  %h = nn.mul %g, %x : tensor<4xf32>
  %sum = nn.accumulate %dw, %h : tensor<4xf32>
  nn.return %sum : tensor<4xf32>
}
nn.derivative @layer forward @layer.f
  backward @layer.b operands [#nn.operand<argument 1>, #nn.operand<saved 1>, #nn.operand<cotangent 0>] gradients [0]
  weight @layer.w operands [#nn.operand<argument 0>, #nn.operand<saved 1>, #nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]
  recompute @layer.r operands [#nn.operand<argument 0>, #nn.operand<saved 0>]

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
