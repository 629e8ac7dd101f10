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

// CHECK-LABEL: nn.function @moved_rows
nn.function @moved_rows(%x: tensor<8x16xbf16>, %places: tensor<8xi64>) -> (tensor<12x16xbf16>, tensor<12xi64>) {
  // CHECK: %[[ROWS:.*]] = nn.invert_indices %{{.*}} : tensor<8xi64> -> tensor<12xi64>
  %rows = nn.invert_indices %places : tensor<8xi64> -> tensor<12xi64>
  // CHECK: nn.permute_rows %{{.*}}, %[[ROWS]], %{{.*}} : tensor<8x16xbf16>, tensor<12xi64>, tensor<8xi64> -> tensor<12x16xbf16>
  %0 = nn.permute_rows %x, %rows, %places : tensor<8x16xbf16>, tensor<12xi64>, tensor<8xi64> -> tensor<12x16xbf16>
  // CHECK: nn.permute_rows %{{.*}}, %[[ROWS]], %{{.*}} : tensor<8xi64>, tensor<12xi64>, tensor<8xi64> -> tensor<12xi64>
  %1 = nn.permute_rows %places, %rows, %places : tensor<8xi64>, tensor<12xi64>, tensor<8xi64> -> tensor<12xi64>
  nn.return %0, %1 : tensor<12x16xbf16>, tensor<12xi64>
}
