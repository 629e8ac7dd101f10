// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// A negative index counts from the end.

// CHECK-LABEL: func.func @layer.gather
nn.function @gather(%t: tensor<10x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  // CHECK: %[[TABLE:.*]] = bufferization.to_tensor
  // CHECK: linalg.generic
  // CHECK: ^bb0(%[[INDEX:.*]]: i64, %{{.*}}: f32):
  // CHECK: %[[POSITION:.*]] = arith.index_cast %[[INDEX]]
  // CHECK: %[[END:.*]] = arith.addi %[[POSITION]], %{{.*}}
  // CHECK: %[[NEGATIVE:.*]] = arith.cmpi slt, %[[INDEX]]
  // CHECK: %[[ROW:.*]] = arith.select %[[NEGATIVE]], %[[END]], %[[POSITION]]
  // CHECK: tensor.extract %[[TABLE]][%[[ROW]], %{{.*}}]
  %0 = nn.gather %t, %i axis 0 : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  nn.return %0 : tensor<3x4xf32>
}

// Zeros, then additions in the order of the indices.

// CHECK-LABEL: func.func @layer.scatter
// CHECK-SAME:    %[[RESULT:[^:]*]]: memref<10x4xf32>
nn.function @scatter(%u: tensor<3x4xf32>, %i: tensor<3xi64>) -> tensor<10x4xf32> {
  // CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[RESULT]]
  // CHECK: scf.for
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %[[RESULT]]
  %0 = nn.scatter_add %u, %i axis 0 : tensor<3x4xf32>, tensor<3xi64> -> tensor<10x4xf32>
  nn.return %0 : tensor<10x4xf32>
}

// An accumulator already holds what is added to.

// CHECK-LABEL: func.func @layer.accumulate
// CHECK-SAME:    %[[ACC:[^:]*]]: memref<10x4xf32>
nn.function @accumulate(%a: tensor<10x4xf32>, %u: tensor<3x4xf32>, %i: tensor<3xi64>) -> tensor<10x4xf32> {
  // CHECK-NOT: linalg.fill
  // CHECK: memref.store %{{.*}}, %[[ACC]]
  %0 = nn.scatter_add %u, %i axis 0 : tensor<3x4xf32>, tensor<3xi64> -> tensor<10x4xf32>
  %1 = nn.accumulate %a, %0 : tensor<10x4xf32>
  nn.return %1 : tensor<10x4xf32>
}
