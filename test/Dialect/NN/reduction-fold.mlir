// RUN: pp-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: nn.function @no_axes(
// CHECK-SAME: %[[X:.*]]: tensor
nn.function @no_axes(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.reduce mean %x axes [] : tensor<4xf32> -> tensor<4xf32>
  // CHECK-NEXT: nn.return %[[X]]
  nn.return %0 : tensor<4xf32>
}
