// RUN: pp-opt %s --pass-pipeline='builtin.module(nn-lower-functions,func.func(nn-to-linalg))' | FileCheck %s

// CHECK-LABEL: func.func @layer.softmax
nn.function @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[MAX:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
  // CHECK: arith.maximumf
  // CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]
  // CHECK-SAME: ins(%{{.*}}, %[[MAX]] :
  // CHECK: math.exp
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
  // CHECK-SAME: ins(%{{.*}}, %[[MAX]], %[[SUM]] :
  %0 = nn.softmax %x axis 0 : tensor<4x8xf32>
  nn.return %0 : tensor<4x8xf32>
}

// The mean is known before differences from it are squared.

// CHECK-LABEL: func.func @layer.layer_norm
nn.function @layer_norm(%x: tensor<4x8xf32>, %s: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: linalg.generic
  // CHECK: %[[MEAN:.*]] = linalg.generic
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[MEAN]] :
  // CHECK: math.sqrt
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[MEAN]], %{{.*}}, %{{.*}} :
  %0, %m, %r = nn.layer_norm %x, %s axis 1 epsilon 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>)
  nn.return %0, %m, %r : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>
}
