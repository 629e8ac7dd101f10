// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @products
nn.function @products(%x: tensor<8x16xf32>, %w: tensor<4x16x32xf32>, %v: tensor<4x16x32xbf16>, %e: tensor<8xi64>) -> tensor<8x16xf32> {
  // CHECK: nn.expert_matmul %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<8xi64> -> tensor<8x32xf32>
  %0 = nn.expert_matmul %x, %w, %e : tensor<8x16xf32>, tensor<4x16x32xf32>, tensor<8xi64> -> tensor<8x32xf32>
  %1 = nn.cast %0 : tensor<8x32xf32> -> tensor<8x32xbf16>
  // CHECK: nn.expert_matmul %{{.*}}, %{{.*}}, %{{.*}} transpose_weights : tensor<8x32xbf16>, tensor<4x16x32xbf16>, tensor<8xi64> -> tensor<8x16xf32>
  %2 = nn.expert_matmul %1, %v, %e transpose_weights : tensor<8x32xbf16>, tensor<4x16x32xbf16>, tensor<8xi64> -> tensor<8x16xf32>
  nn.return %2 : tensor<8x16xf32>
}

// CHECK-LABEL: nn.function @outer
nn.function @outer(%x: tensor<8x16xf32>, %dy: tensor<8x32xf32>, %e: tensor<8xi64>) -> tensor<4x16x32xf32> {
  // CHECK: nn.expert_outer %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x16xf32>, tensor<8x32xf32>, tensor<8xi64> -> tensor<4x16x32xf32>
  %0 = nn.expert_outer %x, %dy, %e : tensor<8x16xf32>, tensor<8x32xf32>, tensor<8xi64> -> tensor<4x16x32xf32>
  nn.return %0 : tensor<4x16x32xf32>
}
