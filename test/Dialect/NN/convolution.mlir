// RUN: pp-opt %s | pp-opt | FileCheck %s
// RUN: pp-opt %s --mlir-print-op-generic | pp-opt | FileCheck %s

// CHECK-LABEL: nn.function @windows
nn.function @windows(%x: tensor<2x3x9x8xf32>) -> tensor<2x3x9x8xf32> {
  // CHECK: nn.im2col %{{.*}} strides [2, 1] dilations [1, 2] : tensor<2x3x9x8xf32> -> tensor<2x3x3x2x4x6xf32>
  %0 = nn.im2col %x strides [2, 1] dilations [1, 2] : tensor<2x3x9x8xf32> -> tensor<2x3x3x2x4x6xf32>
  // CHECK: nn.col2im %{{.*}} strides [2, 1] dilations [1, 2] : tensor<2x3x3x2x4x6xf32> -> tensor<2x3x9x8xf32>
  %1 = nn.col2im %0 strides [2, 1] dilations [1, 2] : tensor<2x3x3x2x4x6xf32> -> tensor<2x3x9x8xf32>
  nn.return %1 : tensor<2x3x9x8xf32>
}
