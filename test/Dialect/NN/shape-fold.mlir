// RUN: pp-opt %s --canonicalize --split-input-file | FileCheck %s

// CHECK-LABEL: nn.function @reshape_back(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @reshape_back(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  %1 = nn.reshape %0 : tensor<8xf32> -> tensor<2x4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %1 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: nn.function @reshape_twice(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @reshape_twice(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  // CHECK-NEXT: nn.reshape %[[X]] : tensor<2x4xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: nn.return
  %0 = nn.reshape %x : tensor<2x4xf32> -> tensor<8xf32>
  %1 = nn.reshape %0 : tensor<8xf32> -> tensor<4x2xf32>
  nn.return %1 : tensor<4x2xf32>
}

// -----

// CHECK-LABEL: nn.function @transpose_back(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @transpose_back(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = nn.transpose %0 [2, 0, 1] : tensor<3x4x2xf32> -> tensor<2x3x4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %1 : tensor<2x3x4xf32>
}

// -----

// CHECK-LABEL: nn.function @transpose_twice(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @transpose_twice(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK-NEXT: nn.transpose %[[X]] [2, 0, 1] : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: nn.return
  %0 = nn.transpose %x [1, 2, 0] : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %1 = nn.transpose %0 [1, 2, 0] : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  nn.return %1 : tensor<4x2x3xf32>
}

// -----

// CHECK-LABEL: nn.function @broadcast_twice(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @broadcast_twice(%x: tensor<1xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: nn.broadcast %[[X]] : tensor<1xf32> -> tensor<2x4xf32>
  // CHECK-NEXT: nn.return
  %0 = nn.broadcast %x : tensor<1xf32> -> tensor<4xf32>
  %1 = nn.broadcast %0 : tensor<4xf32> -> tensor<2x4xf32>
  nn.return %1 : tensor<2x4xf32>
}

// -----

// Each of these takes its operand as it is.

// CHECK-LABEL: nn.function @nothing_to_do(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @nothing_to_do(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.reshape %x : tensor<2x4xf32> -> tensor<2x4xf32>
  %1 = nn.transpose %0 [0, 1] : tensor<2x4xf32> -> tensor<2x4xf32>
  %2 = nn.broadcast %1 : tensor<2x4xf32> -> tensor<2x4xf32>
  %3 = nn.slice %2 offsets [0, 0] strides [1, 1] : tensor<2x4xf32> -> tensor<2x4xf32>
  %4 = nn.reverse %3 axes [] : tensor<2x4xf32>
  %5 = nn.pad %4 low [0, 0] high [0, 0] interior [0, 0] : tensor<2x4xf32> -> tensor<2x4xf32>
  %6 = nn.concat %5 axis 0 : tensor<2x4xf32> -> tensor<2x4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %6 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: nn.function @reverse_back(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @reverse_back(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.reverse %x axes [1] : tensor<2x4xf32>
  %1 = nn.reverse %0 axes [1] : tensor<2x4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %1 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: nn.function @splats_keep_their_value
nn.function @splats_keep_their_value() -> tensor<2x2xf32> {
  // CHECK-NEXT: %[[SPLAT:.*]] = nn.constant dense<5.000000e-01> : tensor<2x2xf32>
  // CHECK-NEXT: nn.return %[[SPLAT]]
  %0 = nn.constant dense<0.5> : tensor<f32>
  %1 = nn.broadcast %0 : tensor<f32> -> tensor<2x4xf32>
  %2 = nn.transpose %1 [1, 0] : tensor<2x4xf32> -> tensor<4x2xf32>
  %3 = nn.slice %2 offsets [0, 0] strides [2, 1] : tensor<4x2xf32> -> tensor<2x2xf32>
  %4 = nn.reverse %3 axes [0] : tensor<2x2xf32>
  nn.return %4 : tensor<2x2xf32>
}

// -----

// Elements that differ are left to --nn-fold, which has a limit of size.

// CHECK-LABEL: nn.function @dense_constant
nn.function @dense_constant() -> tensor<2xi64> {
  %0 = nn.constant dense<[[1, 2]]> : tensor<1x2xi64>
  // CHECK: nn.reshape
  %1 = nn.reshape %0 : tensor<1x2xi64> -> tensor<2xi64>
  nn.return %1 : tensor<2xi64>
}
