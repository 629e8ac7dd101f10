// RUN: pp-opt %s --nn-lower-functions --nn-attention-to-library=target=cuda --split-input-file | FileCheck %s
// RUN: pp-opt %s --nn-lower-functions --nn-attention-to-library --split-input-file | FileCheck %s --check-prefix=CPU

// The CPU's library has no attention: it is left to be expanded.

// CPU-NOT: call @
// CPU: nn.attention_with_statistics
// CPU-NOT: call @

// The call writes both results where the caller wants them. Numbers: batch,
// heads, groups, queries, keys, sizes of their rows and of those of values, the
// scale, and whether later keys are hidden.

// CHECK: func.func private @pprtCudaAttentionBF16(memref<1xbf16>, memref<1xbf16>, memref<1xbf16>, memref<1xbf16>, memref<1xf32>, i64, i64, i64, i64, i64, i64, i64, f64, i32)
// CHECK-LABEL: func.func @layer.forward(
// CHECK-SAME: %[[Y:[^:]*]]: memref<2x3x8x16x32xbf16> {{[^%]*}}%[[S:[^:]*]]: memref<2x3x8x16xf32>
// CHECK-NOT: memref.alloc
// CHECK: %[[RESULT:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK: %[[STATISTICS:.*]] = memref.reinterpret_cast %[[S]]
// CHECK: %[[BATCH:.*]] = arith.constant 6 : i64
// CHECK-NEXT: %[[HEADS:.*]] = arith.constant 8 : i64
// CHECK-NEXT: %[[GROUPS:.*]] = arith.constant 2 : i64
// CHECK-NEXT: %[[QUERIES:.*]] = arith.constant 16 : i64
// CHECK-NEXT: %[[KEYS:.*]] = arith.constant 24 : i64
// CHECK-NEXT: %[[SIZE:.*]] = arith.constant 64 : i64
// CHECK-NEXT: %[[VALUE:.*]] = arith.constant 32 : i64
// CHECK-NEXT: %[[SCALE:.*]] = arith.constant 1.250000e-01 : f64
// CHECK-NEXT: %[[CAUSAL:.*]] = arith.constant 1 : i32
// CHECK-NEXT: call @pprtCudaAttentionBF16(%{{.*}}, %{{.*}}, %{{.*}}, %[[RESULT]], %[[STATISTICS]], %[[BATCH]], %[[HEADS]], %[[GROUPS]], %[[QUERIES]], %[[KEYS]], %[[SIZE]], %[[VALUE]], %[[SCALE]], %[[CAUSAL]])
// CHECK-NEXT: nn.keep
// CHECK-NOT: nn.attention
nn.function @forward(%q: tensor<2x3x8x16x64xbf16>, %k: tensor<2x3x2x24x64xbf16>, %v: tensor<2x3x2x24x32xbf16>) -> (tensor<2x3x8x16x32xbf16>, tensor<2x3x8x16xf32>) {
  %0, %1 = nn.attention_with_statistics %q, %k, %v causal scale 0.125 : (tensor<2x3x8x16x64xbf16>, tensor<2x3x2x24x64xbf16>, tensor<2x3x2x24x32xbf16>) -> (tensor<2x3x8x16x32xbf16>, tensor<2x3x8x16xf32>)
  nn.return %0, %1 : tensor<2x3x8x16x32xbf16>, tensor<2x3x8x16xf32>
}

// -----

// Statistics that nobody reads are written, too.

// CHECK-LABEL: func.func @layer.inference(
// CHECK: memref.alloc() : memref<4x8xf32>
// CHECK: call @pprtCudaAttentionF16(
nn.function @inference(%q: tensor<4x8x16xf16>) -> tensor<4x8x16xf16> {
  %0, %1 = nn.attention_with_statistics %q, %q, %q scale 1.0 : (tensor<4x8x16xf16>, tensor<4x8x16xf16>, tensor<4x8x16xf16>) -> (tensor<4x8x16xf16>, tensor<4x8xf32>)
  nn.return %0 : tensor<4x8x16xf16>
}

// -----

