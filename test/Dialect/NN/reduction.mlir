// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @reductions
nn.function @reductions(%x: tensor<2x4x8xf32>) -> tensor<f32> {
  // CHECK: nn.reduce sum %{{.*}} axes [0, 2] : tensor<2x4x8xf32> -> tensor<4xf32>
  %0 = nn.reduce sum %x axes [0, 2] : tensor<2x4x8xf32> -> tensor<4xf32>
  // CHECK: nn.reduce mean %{{.*}} axes [] : tensor<4xf32> -> tensor<4xf32>
  %1 = nn.reduce mean %0 axes [] : tensor<4xf32> -> tensor<4xf32>
  // CHECK: nn.reduce max %{{.*}} axes [0] : tensor<4xf32> -> tensor<f32>
  %2 = nn.reduce max %1 axes [0] : tensor<4xf32> -> tensor<f32>
  // CHECK: nn.reduce min
  %3 = nn.reduce min %1 axes [0] : tensor<4xf32> -> tensor<f32>
  // CHECK: nn.reduce prod
  %4 = nn.reduce prod %1 axes [0] : tensor<4xf32> -> tensor<f32>
  nn.return %4 : tensor<f32>
}

// CHECK-LABEL: nn.function @order
nn.function @order(%x: tensor<2x4xf32>) -> tensor<2x2xi64> {
  // CHECK: nn.top_k %{{.*}} axis 1 : tensor<2x4xf32> -> tensor<2x3xi64>
  %0 = nn.top_k %x axis 1 : tensor<2x4xf32> -> tensor<2x3xi64>
  // CHECK: nn.top_k %{{.*}} axis 1 smallest : tensor<2x3xi64> -> tensor<2x2xi64>
  %1 = nn.top_k %0 axis 1 smallest : tensor<2x3xi64> -> tensor<2x2xi64>
  nn.return %1 : tensor<2x2xi64>
}

// CHECK-LABEL: nn.function @running_sums
nn.function @running_sums(%x: tensor<2x4xi64>) -> tensor<2x4xi64> {
  // CHECK: nn.cumulative_sum %{{.*}} axis 1 : tensor<2x4xi64>
  %0 = nn.cumulative_sum %x axis 1 : tensor<2x4xi64>
  // CHECK: nn.cumulative_sum %{{.*}} axis 0 exclusive reverse : tensor<2x4xi64>
  %1 = nn.cumulative_sum %0 axis 0 exclusive reverse : tensor<2x4xi64>
  nn.return %1 : tensor<2x4xi64>
}
