// RUN: pp-opt %s --nn-differentiate | FileCheck %s

// W makes the windows again that B made of the gradient, which are many times as
// large.

// CHECK-LABEL: nn.function @back.b(
// CHECK-SAME: -> (tensor<2x4x5xf32>, tensor<2x3x7xf32>)
// CHECK: nn.im2col
// CHECK-LABEL: nn.function @back.w(
// CHECK: %[[WINDOWS:.*]] = nn.im2col %{{.*}} : tensor<2x3x7xf32> -> tensor<2x3x3x5xf32>
// CHECK: %[[FRONT:.*]] = nn.transpose %[[WINDOWS]] [1, 2, 0, 3]
// CHECK: %[[COLUMNS:.*]] = nn.reshape %[[FRONT]] : tensor<3x3x2x5xf32> -> tensor<9x10xf32>
// CHECK: nn.matmul %{{.*}}, %[[COLUMNS]] transpose_rhs : tensor<4x10xf32>, tensor<9x10xf32> -> tensor<4x9xf32>
pp.parameter @w0 trainable : tensor<4x9xf32> = dense<1.0> : tensor<4x9xf32>
pp.parameter @b0 trainable : tensor<2x4x5xf32> = dense<1.0> : tensor<2x4x5xf32>
pp.model @convolution(%x: tensor<2x4x5xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "add" @add(%x) parameters [@b0] : (tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %1 = pp.layer "back" @back(%0) parameters [@w0] : (tensor<2x4x5xf32>) -> tensor<f32>
  pp.return outputs [] loss %1, %1 : tensor<f32>, tensor<f32>
}
nn.function @add(%x: tensor<2x4x5xf32>, %b: tensor<2x4x5xf32>) -> tensor<2x4x5xf32> {
  %0 = nn.add %x, %b : tensor<2x4x5xf32>
  nn.return %0 : tensor<2x4x5xf32>
}
nn.function @back(%x: tensor<2x4x5xf32>, %w: tensor<4x9xf32>) -> tensor<f32> {
  %0 = nn.transpose %x [1, 0, 2] : tensor<2x4x5xf32> -> tensor<4x2x5xf32>
  %1 = nn.reshape %0 : tensor<4x2x5xf32> -> tensor<4x10xf32>
  %2 = nn.matmul %w, %1 transpose_lhs : tensor<4x9xf32>, tensor<4x10xf32> -> tensor<9x10xf32>
  %3 = nn.reshape %2 : tensor<9x10xf32> -> tensor<3x3x2x5xf32>
  %4 = nn.transpose %3 [2, 0, 1, 3] : tensor<3x3x2x5xf32> -> tensor<2x3x3x5xf32>
  %5 = nn.col2im %4 strides [1] dilations [1] : tensor<2x3x3x5xf32> -> tensor<2x3x7xf32>
  %6 = nn.tanh %5 : tensor<2x3x7xf32>
  %7 = nn.reduce sum %6 axes [0, 1, 2] : tensor<2x3x7xf32> -> tensor<f32>
  nn.return %7 : tensor<f32>
}
