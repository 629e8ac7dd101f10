// RUN: pp-opt %s --nn-lower-functions --nn-to-library=target=cuda | FileCheck %s
// RUN: pp-opt %s --nn-lower-functions --nn-to-library | FileCheck %s --check-prefix=CPU

// The CPU's library has no epilogues.

// CPU-NOT: Epilogue
// CPU-NOT: scf

// A bias and GELU, with what GELU is of: both are results of the function. The
// runtime chooses between a call and a product with the ops, which are in the
// product's own shape and write to the same buffers. Numbers: rows, columns,
// summands, what follows, and which operands are transposed.

// CHECK-LABEL: func.func @layer.gelu(
// CHECK-SAME:    %[[X:[^:]*]]: memref<4x6xf32> {{[^%]*}}%[[W:[^:]*]]: memref<8x6xf32> {{[^%]*}}%[[B:[^:]*]]: memref<8xf32> {{[^%]*}}%[[H:[^:]*]]: memref<4x8xf32> {{[^%]*}}%[[G:[^:]*]]: memref<2x2x8xf32>
// CHECK: %[[ROWS:.*]] = memref.reinterpret_cast %[[G]] to offset: [0], sizes: [4, 8]
// CHECK: %[[BIAS:.*]] = bufferization.to_buffer %{{.*}} read_only : tensor<8xf32>
// CHECK: scf.while : () -> i32 {
// CHECK:   %[[RESULT:.*]] = memref.reinterpret_cast %[[G]]
// CHECK:   %[[M:.*]] = arith.constant 4 : i64
// CHECK:   %[[N:.*]] = arith.constant 8 : i64
// CHECK:   %[[K:.*]] = arith.constant 6 : i64
// CHECK:   %[[PARTS:.*]] = arith.constant 11 : i64
// CHECK:   %[[LEFT:.*]] = arith.constant 0 : i32
// CHECK:   %[[RIGHT:.*]] = arith.constant 1 : i32
// CHECK:   %[[WAY:.*]] = func.call @pprtCudaChooseEpilogueF32(%{{.*}}, %{{.*}}, %[[RESULT]], %[[M]], %[[N]], %[[K]], %[[PARTS]], %[[LEFT]], %[[RIGHT]])
// CHECK:   %[[NONE:.*]] = arith.constant 0 : i32
// CHECK:   %[[ANY:.*]] = arith.cmpi ne, %[[WAY]], %[[NONE]]
// CHECK:   scf.condition(%[[ANY]]) %[[WAY]] : i32
// CHECK: } do {
// CHECK: ^bb0(%[[CHOSEN:.*]]: i32):
// CHECK:   %[[ONE:.*]] = arith.constant 1 : i32
// CHECK:   %[[LIBRARY:.*]] = arith.cmpi eq, %[[CHOSEN]], %[[ONE]]
// CHECK:   scf.if %[[LIBRARY]] {
// CHECK:     %[[RESULT:.*]] = memref.reinterpret_cast %[[G]]
// CHECK:     %[[VECTOR:.*]] = memref.reinterpret_cast %[[BIAS]]
// CHECK:     %[[KEPT:.*]] = memref.reinterpret_cast %[[H]]
// CHECK:     func.call @pprtCudaEpilogueF32(%{{.*}}, %{{.*}}, %[[RESULT]], %[[VECTOR]], %[[KEPT]],
// CHECK:   } else {
// CHECK:     %[[RESULT:.*]] = memref.reinterpret_cast %[[H]]
// CHECK:     func.call @pprtCudaMatmulF32(%{{.*}}, %{{.*}}, %[[RESULT]],
// CHECK:     %[[PRODUCT:.*]] = bufferization.to_tensor %[[H]]
// CHECK:     %[[REPEATED:.*]] = nn.broadcast
// CHECK:     %[[SUM:.*]] = nn.add %[[PRODUCT]], %[[REPEATED]] : tensor<4x8xf32>
// CHECK:     bufferization.materialize_in_destination %[[SUM]] in restrict writable %[[H]]
// CHECK:     %[[GELU:.*]] = nn.gelu tanh %[[SUM]] : tensor<4x8xf32>
// CHECK:     bufferization.materialize_in_destination %[[GELU]] in restrict writable %[[ROWS]]
// CHECK:   }
// CHECK: }
// CHECK-NOT: nn.add
// CHECK: return
nn.function @gelu(%x: tensor<4x6xf32>, %w: tensor<8x6xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<2x2x8xf32>) {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w transpose_rhs : tensor<4x6xf32>, tensor<8x6xf32> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  %3 = nn.reshape %2 : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %4 = nn.gelu tanh %3 : tensor<2x2x8xf32>
  nn.return %2, %4 : tensor<4x8xf32>, tensor<2x2x8xf32>
}

