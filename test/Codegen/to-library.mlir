// RUN: pp-opt %s --nn-lower-functions --nn-to-library | FileCheck %s

// CHECK: func.func private @pprtCpuMatmulF32(

// A result is written where the caller wants it.

// CHECK-LABEL: func.func @layer.result(
// CHECK-SAME:    %[[A:[^:]*]]: memref<2x8xf32> {{[^%]*}}%[[B:[^:]*]]: memref<16x8xf32> {{[^%]*}}%[[C:[^:]*]]: memref<2x16xf32>
nn.function @result(%a: tensor<2x8xf32>, %b: tensor<16x8xf32>) -> tensor<2x16xf32> {
  // CHECK-NOT: memref.alloc
  // CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[C]]
  // CHECK: call @pprtCpuMatmulF32(%{{.*}}, %{{.*}}, %[[TARGET]],
  // CHECK-NOT: materialize_in_destination
  %0 = nn.matmul %a, %b transpose_rhs : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
  nn.return %0 : tensor<2x16xf32>
}

// Also in another shape than that in which it is computed.

// CHECK-LABEL: func.func @layer.reshaped(
// CHECK-SAME:    %[[C:[^:]*]]: memref<1x2x16xf32>
nn.function @reshaped(%a: tensor<2x8xf32>, %b: tensor<16x8xf32>) -> tensor<1x2x16xf32> {
  // CHECK-NOT: memref.alloc
  // CHECK: %[[RESHAPED:.*]] = memref.reinterpret_cast %[[C]] {{.*}} to memref<2x16xf32>
  // CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[RESHAPED]]
  // CHECK: call @pprtCpuMatmulF32(%{{.*}}, %{{.*}}, %[[TARGET]],
  // CHECK-NOT: materialize_in_destination
  %0 = nn.matmul %a, %b transpose_rhs : tensor<2x8xf32>, tensor<16x8xf32> -> tensor<2x16xf32>
  %1 = nn.reshape %0 : tensor<2x16xf32> -> tensor<1x2x16xf32>
  nn.return %1 : tensor<1x2x16xf32>
}

// The kernel reads an operand across: its transpose is not made. Twice
// transposed is as it was.

// CHECK-LABEL: func.func @layer.transposed(
// CHECK-SAME:    %[[A:[^:]*]]: memref<2x8xf32> {{[^%]*}}%[[B:[^:]*]]: memref<16x8xf32> {{[^%]*}}%[[W:[^:]*]]: memref<8x4xf32>
nn.function @transposed(%a: tensor<2x8xf32>, %b: tensor<16x8xf32>, %w: tensor<8x4xf32>) -> (tensor<2x16xf32>, tensor<2x4xf32>) {
  // CHECK: %[[TRANSPOSES:.*]] = arith.constant 1 : i32
  // CHECK: call @pprtCpuMatmulF32({{.*}}, %[[TRANSPOSES]], %{{[^,]*}})
  // CHECK: %[[PLAIN:.*]] = arith.constant 0 : i32
  // CHECK: call @pprtCpuMatmulF32({{.*}}, %{{[^,]*}}, %{{[^,]*}})
  %0 = nn.transpose %b [1, 0] : tensor<16x8xf32> -> tensor<8x16xf32>
  %1 = nn.matmul %a, %0 : tensor<2x8xf32>, tensor<8x16xf32> -> tensor<2x16xf32>
  %2 = nn.transpose %w [1, 0] : tensor<8x4xf32> -> tensor<4x8xf32>
  %3 = nn.matmul %a, %2 transpose_rhs : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
  nn.return %1, %3 : tensor<2x16xf32>, tensor<2x4xf32>
}

// A contribution to an accumulator is added by the kernel itself.

// CHECK-LABEL: func.func @layer.accumulator(
// CHECK-SAME:    %[[ACC:[^:]*]]: memref<16x8xf32>
nn.function @accumulator(%acc: tensor<16x8xf32>, %dy: tensor<2x16xf32>, %x: tensor<2x8xf32>) -> tensor<16x8xf32> {
  // CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[ACC]]
  // CHECK: arith.constant 0 : i32
  // CHECK-NEXT: %[[ADD:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: call @pprtCpuMatmulF32({{.*}}, %[[TARGET]], {{.*}}, %[[ADD]])
  // CHECK-NOT: nn.accumulate
  %0 = nn.matmul %dy, %x transpose_lhs : tensor<2x16xf32>, tensor<2x8xf32> -> tensor<16x8xf32>
  %1 = nn.accumulate %acc, %0 : tensor<16x8xf32>
  nn.return %1 : tensor<16x8xf32>
}

// Values in between get a buffer that later ops may reuse.

// CHECK-LABEL: func.func @layer.between(
nn.function @between(%a: tensor<2x8xf32>, %b: tensor<8x8xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[BUFFER:.*]] = memref.alloc() : memref<2x8xf32>
  // CHECK: call @pprtCpuMatmulF32
  // CHECK: %[[VALUE:.*]] = bufferization.to_tensor %[[BUFFER]] restrict writable
  // CHECK: nn.exp %[[VALUE]]
  %0 = nn.matmul %a, %b : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %1 = nn.exp %0 : tensor<2x8xf32>
  nn.return %1 : tensor<2x8xf32>
}

