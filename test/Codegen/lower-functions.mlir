// RUN: pp-opt %s --nn-lower-functions | FileCheck %s

// Arguments come first, then results; the body still works on tensors.

// CHECK-LABEL: func.func @layer.forward(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32> {llvm.align = 64 : i64, llvm.noalias},
// CHECK-SAME:    %[[Y:.*]]: memref<4xf32> {llvm.align = 64 : i64, llvm.noalias})
nn.function @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[TENSOR:.*]] = bufferization.to_tensor %[[X]] restrict :
  // CHECK: %[[RESULT:.*]] = nn.exp %[[TENSOR]]
  // CHECK: bufferization.materialize_in_destination %[[RESULT]] in restrict writable %[[Y]]
  %0 = nn.exp %x : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

// A sum onto an accumulator goes back to where the accumulator lives.

// CHECK-LABEL: func.func @layer.weight(
// CHECK-SAME:    %[[DY:.*]]: memref<4xf32> {{{.*}}}, %[[ACC:.*]]: memref<4xf32> {{{[^}]*}}})
nn.function @weight(%dy: tensor<4xf32>, %acc: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: bufferization.to_tensor %[[ACC]] restrict writable
  // CHECK: %[[SUM:.*]] = nn.accumulate
  // CHECK: bufferization.materialize_in_destination %[[SUM]] in restrict writable %[[ACC]]
  %0 = nn.accumulate %acc, %dy : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}

// An accumulator that is read again later cannot be overwritten.

// CHECK-LABEL: func.func @layer.read_again(
// CHECK-SAME:    memref<4xf32> {{{.*}}}, %{{.*}}: memref<4xf32> {{{.*}}}, %{{.*}}: memref<4xf32> {{{.*}}}, %{{.*}}: memref<4xf32>
nn.function @read_again(%dy: tensor<4xf32>, %acc: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = nn.accumulate %acc, %dy : tensor<4xf32>
  %1 = nn.exp %acc : tensor<4xf32>
  nn.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// What has no elements is not computed, read or written.

// CHECK-LABEL: func.func @layer.empty(
// CHECK-SAME:    %{{.*}}: memref<0xf32> {{{.*}}}, %{{.*}}: memref<0xf32>
nn.function @empty(%none: tensor<4x0x3xf32>) -> tensor<4x0x3xf32> {
  // CHECK-NOT: nn.exp
  // CHECK-NOT: bufferization
  // CHECK: return
  %0 = nn.exp %none : tensor<4x0x3xf32>
  nn.return %0 : tensor<4x0x3xf32>
}