// The library wants a bias of the result's type. The next product reads GELU
// from memory, and nobody what it is of.

// CHECK-LABEL: func.func @layer.cast_bias(
// CHECK: %[[G:.*]] = memref.alloc() : memref<4x6xbf16>
// CHECK: arith.constant 9 : i64
// CHECK: call @pprtCudaChooseEpilogueBF16
// CHECK: scf.if
// CHECK:   %[[ROOM:.*]] = memref.alloc() : memref<6xbf16>
// CHECK:   %[[NARROW:.*]] = nn.cast %{{.*}} : tensor<6xf32> -> tensor<6xbf16>
// CHECK:   bufferization.materialize_in_destination %[[NARROW]] in restrict writable %[[ROOM]]
// CHECK:   %[[BIAS:.*]] = memref.reinterpret_cast %[[ROOM]]
// CHECK:   func.call @pprtCudaEpilogueBF16(%{{.*}}, %{{.*}}, %{{.*}}, %[[BIAS]],
// CHECK: } else {
// CHECK:   func.call @pprtCudaMatmulBF16(
// CHECK:   %[[REPEATED:.*]] = nn.broadcast %{{.*}} : tensor<6xf32> -> tensor<4x6xf32>
// CHECK:   %[[NARROW:.*]] = nn.cast %[[REPEATED]] : tensor<4x6xf32> -> tensor<4x6xbf16>
// CHECK:   %[[SUM:.*]] = nn.add %{{.*}}, %[[NARROW]]
// CHECK:   nn.gelu tanh %[[SUM]]
// CHECK: }
// CHECK: call @pprtCudaMatmulBF16(
nn.function @cast_bias(%x: tensor<4x6xbf16>, %w: tensor<6x6xbf16>, %b: tensor<6xf32>) -> tensor<4x6xbf16> {
  %0 = nn.broadcast %b : tensor<6xf32> -> tensor<4x6xf32>
  %1 = nn.cast %0 : tensor<4x6xf32> -> tensor<4x6xbf16>
  %2 = nn.matmul %x, %w : tensor<4x6xbf16>, tensor<6x6xbf16> -> tensor<4x6xbf16>
  %3 = nn.add %1, %2 : tensor<4x6xbf16>
  %4 = nn.gelu tanh %3 : tensor<4x6xbf16>
  %5 = nn.matmul %4, %w : tensor<4x6xbf16>, tensor<6x6xbf16> -> tensor<4x6xbf16>
  nn.return %5 : tensor<4x6xbf16>
}

// A bias alone, and ReLU.

// CHECK-LABEL: func.func @layer.bias_and_relu(
// CHECK: arith.constant 1 : i64
// CHECK: call @pprtCudaChooseEpilogueF16
// CHECK: call @pprtCudaEpilogueF16
// CHECK: scf.while
// CHECK: arith.constant 5 : i64
// CHECK: call @pprtCudaChooseEpilogueF16
// CHECK: call @pprtCudaEpilogueF16
// CHECK: nn.relu
nn.function @bias_and_relu(%x: tensor<4x6xf16>, %w: tensor<6x6xf16>, %b: tensor<6xf16>) -> (tensor<4x6xf16>, tensor<4x6xf16>) {
  %0 = nn.broadcast %b : tensor<6xf16> -> tensor<4x6xf16>
  %1 = nn.matmul %x, %w : tensor<4x6xf16>, tensor<6x6xf16> -> tensor<4x6xf16>
  %2 = nn.add %1, %0 : tensor<4x6xf16>
  %3 = nn.matmul %2, %w : tensor<4x6xf16>, tensor<6x6xf16> -> tensor<4x6xf16>
  %4 = nn.add %3, %0 : tensor<4x6xf16>
  %5 = nn.relu %4 : tensor<4x6xf16>
  nn.return %2, %5 : tensor<4x6xf16>, tensor<4x6xf16>
}

// The gradient of GELU, as differentiation spells it out: the library reads
// what GELU was of.

