// RUN: pp-opt %s --pp-bufferize-cuda | FileCheck %s
// RUN: pp-opt %s --pp-bufferize-cuda | FileCheck %s --check-prefix=TWICE

// Two sums of one kernel are two results, not one of them twice.

// CHECK-LABEL: func.func @layer.sums(
// CHECK: memref.store %{{[^ ]*}}, %arg2[
// CHECK: memref.store %{{[^ ]*}}, %arg3[

// Nothing follows the negative pattern, so that it sees the store.
// TWICE-LABEL: func.func @layer.sums(
// TWICE: memref.store %[[FIRST:[^ ]*]], %arg2[
// TWICE-NOT: memref.store %[[FIRST]], %arg3[
nn.function @sums(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = nn.reduce sum %x axes [0] : tensor<2x8xf32> -> tensor<8xf32>
  %1 = nn.reduce sum %y axes [0] : tensor<2x8xf32> -> tensor<8xf32>
  nn.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
