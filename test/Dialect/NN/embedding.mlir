// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @look_up_and_back
nn.function @look_up_and_back(%table: tensor<256x64xf32>, %ids: tensor<2x8xi64>) -> tensor<256x64xf32> {
  // CHECK: %[[ROWS:.*]] = nn.gather %{{.*}}, %{{.*}} axis 0 : tensor<256x64xf32>, tensor<2x8xi64> -> tensor<2x8x64xf32>
  %0 = nn.gather %table, %ids axis 0 : tensor<256x64xf32>, tensor<2x8xi64> -> tensor<2x8x64xf32>
  // CHECK: nn.scatter_add %[[ROWS]], %{{.*}} axis 0 : tensor<2x8x64xf32>, tensor<2x8xi64> -> tensor<256x64xf32>
  %1 = nn.scatter_add %0, %ids axis 0 : tensor<2x8x64xf32>, tensor<2x8xi64> -> tensor<256x64xf32>
  nn.return %1 : tensor<256x64xf32>
}

// One index drops the axis.
// CHECK-LABEL: nn.function @one_column
nn.function @one_column(%table: tensor<2x8x3xi1>, %id: tensor<i32>) -> tensor<2x3xi1> {
  // CHECK: nn.gather %{{.*}}, %{{.*}} axis 1 : tensor<2x8x3xi1>, tensor<i32> -> tensor<2x3xi1>
  %0 = nn.gather %table, %id axis 1 : tensor<2x8x3xi1>, tensor<i32> -> tensor<2x3xi1>
  nn.return %0 : tensor<2x3xi1>
}
