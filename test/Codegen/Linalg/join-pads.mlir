// RUN: pp-opt %s --nn-to-linalg | FileCheck %s

// The gradients of three slices of a whole are put beside each other, in
// whatever order they are added.

// CHECK-LABEL: func.func @whole
// CHECK-SAME:    %[[Q:.*]]: tensor<2x4xf32>, %[[K:.*]]: tensor<2x3xf32>, %[[V:.*]]: tensor<2x2xf32>
func.func @whole(%q: tensor<2x4xf32>, %k: tensor<2x3xf32>, %v: tensor<2x2xf32>) -> tensor<2x9xf32> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty
  // CHECK: %[[A:.*]] = tensor.insert_slice %[[Q]] into %[[EMPTY]][0, 0] [2, 4]
  // CHECK: %[[B:.*]] = tensor.insert_slice %[[K]] into %[[A]][0, 4] [2, 3]
  // CHECK: %[[C:.*]] = tensor.insert_slice %[[V]] into %[[B]][0, 7] [2, 2]
  // CHECK-NOT: linalg
  // CHECK: return %[[C]]
  %0 = nn.pad %v low [0, 7] high [0, 0] interior [0, 0] : tensor<2x2xf32> -> tensor<2x9xf32>
  %1 = nn.pad %k low [0, 4] high [0, 2] interior [0, 0] : tensor<2x3xf32> -> tensor<2x9xf32>
  %2 = nn.add %0, %1 : tensor<2x9xf32>
  %3 = nn.pad %q low [0, 0] high [0, 5] interior [0, 0] : tensor<2x4xf32> -> tensor<2x9xf32>
  %4 = nn.add %2, %3 : tensor<2x9xf32>
  return %4 : tensor<2x9xf32>
}

// Slices that meet are added, and so are those that leave something out.

// CHECK-LABEL: func.func @overlapping
func.func @overlapping(%q: tensor<5xf32>, %k: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: arith.addf
  %0 = nn.pad %q low [0] high [3] interior [0] : tensor<5xf32> -> tensor<8xf32>
  %1 = nn.pad %k low [4] high [0] interior [0] : tensor<4xf32> -> tensor<8xf32>
  %2 = nn.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func @gap
func.func @gap(%q: tensor<3xf32>, %k: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: arith.addf
  %0 = nn.pad %q low [0] high [5] interior [0] : tensor<3xf32> -> tensor<8xf32>
  %1 = nn.pad %k low [4] high [0] interior [0] : tensor<4xf32> -> tensor<8xf32>
  %2 = nn.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// CHECK-LABEL: func.func @spread
func.func @spread(%q: tensor<4xf32>, %k: tensor<1xf32>) -> tensor<8xf32> {
  // CHECK: arith.addf
  %0 = nn.pad %q low [0] high [1] interior [1] : tensor<4xf32> -> tensor<8xf32>
  %1 = nn.pad %k low [7] high [0] interior [0] : tensor<1xf32> -> tensor<8xf32>
  %2 = nn.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// What is padded with another number than zero is added.

// CHECK-LABEL: func.func @ones
func.func @ones(%q: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: arith.addf
  %0 = nn.pad %q low [0] high [4] interior [0] {value = 1.0 : f64} : tensor<4xf32> -> tensor<8xf32>
  %1 = nn.pad %k low [4] high [0] interior [0] : tensor<4xf32> -> tensor<8xf32>
  %2 = nn.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
