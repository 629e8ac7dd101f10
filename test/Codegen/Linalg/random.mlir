// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// Four elements a round, and what is left.

// CHECK-LABEL: func.func @layer.mask
nn.function @mask(%k: tensor<2xi64>) -> tensor<10xf32> {
  // CHECK-DAG: %[[GROUPS:.*]] = arith.constant 2 : index
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[GROUPS]]
  // CHECK-COUNT-4: memref.store
  // CHECK: }
  // CHECK-COUNT-2: memref.store
  // CHECK-NOT: memref.store
  // CHECK: return
  %0 = nn.dropout_mask %k ratio 0.1 stream 3 : tensor<2xi64> -> tensor<10xf32>
  nn.return %0 : tensor<10xf32>
}
