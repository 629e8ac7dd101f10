// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// The vectorizer may choose the order of a sum.

// CHECK-LABEL: func.func @layer.mean
nn.function @mean(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
  // CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<reassoc,contract>
  // CHECK: arith.divf
  %0 = nn.reduce mean %x axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @layer.max
nn.function @max(%x: tensor<8xi32>) -> tensor<i32> {
  // CHECK: arith.constant -2147483648 : i32
  // CHECK: arith.maxsi
  %0 = nn.reduce max %x axes [0] : tensor<8xi32> -> tensor<i32>
  nn.return %0 : tensor<i32>
}

// CHECK-LABEL: func.func @layer.cumulative_sum
nn.function @cumulative_sum(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (f32)
  // CHECK: %[[AFTER:.*]] = arith.addf %[[BEFORE]]
  // CHECK: memref.store %[[BEFORE]]
  // CHECK: scf.yield %[[AFTER]]
  %0 = nn.cumulative_sum %x axis 1 exclusive : tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}

// Sums of 16-bit floats are of f32 and rounded once.

// CHECK-LABEL: func.func @layer.narrow(
nn.function @narrow(%x: tensor<2x8xbf16>) -> tensor<2xbf16> {
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x8xbf16>) outs(%{{.*}} : tensor<2xf32>)
  // CHECK: arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.addf %{{.*}} : f32
  // CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2xf32>) outs(%{{.*}} : tensor<2xbf16>)
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  %0 = nn.reduce sum %x axes [1] : tensor<2x8xbf16> -> tensor<2xbf16>
  nn.return %0 : tensor<2xbf16>
}

// Axes of one element behind the reduced ones do not make columns of rows.

// CHECK-LABEL: func.func @layer.rows(
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]{{.*}} ins(%{{.*}} : tensor<4x8xf32>)
nn.function @rows(%x: tensor<4x8x1x1xf32>) -> tensor<4x1x1xf32> {
  %0 = nn.reduce max %x axes [1] : tensor<4x8x1x1xf32> -> tensor<4x1x1xf32>
  nn.return %0 : tensor<4x1x1xf32>
}
