// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// An ignored label must not be looked up: it is no class.

// CHECK-LABEL: func.func @layer.cross_entropy
nn.function @cross_entropy(%x: tensor<4x8xf32>, %l: tensor<4xi64>) -> (tensor<f32>, tensor<f32>) {
  // CHECK: iterator_types = ["parallel", "reduction"]
  // CHECK: arith.maximumf
  // CHECK: iterator_types = ["parallel", "reduction"]
  // CHECK: math.exp
  // CHECK: iterator_types = ["reduction"]
  // CHECK: ^bb0(%[[LABEL:[a-z0-9_]+]]: i64, %[[MAX:[a-z0-9_]+]]: f32, %[[SUM:[a-z0-9_]+]]: f32,
  // CHECK: %[[VALID:.*]] = arith.cmpi ne, %[[LABEL]]
  // CHECK: %[[SAFE:.*]] = arith.select %[[VALID]], %[[LABEL]]
  // CHECK: %[[CLASS:.*]] = arith.index_cast %[[SAFE]]
  // CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[CLASS]]]
  // CHECK: math.log %[[SUM]]
  %s, %w = nn.cross_entropy %x, %l ignore -100 : (tensor<4x8xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<f32>)
  nn.return %s, %w : tensor<f32>, tensor<f32>
}
