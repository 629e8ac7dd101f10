// RUN: pp-opt %s --split-input-file --nn-differentiate | FileCheck %s

// The activation is made again from the product, which is kept: R makes the last
// of the saved values from the others.

// CHECK-LABEL: nn.function @layer.f(
// CHECK: %[[M:.*]] = nn.matmul
// CHECK: %[[T:.*]] = nn.gelu tanh %[[M]]
// CHECK: nn.return %{{.*}}, %[[M]], %[[T]] : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
// CHECK: nn.function @layer.r(%[[M:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT: %[[T:.*]] = nn.gelu tanh %[[M]] : tensor<4x4xf32>
// CHECK-NEXT: nn.return %[[T]] : tensor<4x4xf32>
// CHECK: nn.derivative @layer forward @layer.f
// CHECK-SAME: recompute @layer.r operands [#nn.operand<saved 0>]
pp.parameter @scale trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @v trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @m(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "scaled" @scaled(%x) parameters [@scale] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = pp.layer "layer" @layer(%0) parameters [@w, @v] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<4x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @scaled(%x: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.mul %x, %s : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
nn.function @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = nn.gelu tanh %0 : tensor<4x4xf32>
  %2 = nn.matmul %1, %v : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  nn.return %2 : tensor<4x4xf32>
}
nn.function @sum(%x: tensor<4x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// The scores of attention are multiplied again, from the queries and the keys,
// here an argument. The products with parameters are kept.

// CHECK-LABEL: nn.function @layer.f(
// CHECK: %[[Q:.*]] = nn.matmul
// CHECK: %[[P:.*]] = nn.softmax
// CHECK: nn.return %{{.*}}, %[[Q]], %[[P]] : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x3xf32>
// CHECK: nn.function @layer.r(%[[K:.*]]: tensor<2x3x4xf32>, %[[Q:.*]]: tensor<2x3x4xf32>) -> tensor<2x3x3xf32> {
// CHECK: %[[S:.*]] = nn.matmul %[[Q]], %[[K]] transpose_rhs
// CHECK: nn.softmax
// CHECK: nn.derivative @layer forward @layer.f
// CHECK-SAME: recompute @layer.r operands [#nn.operand<argument 0>, #nn.operand<saved 0>]
pp.parameter @scale trainable : tensor<2x3x4xf32> = dense<0.0> : tensor<2x3x4xf32>
pp.parameter @w trainable : tensor<2x4x4xf32> = dense<0.0> : tensor<2x4x4xf32>
pp.model @m(%x: tensor<2x3x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "scaled" @scaled(%x) parameters [@scale] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %1 = pp.layer "layer" @layer(%0) parameters [@w] : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<2x3x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @scaled(%x: tensor<2x3x4xf32>, %s: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.mul %x, %s : tensor<2x3x4xf32>
  nn.return %0 : tensor<2x3x4xf32>
}
nn.function @layer(%x: tensor<2x3x4xf32>, %w: tensor<2x4x4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.matmul %x, %w : tensor<2x3x4xf32>, tensor<2x4x4xf32> -> tensor<2x3x4xf32>
  %1 = nn.matmul %0, %x transpose_rhs : tensor<2x3x4xf32>, tensor<2x3x4xf32> -> tensor<2x3x3xf32>
  %half = nn.constant dense<0.5> : tensor<2x3x3xf32>
  %2 = nn.mul %1, %half : tensor<2x3x3xf32>
  %3 = nn.softmax %2 axis 2 : tensor<2x3x3xf32>
  %4 = nn.matmul %3, %0 : tensor<2x3x3xf32>, tensor<2x3x4xf32> -> tensor<2x3x4xf32>
  nn.return %4 : tensor<2x3x4xf32>
}
nn.function @sum(%x: tensor<2x3x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1, 2] : tensor<2x3x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// The softmax of a product with a parameter is no attention, but that of a
// router: it is kept, and there is nothing to make again.

// CHECK-LABEL: nn.function @layer.f(
// CHECK: nn.return %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NOT: nn.function @layer.r
// CHECK: nn.derivative @layer forward @layer.f
// CHECK-NOT: recompute
pp.parameter @scale trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @v trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @m(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "scaled" @scaled(%x) parameters [@scale] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = pp.layer "layer" @layer(%0) parameters [@w, @v] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<4x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @scaled(%x: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.mul %x, %s : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
nn.function @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %v: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = nn.softmax %0 axis 1 : tensor<4x4xf32>
  %2 = nn.matmul %1, %v : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  nn.return %2 : tensor<4x4xf32>
}
nn.function @sum(%x: tensor<4x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// The square has another user in F, and so is not fused into the exponential
// there; an nn.keep says so in R.

// CHECK-LABEL: nn.function @layer.f(
// CHECK: nn.function @layer.r(%[[M:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT: %[[S:.*]] = nn.mul %[[M]], %[[M]] : tensor<4x4xf32>
// CHECK-NEXT: nn.keep %[[S]] : tensor<4x4xf32>
// CHECK-NEXT: %[[E:.*]] = nn.exp %[[S]] : tensor<4x4xf32>
// CHECK-NEXT: nn.return %[[E]] : tensor<4x4xf32>
pp.parameter @scale trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @m(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "scaled" @scaled(%x) parameters [@scale] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = pp.layer "layer" @layer(%0) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<4x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @scaled(%x: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.mul %x, %s : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
nn.function @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %1 = nn.mul %0, %0 : tensor<4x4xf32>
  %2 = nn.exp %1 : tensor<4x4xf32>
  %3 = nn.add %1, %2 : tensor<4x4xf32>
  nn.return %3 : tensor<4x4xf32>
}
nn.function @sum(%x: tensor<4x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// To make the exponential again, the argument would have to be kept, which is
// as large.

// CHECK-LABEL: nn.function @layer.f(
// CHECK: nn.return %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xf32>
// CHECK-NOT: nn.function @layer.r
// CHECK: nn.derivative @layer forward @layer.f
// CHECK-NOT: recompute
pp.parameter @scale trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @m(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "scaled" @scaled(%x) parameters [@scale] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = pp.layer "layer" @layer(%0) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<4x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @scaled(%x: tensor<4x4xf32>, %s: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.mul %x, %s : tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
nn.function @layer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = nn.exp %x : tensor<4x4xf32>
  %1 = nn.matmul %0, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  nn.return %1 : tensor<4x4xf32>
}
nn.function @sum(%x: tensor<4x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<4x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