// CHECK-LABEL: func.func @layer.gelu_gradient(
// CHECK-SAME:    %{{[^:]*}}: memref<4x6xf32> {{[^%]*}}%{{[^:]*}}: memref<6x8xf32> {{[^%]*}}%[[X:[^:]*]]: memref<4x8xf32>
// CHECK: %[[TENSOR:.*]] = bufferization.to_tensor %[[X]]
// CHECK-NOT: nn.tanh
// CHECK: %[[AT:.*]] = bufferization.to_buffer %[[TENSOR]] read_only
// CHECK: arith.constant 16 : i64
// CHECK: call @pprtCudaChooseEpilogueF32
// CHECK: scf.if
// CHECK:   %[[ANY:.*]] = memref.reinterpret_cast %[[AT]]
// CHECK:   call @pprtCudaEpilogueF32(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[ANY]],
// CHECK: } else {
// CHECK:   %[[PRODUCT:.*]] = bufferization.to_tensor
// CHECK:   nn.tanh %{{.*}} : tensor<4x8xf32>
// CHECK:   %[[RESULT:.*]] = nn.mul %[[PRODUCT]], %{{.*}}
// CHECK:   bufferization.materialize_in_destination %[[RESULT]]
// CHECK: }
// CHECK-NOT: nn.mul
// CHECK: return
nn.function @gelu_gradient(%dy: tensor<4x6xf32>, %w: tensor<6x8xf32>, %x: tensor<4x8xf32>) -> tensor<2x2x8xf32> {
  %half = nn.constant dense<0.5> : tensor<2x2x8xf32>
  %one = nn.constant dense<1.0> : tensor<2x2x8xf32>
  %root = nn.constant dense<0.797884583> : tensor<2x2x8xf32>
  %cubic = nn.constant dense<4.471500e-02> : tensor<2x2x8xf32>
  %thrice = nn.constant dense<1.341450e-01> : tensor<2x2x8xf32>
  %0 = nn.matmul %dy, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %1 = nn.reshape %0 : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %2 = nn.reshape %x : tensor<4x8xf32> -> tensor<2x2x8xf32>
  %square = nn.mul %2, %2 : tensor<2x2x8xf32>
  %4 = nn.mul %2, %root : tensor<2x2x8xf32>
  %5 = nn.mul %square, %cubic : tensor<2x2x8xf32>
  %6 = nn.add %5, %one : tensor<2x2x8xf32>
  %7 = nn.mul %4, %6 : tensor<2x2x8xf32>
  %t = nn.tanh %7 : tensor<2x2x8xf32>
  %9 = nn.mul %square, %thrice : tensor<2x2x8xf32>
  %10 = nn.add %9, %one : tensor<2x2x8xf32>
  %11 = nn.mul %10, %root : tensor<2x2x8xf32>
  %12 = nn.mul %t, %t : tensor<2x2x8xf32>
  %13 = nn.sub %one, %12 : tensor<2x2x8xf32>
  %14 = nn.mul %13, %11 : tensor<2x2x8xf32>
  %15 = nn.mul %2, %14 : tensor<2x2x8xf32>
  %16 = nn.add %t, %one : tensor<2x2x8xf32>
  %17 = nn.add %16, %15 : tensor<2x2x8xf32>
  %18 = nn.mul %17, %half : tensor<2x2x8xf32>
  %19 = nn.mul %18, %1 : tensor<2x2x8xf32>
  nn.return %19 : tensor<2x2x8xf32>
}

// The gradient of a bias beside that of weights: the library has no sum to add
// to, so that its own is added to the accumulator; it adds the product.