// A gradient has a workspace: 4 bytes for each of 4 * 8 queries, rounded up to
// 256, 2 for each of 64 * 64 pairs of a query and a key in 4 heads, and a
// mebibyte. What an accumulator adds up is added by other ops.

// CHECK: func.func private @pprtCudaAttentionGradientBF16(memref<1xbf16>, memref<1xbf16>, memref<1xbf16>, memref<1xbf16>, memref<1xbf16>, memref<1xf32>, memref<1xbf16>, memref<1xbf16>, memref<1xbf16>, memref<1xi8>, i64, i64, i64, i64, i64, i64, i64, i64, f64, i32)
// CHECK-LABEL: func.func @layer.gradient(
// CHECK: %[[DQ:.*]] = memref.reinterpret_cast %{{.*}} : memref<4x8x16xbf16> to memref<2x2x8x16xbf16>
// CHECK: %[[DV:.*]] = memref.alloc() : memref<2x2x8x16xbf16>
// CHECK: %[[WORKSPACE:.*]] = memref.alloc() : memref<1081600xi8>
// CHECK-DAG: %[[QUERY_GRADIENT:.*]] = memref.reinterpret_cast %[[DQ]]
// CHECK-DAG: %[[VALUE_GRADIENT:.*]] = memref.reinterpret_cast %[[DV]]
// CHECK-DAG: %[[SPACE:.*]] = memref.reinterpret_cast %[[WORKSPACE]]
// CHECK: %[[BYTES:.*]] = arith.constant 1081600 : i64
// CHECK: %[[CAUSAL:.*]] = arith.constant 0 : i32
// CHECK-NEXT: call @pprtCudaAttentionGradientBF16({{.*}}, %[[QUERY_GRADIENT]], %{{.*}}, %[[VALUE_GRADIENT]], %[[SPACE]], %[[BYTES]], {{.*}}, %[[CAUSAL]])
// CHECK-NEXT: nn.keep
// CHECK: nn.accumulate
// CHECK-NOT: nn.attention
nn.function @gradient(%dy: tensor<2x2x8x16xbf16>, %q: tensor<2x2x8x16xbf16>, %k: tensor<2x2x8x16xbf16>, %v: tensor<2x2x8x16xbf16>, %y: tensor<2x2x8x16xbf16>, %s: tensor<2x2x8xf32>, %a: tensor<2x2x8x16xbf16>) -> (tensor<4x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>) {
  %0, %1, %2 = nn.attention_grad %dy, %q, %k, %v, %y, %s scale 1.0 : (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8xf32>) -> (tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>)
  %3 = nn.reshape %0 : tensor<2x2x8x16xbf16> -> tensor<4x8x16xbf16>
  %4 = nn.accumulate %a, %2 : tensor<2x2x8x16xbf16>
  nn.return %3, %1, %4 : tensor<4x8x16xbf16>, tensor<2x2x8x16xbf16>, tensor<2x2x8x16xbf16>
}

// -----

// Heads that share keys have gradients of their own at first: 4 * 32 bytes for
// each of 4 heads and 8 keys, too.

// CHECK-LABEL: func.func @layer.groups(
// CHECK: memref.alloc() : memref<1085696xi8>
// CHECK: call @pprtCudaAttentionGradientF16(
nn.function @groups(%q: tensor<4x8x16xf16>, %k: tensor<2x8x16xf16>, %y: tensor<4x8x16xf16>, %s: tensor<4x8xf32>) -> (tensor<4x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>) {
  %0, %1, %2 = nn.attention_grad %y, %q, %k, %k, %y, %s causal scale 1.0 : (tensor<4x8x16xf16>, tensor<4x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<4x8x16xf16>, tensor<4x8xf32>) -> (tensor<4x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>)
  nn.return %0, %1, %2 : tensor<4x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
}

// -----

// Of f32 nothing is a call.

// CHECK-LABEL: func.func @layer.f32(
// CHECK-NOT: call @
// CHECK: nn.attention_with_statistics
nn.function @f32(%q: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %0, %1 = nn.attention_with_statistics %q, %q, %q scale 1.0 : (tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8xf32>)
  nn.return %0 : tensor<4x8x16xf32>
}
