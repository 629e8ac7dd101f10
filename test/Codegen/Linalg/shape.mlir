// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// CHECK-DAG: #[[$SWAPPED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-LABEL: func.func @layer.moves
nn.function @moves(%x: tensor<4x8xf32>, %c: tensor<4x1xf32>) -> (tensor<8x4xf32>, tensor<4x8xf32>) {
  // CHECK: linalg.generic {indexing_maps = [#[[$SWAPPED]],
  // CHECK: linalg.generic {indexing_maps = [#[[$FIRST]],
  %0 = nn.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %1 = nn.broadcast %c : tensor<4x1xf32> -> tensor<4x8xf32>
  nn.return %0, %1 : tensor<8x4xf32>, tensor<4x8xf32>
}

// Shapes with nothing in common are both unrolled.

// CHECK-LABEL: func.func @layer.reshape
nn.function @reshape(%x: tensor<6x4xf32>) -> tensor<8x3xf32> {
  // CHECK: %[[FLAT:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  // CHECK: tensor.expand_shape %[[FLAT]]
  %0 = nn.reshape %x : tensor<6x4xf32> -> tensor<8x3xf32>
  nn.return %0 : tensor<8x3xf32>
}

// CHECK-LABEL: func.func @layer.pad
nn.function @pad(%x: tensor<3xf32>) -> tensor<8xf32> {
  // CHECK: %[[FILLED:.*]] = linalg.fill
  // CHECK: tensor.insert_slice %{{.*}} into %[[FILLED]][1] [3] [3]
  %0 = nn.pad %x low [1] high [0] interior [2] : tensor<3xf32> -> tensor<8xf32>
  nn.return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @layer.concat
nn.function @concat(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) -> tensor<2x7xf32> {
  // CHECK: %[[X:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [2, 3] [1, 1]
  // CHECK: tensor.insert_slice %{{.*}} into %[[X]][0, 3] [2, 4] [1, 1]
  %0 = nn.concat %x, %y axis 1 : tensor<2x3xf32>, tensor<2x4xf32> -> tensor<2x7xf32>
  nn.return %0 : tensor<2x7xf32>
}
