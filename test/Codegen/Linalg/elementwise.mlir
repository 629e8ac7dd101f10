// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// CHECK-LABEL: func.func @layer.tanh
nn.function @tanh(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: linalg.generic
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[Y:.*]] = math.tanh %[[X]] : f32
  // CHECK-NEXT: linalg.yield %[[Y]]
  %0 = nn.tanh %x : tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}

// The remainder takes the sign of the divisor.

// CHECK-LABEL: func.func @layer.mod
nn.function @mod(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %{{.*}}: i32):
  // CHECK: %[[R:.*]] = arith.remsi %[[X]], %[[Y]]
  // CHECK: %[[DIFFER:.*]] = arith.xori
  // CHECK: %[[NONZERO:.*]] = arith.cmpi ne, %[[R]]
  // CHECK: %[[ADJUST:.*]] = arith.andi %[[DIFFER]], %[[NONZERO]]
  // CHECK: %[[SUM:.*]] = arith.addi %[[R]], %[[Y]]
  // CHECK: arith.select %[[ADJUST]], %[[SUM]], %[[R]]
  %0 = nn.mod %x, %y : tensor<4xi32>
  nn.return %0 : tensor<4xi32>
}

// NaN is not equal to anything, itself included.

// CHECK-LABEL: func.func @layer.compare
nn.function @compare(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  // CHECK: arith.cmpf oeq
  // CHECK: arith.cmpf une
  %0 = nn.compare eq %x, %y : tensor<4xf32> -> tensor<4xi1>
  %1 = nn.compare ne %x, %y : tensor<4xf32> -> tensor<4xi1>
  nn.return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// CHECK-LABEL: func.func @layer.cast
nn.function @cast(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xi1>, tensor<4xi64>, tensor<4xbf16>) {
  // CHECK: arith.cmpf une
  // CHECK: arith.extui %{{.*}} : i1 to i64
  // CHECK: arith.truncf %{{.*}} : f32 to bf16
  %0 = nn.cast %x : tensor<4xf32> -> tensor<4xi1>
  %1 = nn.cast %b : tensor<4xi1> -> tensor<4xi64>
  %2 = nn.cast %x : tensor<4xf32> -> tensor<4xbf16>
  nn.return %0, %1, %2 : tensor<4xi1>, tensor<4xi64>, tensor<4xbf16>
}
