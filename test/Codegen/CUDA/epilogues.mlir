// RUN: pp-opt %s --pp-bufferize-cuda | FileCheck %s

// What follows a product is one kernel in its way, which reads the product where
// a result will be, and needs no memory of its own. The other way casts the bias.

// CHECK-LABEL: func.func @layer.gelu(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4x6xbf16> {{[^%]*}}%[[W:[^:]*]]: memref<6x8xbf16> {{[^%]*}}%[[B:[^:]*]]: memref<8xf32> {{[^%]*}}%[[H:[^:]*]]: memref<4x8xbf16> {{[^%]*}}%[[G:[^:]*]]: memref<4x8xbf16> {{[^%]*}}%[[SPACE:[^:]*]]: memref<64xi8>
// CHECK: %[[ROOM:.*]] = memref.view %[[SPACE]]{{.*}} to memref<8xbf16>
// CHECK: scf.while
// CHECK:   call @pprtCudaChooseEpilogueBF16(
// CHECK: scf.if
// CHECK:   gpu.launch {{.*}} function(@[[CAST:elements_[0-9]]])
// CHECK:     vector.load %[[B]]
// CHECK:     vector.store %{{.*}}, %[[ROOM]]
// CHECK:   call @pprtCudaEpilogueBF16(
// CHECK-NOT: gpu.launch
// CHECK: } else {
// CHECK-NOT: gpu.launch
// CHECK:   %[[PRODUCT:.*]] = memref.reinterpret_cast %[[H]]
// CHECK:   call @pprtCudaMatmulBF16(%{{.*}}, %{{.*}}, %[[PRODUCT]],
// CHECK:   gpu.launch
// CHECK:     vector.load %[[H]]
// CHECK:     vector.load %[[B]]
// CHECK:     math.tanh
// CHECK:     vector.store %{{.*}}, %[[H]]
// CHECK:     vector.store
// CHECK-NOT: gpu.launch
// CHECK: scf.yield
// CHECK-NOT: gpu.launch
// CHECK: return
nn.function @gelu(%x: tensor<4x6xbf16>, %w: tensor<6x8xbf16>, %b: tensor<8xf32>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>) {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.cast %0 : tensor<4x8xf32> -> tensor<4x8xbf16>
  %2 = nn.matmul %x, %w : tensor<4x6xbf16>, tensor<6x8xbf16> -> tensor<4x8xbf16>
  %3 = nn.add %2, %1 : tensor<4x8xbf16>
  %4 = nn.gelu tanh %3 : tensor<4x8xbf16>
  nn.return %3, %4 : tensor<4x8xbf16>, tensor<4x8xbf16>
}