// CHECK-LABEL: func.func @layer.bias_gradient(
// CHECK-SAME:    %{{[^:]*}}: memref<4x6xbf16> {{[^%]*}}%{{[^:]*}}: memref<4x8xbf16> {{[^%]*}}%[[DW:[^:]*]]: memref<6x8xf32> {{[^%]*}}%[[DB:[^:]*]]: memref<8xf32>
// CHECK-NOT: nn.reduce
// CHECK: scf.while
// CHECK:   arith.constant 64 : i64
// CHECK:   call @pprtCudaChooseEpilogueBF16F32
// CHECK: scf.if
// CHECK:   %[[ROOM:.*]] = memref.alloc() : memref<8xf32>
// CHECK:   %[[RESULT:.*]] = memref.reinterpret_cast %[[DW]]
// CHECK:   %[[SUMS:.*]] = memref.reinterpret_cast %[[ROOM]]
// CHECK:   arith.constant 1 : i32
// CHECK-NEXT: arith.constant 0 : i32
// CHECK-NEXT: %[[ADD:.*]] = arith.constant 1 : i32
// CHECK-NEXT: func.call @pprtCudaEpilogueBF16F32(%{{[^,]*}}, %{{[^,]*}}, %[[RESULT]], %[[SUMS]], {{.*}}, %[[ADD]])
// CHECK:   %[[OWN:.*]] = bufferization.to_tensor %[[ROOM]]
// CHECK:   %[[BEFORE:.*]] = bufferization.to_tensor %[[DB]] restrict writable
// CHECK:   %[[AFTER:.*]] = nn.accumulate %[[BEFORE]], %[[OWN]]
// CHECK:   bufferization.materialize_in_destination %[[AFTER]] in restrict writable %[[DB]]
// CHECK: } else {
// CHECK:   func.call @pprtCudaMatmulBF16F32(
// CHECK:   %[[WIDE:.*]] = nn.cast
// CHECK:   %[[SUM:.*]] = nn.reduce sum %[[WIDE]] axes [0]
// CHECK:   %[[BEFORE:.*]] = bufferization.to_tensor %[[DB]] restrict writable
// CHECK:   %[[AFTER:.*]] = nn.accumulate %[[BEFORE]], %[[SUM]]
// CHECK:   bufferization.materialize_in_destination %[[AFTER]] in restrict writable %[[DB]]
// CHECK: }
// CHECK-NOT: nn.reduce
// CHECK: return
nn.function @bias_gradient(%x: tensor<4x6xbf16>, %dy: tensor<4x8xbf16>, %dw: tensor<6x8xf32>, %db: tensor<8xf32>) -> (tensor<8xf32>, tensor<6x8xf32>) {
  %0 = nn.cast %dy : tensor<4x8xbf16> -> tensor<4x8xf32>
  %1 = nn.reduce sum %0 axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  %2 = nn.accumulate %db, %1 : tensor<8xf32>
  %3 = nn.matmul %x, %dy transpose_lhs : tensor<4x6xbf16>, tensor<4x8xbf16> -> tensor<6x8xf32>
  %4 = nn.accumulate %dw, %3 : tensor<6x8xf32>
  nn.return %2, %4 : tensor<8xf32>, tensor<6x8xf32>
}

// Weights that are stored across, and no accumulators.

// CHECK-LABEL: func.func @layer.first_bias_gradient(
// CHECK-SAME:    %[[DW:[^:]*]]: memref<8x6xf32> {{[^%]*}}%[[DB:[^:]*]]: memref<8xf32>
// CHECK: arith.constant 32 : i64
// CHECK: call @pprtCudaChooseEpilogueF32
// CHECK: scf.if
// CHECK-NOT: memref.alloc
// CHECK:   %[[SUMS:.*]] = memref.reinterpret_cast %[[DB]]
// CHECK:   arith.constant 1 : i32
// CHECK-NEXT: arith.constant 0 : i32
// CHECK-NEXT: %[[ADD:.*]] = arith.constant 0 : i32
// CHECK-NEXT: func.call @pprtCudaEpilogueF32(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[SUMS]], {{.*}}, %[[ADD]])
// CHECK-NOT: nn.accumulate
// CHECK: return
nn.function @first_bias_gradient(%x: tensor<4x6xf32>, %dy: tensor<4x8xf32>) -> (tensor<8x6xf32>, tensor<8xf32>) {
  %0 = nn.matmul %dy, %x transpose_lhs : tensor<4x8xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %1 = nn.reduce sum %dy axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  nn.return %0, %1 : tensor<8x6xf32>, tensor<8xf32>
}

// All that follows stays as it is.

// CHECK-NOT: Epilogue

// Another factor than that gradient.

// CHECK-LABEL: func.func @layer.other_factor(
// CHECK: call @pprtCudaMatmulF32
// CHECK: nn.tanh
nn.function @other_factor(%dy: tensor<4x6xf32>, %w: tensor<6x8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = nn.constant dense<1.0> : tensor<4x8xf32>
  %0 = nn.matmul %dy, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %t = nn.tanh %x : tensor<4x8xf32>
  %1 = nn.mul %t, %t : tensor<4x8xf32>
  %2 = nn.sub %one, %1 : tensor<4x8xf32>
  %3 = nn.mul %0, %2 : tensor<4x8xf32>
  nn.return %3 : tensor<4x8xf32>
}

