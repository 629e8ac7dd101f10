// RUN: pp-opt %s --split-input-file --nn-differentiate | FileCheck %s
// RUN: pp-opt %s --split-input-file --nn-differentiate=freeze=^b0 | FileCheck %s --check-prefix=FREEZE
// RUN: pp-opt %s --split-input-file --nn-differentiate=train=^b1 | FileCheck %s --check-prefix=FREEZE

// Two layers share a function. The first of them needs no gradient for its
// input, but the second does: they share its derivative. Where only one of
// them is trained, the other gets a function of its own, without backward.

// CHECK-LABEL: pp.model @shared
// CHECK: pp.layer "b0" @scale(
// CHECK: pp.layer "b1" @scale(
// CHECK: nn.derivative @scale forward @scale.f
// CHECK-SAME: backward @scale.b operands [#nn.operand<argument 1>, #nn.operand<cotangent 0>] gradients [0]
// CHECK-SAME: weight @scale.w operands [#nn.operand<argument 0>, #nn.operand<cotangent 0>, #nn.operand<accumulator 1>] gradients [1]
// CHECK-NOT: nn.derivative @scale

// FREEZE: pp.parameter @b0 :
// FREEZE: pp.parameter @b1 trainable
// FREEZE-LABEL: pp.model @shared
// FREEZE: pp.layer "b0" @scale(
// FREEZE: pp.layer "b1" @scale_0(
// FREEZE-DAG: nn.derivative @scale forward @scale.f operands [] gradients [] operands [] gradients []
// FREEZE-DAG: nn.derivative @scale_0 forward @scale_0.f operands [] gradients [] weight @scale_0.w {{.*}} gradients [1]
pp.parameter @b0 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @b1 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @shared(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "b0" @scale(%x) parameters [@b0] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pp.layer "b1" @scale(%0) parameters [@b1] : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @scale(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0] : tensor<4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// An argument that is only compared and a result that the loss does not use
// have no gradient; an integer never has one.

// CHECK-LABEL: pp.model @no_gradient
// CHECK: nn.function @mask.b(%[[C:.*]]: tensor<4xf32>, %[[DY:.*]]: tensor<4xf32>) -> tensor<4xf32>
// CHECK: nn.derivative @mask forward @mask.f
// CHECK-SAME: backward @mask.b operands [#nn.operand<argument 1>, #nn.operand<cotangent 0>] gradients [0]
pp.parameter @b0 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @b1 trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @no_gradient(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "b0" @scale(%x) parameters [@b0] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pp.layer "b1" @scale(%x) parameters [@b1] : (tensor<4xf32>) -> tensor<4xf32>
  %2, %3, %4 = pp.layer "mask" @mask(%0, %1) parameters [] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi64>)
  %5, %6 = pp.layer "loss" @sums(%2, %1) parameters [] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["u", "i"] %3, %4 : tensor<4xf32>, tensor<4xi64> loss %5, %6 : tensor<f32>, tensor<f32>
}
nn.function @scale(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @mask(%x: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi64>) {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %keep = nn.compare gt %c, %zero : tensor<4xf32> -> tensor<4xi1>
  %0 = nn.select %keep, %x, %zero : tensor<4xi1>, tensor<4xf32>
  %1 = nn.exp %x : tensor<4xf32>
  %2 = nn.cast %keep : tensor<4xi1> -> tensor<4xi64>
  nn.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xi64>
}
nn.function @sums(%x: tensor<4xf32>, %c: tensor<4xf32>) -> (tensor<f32>, tensor<f32>) {
  %0 = nn.add %x, %c : tensor<4xf32>
  %1 = nn.reduce sum %0 axes [0] : tensor<4xf32> -> tensor<f32>
  %2 = nn.constant dense<1.0> : tensor<f32>
  nn.return %1, %2 : tensor<f32>, tensor<f32>
}

// -----

// A parameter that is named like a part of its layer's derivative.

// CHECK-LABEL: pp.model @named_alike
// CHECK: nn.derivative @fc forward @fc.f
// CHECK-SAME: weight @fc.w_0
pp.parameter @fc.w trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @b0 trainable : tensor<f32> = dense<0.0> : tensor<f32>
pp.parameter @b1 trainable : tensor<f32> = dense<0.0> : tensor<f32>
pp.model @named_alike(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "fc" @fc(%x) parameters [@fc.w] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pp.layer "loss" @weighted(%0) parameters [@b0, @b1] : (tensor<4xf32>) -> tensor<f32>
  pp.return outputs [] loss %1, %1 : tensor<f32>, tensor<f32>
}
nn.function @fc(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @weighted(%x: tensor<4xf32>, %v: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0] : tensor<4xf32> -> tensor<f32>
  %1 = nn.mul %0, %v : tensor<f32>
  %2 = nn.mul %1, %w : tensor<f32>
  nn.return %2 : tensor<f32>
}