// A call reads its operands where it stands, of which their uses say nothing.

// CHECK-LABEL: func.func @layer.reads(
nn.function @reads(%a: tensor<2x8xf32>, %b: tensor<8x8xf32>) -> tensor<2x8xf32> {
  // CHECK: %[[X:.*]] = nn.exp
  // CHECK: call @pprtCpuMatmulF32
  // CHECK-NEXT: nn.keep %[[X]], %{{.*}} : tensor<2x8xf32>, tensor<8x8xf32>
  %0 = nn.exp %a : tensor<2x8xf32>
  %1 = nn.matmul %0, %b : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  nn.return %1 : tensor<2x8xf32>
}

// Rows of all batches times one matrix are one product: 1 batch, 6 rows.

// CHECK-LABEL: func.func @layer.one_weight(
nn.function @one_weight(%a: tensor<2x3x8xf32>, %b: tensor<8x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[BATCH:.*]] = arith.constant 1 : i64
  // CHECK: %[[M:.*]] = arith.constant 6 : i64
  // CHECK: call @pprtCpuMatmulF32(%{{.*}}, %{{.*}}, %{{.*}}, %[[BATCH]], %[[M]],
  %w = nn.broadcast %b : tensor<8x4xf32> -> tensor<2x8x4xf32>
  %0 = nn.matmul %a, %w : tensor<2x3x8xf32>, tensor<2x8x4xf32> -> tensor<2x3x4xf32>
  nn.return %0 : tensor<2x3x4xf32>
}

// Of 16 bits the kernel rounds the sums, or adds them to f32.

// CHECK-LABEL: func.func @layer.narrow(
nn.function @narrow(%acc: tensor<8x8xf32>, %a: tensor<8x8xbf16>, %b: tensor<8x8xf16>) -> (tensor<8x8xbf16>, tensor<8x8xf16>, tensor<8x8xf32>) {
  // CHECK: call @pprtCpuMatmulBF16({{.*}} : (memref<1xbf16>, memref<1xbf16>, memref<1xbf16>,
  // CHECK: call @pprtCpuMatmulF16({{.*}} : (memref<1xf16>, memref<1xf16>, memref<1xf16>,
  // CHECK: call @pprtCpuMatmulBF16F32({{.*}} : (memref<1xbf16>, memref<1xbf16>, memref<1xf32>,
  %0 = nn.matmul %a, %a : tensor<8x8xbf16>, tensor<8x8xbf16> -> tensor<8x8xbf16>
  %1 = nn.matmul %b, %b : tensor<8x8xf16>, tensor<8x8xf16> -> tensor<8x8xf16>
  %2 = nn.matmul %a, %a transpose_lhs : tensor<8x8xbf16>, tensor<8x8xbf16> -> tensor<8x8xf32>
  %3 = nn.accumulate %acc, %2 : tensor<8x8xf32>
  nn.return %0, %1, %3 : tensor<8x8xbf16>, tensor<8x8xf16>, tensor<8x8xf32>
}

// The rows of an expert are brought together in buffers that the call gets. The
// gradient of the weights is added to the accumulator by the kernel.

// CHECK-LABEL: func.func @layer.experts(
// CHECK-SAME:    %[[ACC:[^:]*]]: memref<4x8x2xf32>
nn.function @experts(%acc: tensor<4x8x2xf32>, %x: tensor<6x8xf32>, %w: tensor<4x2x8xf32>, %e: tensor<6xi64>) -> (tensor<6x2xf32>, tensor<4x8x2xf32>) {
  // CHECK: memref.alloc() : memref<6x8xf32>
  // CHECK: memref.alloc() : memref<6x2xf32>
  // CHECK: %[[TRANSPOSE:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: call @pprtCpuExpertMatmulF32({{.*}}, %[[TRANSPOSE]]) : (memref<1xf32>, memref<1xf32>, memref<1xi64>,
  // CHECK: %[[TARGET:.*]] = memref.reinterpret_cast %[[ACC]]
  // CHECK: %[[ADD:.*]] = arith.constant 1 : i32
  // CHECK-NEXT: call @pprtCpuExpertOuterF32(%{{.*}}, %{{.*}}, %{{.*}}, %[[TARGET]], {{.*}}, %[[ADD]])
  // CHECK-NOT: nn.accumulate
  %0 = nn.expert_matmul %x, %w, %e transpose_weights : tensor<6x8xf32>, tensor<4x2x8xf32>, tensor<6xi64> -> tensor<6x2xf32>
  %1 = nn.expert_outer %x, %0, %e : tensor<6x8xf32>, tensor<6x2xf32>, tensor<6xi64> -> tensor<4x8x2xf32>
  %2 = nn.accumulate %acc, %1 : tensor<4x8x2xf32>
  nn.return %0, %2 : tensor<6x2xf32>, tensor<4x8x2xf32>
}

// The library has no kernel for doubles.

// CHECK-LABEL: func.func @layer.doubles(
// CHECK: nn.matmul
nn.function @doubles(%a: tensor<2x8xf64>, %b: tensor<8x4xf64>) -> tensor<2x4xf64> {
  %0 = nn.matmul %a, %b : tensor<2x8xf64>, tensor<8x4xf64> -> tensor<2x4xf64>
  nn.return %0 : tensor<2x4xf64>
}
