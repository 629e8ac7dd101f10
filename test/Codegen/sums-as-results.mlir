// RUN: pp-opt %s --pp-bufferize-cpu | FileCheck %s

// Sums of the same shape begin with zeros of their own, each in its buffer: one
// was computed in the other's, and overwritten before it was copied.

// CHECK-LABEL: func.func @layer.sums(
// CHECK-SAME: %[[X:[^:]*]]: memref<2x8xf32>
// CHECK-SAME: %[[Y:[^:]*]]: memref<2x8xf32>
// CHECK-SAME: %[[FIRST:[^:]*]]: memref<8xf32>
// CHECK-SAME: %[[SECOND:[^:]*]]: memref<8xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[FIRST]] :
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : {{.*}}) outs(%[[SECOND]] :
// CHECK-NOT: memref.copy
nn.function @sums(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = nn.reduce sum %x axes [0] : tensor<2x8xf32> -> tensor<8xf32>
  %1 = nn.reduce sum %y axes [0] : tensor<2x8xf32> -> tensor<8xf32>
  nn.return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
