// RUN: pp-opt %s --split-input-file --nn-differentiate | FileCheck %s --implicit-check-not=nn.transpose

// The gradients of a product are products of the same values with other flags;
// nothing is transposed in memory. Values are checked by the unit tests.

// CHECK-LABEL: pp.model @plain
// CHECK: nn.function @f.b(%[[W:.*]]: tensor<4x5xf32>, %[[DY:.*]]: tensor<3x5xf32>)
// CHECK: nn.matmul %[[DY]], %[[W]] transpose_rhs
// CHECK: nn.function @f.w(%[[X:.*]]: tensor<3x4xf32>, %[[DY:.*]]: tensor<3x5xf32>,
// CHECK: nn.matmul %[[X]], %[[DY]] transpose_lhs
pp.parameter @e.weight trainable : tensor<3x4xf32> = dense<0.0> : tensor<3x4xf32>
pp.parameter @w trainable : tensor<4x5xf32> = dense<0.0> : tensor<4x5xf32>
pp.model @plain(%x: tensor<3x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "e" @e(%x) parameters [@e.weight] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = pp.layer "f" @f(%0) parameters [@w] : (tensor<3x4xf32>) -> tensor<3x5xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<3x5xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @e(%x: tensor<3x4xf32>, %w: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.add %x, %w : tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}
nn.function @f(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = nn.matmul %x, %w : tensor<3x4xf32>, tensor<4x5xf32> -> tensor<3x5xf32>
  nn.return %0 : tensor<3x5xf32>
}
nn.function @sum(%x: tensor<3x5xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<3x5xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: pp.model @transposed_lhs
// CHECK: nn.function @f.b(%[[W:.*]]: tensor<4x5xf32>, %[[DY:.*]]: tensor<3x5xf32>)
// CHECK: nn.matmul %[[W]], %[[DY]] transpose_rhs
// CHECK: nn.function @f.w(%[[X:.*]]: tensor<4x3xf32>, %[[DY:.*]]: tensor<3x5xf32>,
// CHECK: nn.matmul %[[X]], %[[DY]] :
pp.parameter @e.weight trainable : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
pp.parameter @w trainable : tensor<4x5xf32> = dense<0.0> : tensor<4x5xf32>
pp.model @transposed_lhs(%x: tensor<4x3xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "e" @e(%x) parameters [@e.weight] : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = pp.layer "f" @f(%0) parameters [@w] : (tensor<4x3xf32>) -> tensor<3x5xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<3x5xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @e(%x: tensor<4x3xf32>, %w: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = nn.add %x, %w : tensor<4x3xf32>
  nn.return %0 : tensor<4x3xf32>
}
nn.function @f(%x: tensor<4x3xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %0 = nn.matmul %x, %w transpose_lhs : tensor<4x3xf32>, tensor<4x5xf32> -> tensor<3x5xf32>
  nn.return %0 : tensor<3x5xf32>
}
nn.function @sum(%x: tensor<3x5xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<3x5xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: pp.model @transposed_rhs
// CHECK: nn.function @f.b(%[[W:.*]]: tensor<5x4xf32>, %[[DY:.*]]: tensor<3x5xf32>)
// CHECK: nn.matmul %[[DY]], %[[W]] :
// CHECK: nn.function @f.w(%[[X:.*]]: tensor<3x4xf32>, %[[DY:.*]]: tensor<3x5xf32>,
// CHECK: nn.matmul %[[DY]], %[[X]] transpose_lhs
pp.parameter @e.weight trainable : tensor<3x4xf32> = dense<0.0> : tensor<3x4xf32>
pp.parameter @w trainable : tensor<5x4xf32> = dense<0.0> : tensor<5x4xf32>
pp.model @transposed_rhs(%x: tensor<3x4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "e" @e(%x) parameters [@e.weight] : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = pp.layer "f" @f(%0) parameters [@w] : (tensor<3x4xf32>) -> tensor<3x5xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<3x5xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @e(%x: tensor<3x4xf32>, %w: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = nn.add %x, %w : tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}
nn.function @f(%x: tensor<3x4xf32>, %w: tensor<5x4xf32>) -> tensor<3x5xf32> {
  %0 = nn.matmul %x, %w transpose_rhs : tensor<3x4xf32>, tensor<5x4xf32> -> tensor<3x5xf32>
  nn.return %0 : tensor<3x5xf32>
}
nn.function @sum(%x: tensor<3x5xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<3x5xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: pp.model @both_transposed
// CHECK: nn.function @f.b(%[[W:.*]]: tensor<5x4xf32>, %[[DY:.*]]: tensor<3x5xf32>)
// CHECK: nn.matmul %[[W]], %[[DY]] transpose_lhs transpose_rhs
// CHECK: nn.function @f.w(%[[X:.*]]: tensor<4x3xf32>, %[[DY:.*]]: tensor<3x5xf32>,
// CHECK: nn.matmul %[[DY]], %[[X]] transpose_lhs transpose_rhs
pp.parameter @e.weight trainable : tensor<4x3xf32> = dense<0.0> : tensor<4x3xf32>
pp.parameter @w trainable : tensor<5x4xf32> = dense<0.0> : tensor<5x4xf32>
pp.model @both_transposed(%x: tensor<4x3xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "e" @e(%x) parameters [@e.weight] : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = pp.layer "f" @f(%0) parameters [@w] : (tensor<4x3xf32>) -> tensor<3x5xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<3x5xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @e(%x: tensor<4x3xf32>, %w: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = nn.add %x, %w : tensor<4x3xf32>
  nn.return %0 : tensor<4x3xf32>
}
nn.function @f(%x: tensor<4x3xf32>, %w: tensor<5x4xf32>) -> tensor<3x5xf32> {
  %0 = nn.matmul %x, %w transpose_lhs transpose_rhs : tensor<4x3xf32>, tensor<5x4xf32> -> tensor<3x5xf32>
  nn.return %0 : tensor<3x5xf32>
}
nn.function @sum(%x: tensor<3x5xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<3x5xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
