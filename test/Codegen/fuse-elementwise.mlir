// RUN: pp-opt %s \
// RUN:   --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg,pp-fuse-elementwise))' \
// RUN:   | FileCheck %s

// A bias and an activation are one loop.

// CHECK-LABEL: func.func @layer.bias_gelu
nn.function @bias_gelu(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK: math.erf
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %0 = nn.broadcast %b : tensor<8xf32> -> tensor<4x8xf32>
  %1 = nn.add %x, %0 : tensor<4x8xf32>
  %2 = nn.gelu erf %1 : tensor<4x8xf32>
  nn.return %2 : tensor<4x8xf32>
}

// Arithmetic whose value is repeated is done before, once an element.

// CHECK-LABEL: func.func @layer.repeated
nn.function @repeated(%x: tensor<4x8xf32>, %b: tensor<8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.generic
  // CHECK: math.exp
  // CHECK: linalg.generic
  // CHECK: arith.addf
  // CHECK-NOT: linalg.generic
  // CHECK: return
  %0 = nn.exp %b : tensor<8xf32>
  %1 = nn.broadcast %0 : tensor<8xf32> -> tensor<4x8xf32>
  %2 = nn.add %x, %1 : tensor<4x8xf32>
  nn.return %2 : tensor<4x8xf32>
}

// So is what several ops use.

// CHECK-LABEL: func.func @layer.used_twice
nn.function @used_twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  // CHECK-COUNT-1: math.exp
  // CHECK-NOT: math.exp
  // CHECK: return
  %0 = nn.exp %x : tensor<8xf32>
  %1 = nn.add %0, %x : tensor<8xf32>
  %2 = nn.mul %0, %x : tensor<8xf32>
  nn.return %1, %2 : tensor<8xf32>, tensor<8xf32>
}
