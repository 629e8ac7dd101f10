// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s
// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg,pp-fuse-elementwise))' | FileCheck %s --check-prefix=FUSED

// Windows are a way to read the image: what reorders them reads it at once.

// CHECK-DAG: #[[$WINDOW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3 * 2 + d2)>
// FUSED-DAG: #[[$FRONT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3 * 2 + d1)>

// CHECK-LABEL: func.func @layer.columns
// CHECK: linalg.generic {indexing_maps = [#[[$WINDOW]],
// FUSED-LABEL: func.func @layer.columns
// FUSED: linalg.generic {indexing_maps = [#[[$FRONT]],
// FUSED-NOT: linalg.generic
// FUSED: return
nn.function @columns(%x: tensor<2x3x8xf32>) -> tensor<3x2x2x4xf32> {
  %0 = nn.im2col %x strides [2] dilations [1] : tensor<2x3x8xf32> -> tensor<2x3x2x4xf32>
  %1 = nn.transpose %0 [1, 2, 0, 3] : tensor<2x3x2x4xf32> -> tensor<3x2x2x4xf32>
  nn.return %1 : tensor<3x2x2x4xf32>
}

// Zeros, then additions in the order of the windows.

// CHECK-LABEL: func.func @layer.sum
// CHECK-SAME:    %[[RESULT:[^:]*]]: memref<2x3x8xf32>
nn.function @sum(%x: tensor<2x3x2x4xf32>) -> tensor<2x3x8xf32> {
  // CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[RESULT]]
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[RESULT]]
  %0 = nn.col2im %x strides [2] dilations [1] : tensor<2x3x2x4xf32> -> tensor<2x3x8xf32>
  nn.return %0 : tensor<2x3x8xf32>
}

// The window that is the whole image needs no code.

// CHECK-LABEL: func.func @layer.whole
// CHECK: tensor.expand_shape %{{.*}} : tensor<2x3x8xf32> into tensor<2x3x8x1xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
nn.function @whole(%x: tensor<2x3x8xf32>) -> tensor<2x3x8x1xf32> {
  %0 = nn.im2col %x strides [1] dilations [1] : tensor<2x3x8xf32> -> tensor<2x3x8x1xf32>
  nn.return %0 : tensor<2x3x8x1xf32>
}

// CHECK-LABEL: func.func @layer.sum_whole
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.for
// CHECK: tensor.collapse_shape %{{.*}} : tensor<2x3x8x1xf32> into tensor<2x3x8xf32>
// CHECK-NOT: linalg.generic
// CHECK-NOT: scf.for
// CHECK: return
nn.function @sum_whole(%x: tensor<2x3x8x1xf32>) -> tensor<2x3x8xf32> {
  %0 = nn.col2im %x strides [1] dilations [1] : tensor<2x3x8x1xf32> -> tensor<2x3x8xf32>
  nn.return %0 : tensor<2x3x8xf32>
}
