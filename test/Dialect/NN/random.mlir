// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @mask
nn.function @mask(%key: tensor<2xi64>) -> tensor<4x4xf32> {
  // CHECK: nn.dropout_mask %{{.*}} ratio 1.000000e-01 stream 3 : tensor<2xi64> -> tensor<4x4xf32>
  %0 = nn.dropout_mask %key ratio 0.1 stream 3 : tensor<2xi64> -> tensor<4x4xf32>
  nn.return %0 : tensor<4x4xf32>
}