// GELU by erf.

// CHECK-LABEL: func.func @layer.erf(
nn.function @erf(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  %3 = nn.gelu erf %2 : tensor<4x8xf32>
  nn.return %3 : tensor<4x8xf32>
}

// The product is a result, too.

// CHECK-LABEL: func.func @layer.product_is_kept(
nn.function @product_is_kept(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  %3 = nn.gelu tanh %2 : tensor<4x8xf32>
  nn.return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// A kernel adds the bias together with what comes next.

// CHECK-LABEL: func.func @layer.residual(
nn.function @residual(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>, %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  %3 = nn.add %2, %r : tensor<4x8xf32>
  nn.return %3 : tensor<4x8xf32>
}

// ReLU of the library does not keep what it is of.

// CHECK-LABEL: func.func @layer.relu_keeps(
nn.function @relu_keeps(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  %3 = nn.relu %2 : tensor<4x8xf32>
  nn.return %2, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Each row, not each column, has its own number.

// CHECK-LABEL: func.func @layer.bias_of_rows(
nn.function @bias_of_rows(%x: tensor<4x6xf32>, %w: tensor<6x8xf32>, %b: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %0 = nn.broadcast %b : tensor<4x1xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x8xf32> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  nn.return %2 : tensor<4x8xf32>
}

// Sums of 16-bit floats that are not rounded, f64, several matrices, and what
// GELU is of in rows of no multiple of 8.

// CHECK-LABEL: func.func @layer.wide(
nn.function @wide(%x: tensor<4x6xbf16>, %w: tensor<6x8xbf16>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.matmul %x, %w : tensor<4x6xbf16>, tensor<6x8xbf16> -> tensor<4x8xf32>
  %2 = nn.add %1, %0 : tensor<4x8xf32>
  nn.return %2 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @layer.f64(
nn.function @f64(%x: tensor<4x6xf64>, %w: tensor<6x8xf64>) -> tensor<4x8xf64> {
  %0 = nn.matmul %x, %w : tensor<4x6xf64>, tensor<6x8xf64> -> tensor<4x8xf64>
  %1 = nn.relu %0 : tensor<4x8xf64>
  nn.return %1 : tensor<4x8xf64>
}

// CHECK-LABEL: func.func @layer.matrices(
nn.function @matrices(%x: tensor<3x4x6xf32>, %w: tensor<3x6x8xf32>) -> tensor<3x4x8xf32> {
  %0 = nn.matmul %x, %w : tensor<3x4x6xf32>, tensor<3x6x8xf32> -> tensor<3x4x8xf32>
  %1 = nn.relu %0 : tensor<3x4x8xf32>
  nn.return %1 : tensor<3x4x8xf32>
}

// CHECK-LABEL: func.func @layer.short_rows(
nn.function @short_rows(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
  %1 = nn.gelu tanh %0 : tensor<4x6xf32>
  nn.return %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
}

// Another kernel reads what is summed, and may sum it, too.

// CHECK-LABEL: func.func @layer.other_sum(
nn.function @other_sum(%x: tensor<4x6xf32>, %dy: tensor<4x8xf32>) -> (tensor<6x8xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %dy transpose_lhs : tensor<4x6xf32>, tensor<4x8xf32> -> tensor<6x8xf32>
  %1 = nn.reduce sum %dy axes [0] : tensor<4x8xf32> -> tensor<8xf32>
  %2 = nn.tanh %dy : tensor<4x8xf32>
  nn.return %0, %1, %2 : tensor<6x8xf32>, tensor<8xf32>, tensor<4x8xf32>
}

// Sums that are not over the product's terms.

// CHECK-LABEL: func.func @layer.other_axis(
nn.function @other_axis(%x: tensor<4x6xf32>, %dy: tensor<4x8xf32>) -> (tensor<6x8xf32>, tensor<4xf32>) {
  %0 = nn.matmul %x, %dy transpose_lhs : tensor<4x6xf32>, tensor<4x8xf32> -> tensor<6x8xf32>
  %1 = nn.reduce sum %dy axes [1] : tensor<4x8xf32> -> tensor<4xf32>
  nn.return %0, %1 : tensor<6x8xf32>, tensor<4xf32>
}
