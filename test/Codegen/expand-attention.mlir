// RUN: pp-opt %s --nn-expand-attention --split-input-file | FileCheck %s

// CHECK-LABEL: nn.function @plain(
// CHECK-SAME: %[[Q:.*]]: tensor<2x8x4xf32>, %[[K:.*]]: tensor<2x6x4xf32>, %[[V:.*]]: tensor<2x6x3xf32>)
nn.function @plain(%q: tensor<2x8x4xf32>, %k: tensor<2x6x4xf32>, %v: tensor<2x6x3xf32>) -> tensor<2x8x3xf32> {
  // CHECK-NEXT: %[[S:.*]] = nn.matmul %[[Q]], %[[K]] transpose_rhs : tensor<2x8x4xf32>, tensor<2x6x4xf32> -> tensor<2x8x6xf32>
  // CHECK-NEXT: %[[HALF:.*]] = nn.constant dense<5.000000e-01> : tensor<2x8x6xf32>
  // CHECK-NEXT: %[[T:.*]] = nn.mul %[[S]], %[[HALF]]
  // CHECK-NEXT: %[[P:.*]] = nn.softmax %[[T]] axis 2
  // CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[P]], %[[V]] : tensor<2x8x6xf32>, tensor<2x6x3xf32> -> tensor<2x8x3xf32>
  // CHECK-NEXT: nn.return %[[Y]]
  %0 = nn.attention %q, %k, %v scale 0.5 : (tensor<2x8x4xf32>, tensor<2x6x4xf32>, tensor<2x6x3xf32>) -> tensor<2x8x3xf32>
  nn.return %0 : tensor<2x8x3xf32>
}

// -----

// CHECK-LABEL: nn.function @softcap(
nn.function @softcap(%q: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[S:.*]] = nn.matmul
  // CHECK-NEXT: %[[TENTH:.*]] = nn.constant dense<1.000000e-01>
  // CHECK-NEXT: %[[X:.*]] = nn.mul %[[S]], %[[TENTH]]
  // CHECK-NEXT: %[[T:.*]] = nn.tanh %[[X]]
  // CHECK-NEXT: %[[FIVE:.*]] = nn.constant dense<5.000000e+00>
  // CHECK-NEXT: %[[C:.*]] = nn.mul %[[T]], %[[FIVE]]
  // CHECK-NEXT: nn.softmax %[[C]] axis 2
  %0 = nn.attention %q, %q, %q scale 0.5 softcap 5.0 : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  nn.return %0 : tensor<2x3x4xf32>
}

// -----

// Two heads a group are rows of one product; sums of 16-bit products are masked
// and normalized in f32.

// CHECK-LABEL: nn.function @groups(
// CHECK-SAME: %[[Q:.*]]: tensor<4x2x4xbf16>, %[[K:.*]]: tensor<2x3x4xbf16>, %[[M:.*]]: tensor<4x1x3xbf16>)
nn.function @groups(%q: tensor<4x2x4xbf16>, %k: tensor<2x3x4xbf16>, %m: tensor<4x1x3xbf16>) -> tensor<4x2x4xbf16> {
  // CHECK-NEXT: %[[ROWS:.*]] = nn.reshape %[[Q]] : tensor<4x2x4xbf16> -> tensor<2x4x4xbf16>
  // CHECK-NEXT: %[[S:.*]] = nn.matmul %[[ROWS]], %[[K]] transpose_rhs : tensor<2x4x4xbf16>, tensor<2x3x4xbf16> -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[H:.*]] = nn.reshape %[[S]] : tensor<2x4x3xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: %[[WIDE:.*]] = nn.cast %[[M]] : tensor<4x1x3xbf16> -> tensor<4x1x3xf32>
  // CHECK-NEXT: %[[ALL:.*]] = nn.broadcast %[[WIDE]] : tensor<4x1x3xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: %[[SUM:.*]] = nn.add %[[H]], %[[ALL]]
  // CHECK-NEXT: %[[SEEN:.*]] = nn.constant dense<{{\[\[}}true, true, false], [true, true, true]]> : tensor<2x3xi1>
  // CHECK-NEXT: %[[SEES:.*]] = nn.broadcast %[[SEEN]] : tensor<2x3xi1> -> tensor<4x2x3xi1>
  // CHECK-NEXT: %[[LOW:.*]] = nn.constant dense<-3.40282347E+38>
  // CHECK-NEXT: %[[LEFT:.*]] = nn.select %[[SEES]], %[[SUM]], %[[LOW]]
  // CHECK-NEXT: %[[P:.*]] = nn.softmax %[[LEFT]] axis 2
  // CHECK-NEXT: %[[NAN:.*]] = nn.compare ne %[[P]], %[[P]]
  // CHECK-NEXT: %[[ZERO:.*]] = nn.constant dense<0.000000e+00>
  // CHECK-NEXT: %[[N:.*]] = nn.select %[[NAN]], %[[ZERO]], %[[P]]
  // CHECK-NEXT: %[[G:.*]] = nn.reshape %[[N]] : tensor<4x2x3xf32> -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[W:.*]] = nn.cast %[[G]] : tensor<2x4x3xf32> -> tensor<2x4x3xbf16>
  // CHECK-NEXT: %[[Y:.*]] = nn.matmul %[[W]], %[[K]] : tensor<2x4x3xbf16>, tensor<2x3x4xbf16> -> tensor<2x4x4xbf16>
  // CHECK-NEXT: nn.reshape %[[Y]] : tensor<2x4x4xbf16> -> tensor<4x2x4xbf16>
  %0 = nn.attention %q, %k, %k mask %m causal scale 1.0 : (tensor<4x2x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3x4xbf16>, tensor<4x1x3xbf16>) -> tensor<4x2x4xbf16>
  nn.return %0 : tensor<4x2x4xbf16>
}

// -----

// Statistics are computed of the scores' largest, and weights of statistics.

// CHECK-LABEL: nn.function @statistics(
// CHECK-SAME: %[[Q:.*]]: tensor<4x2x4xbf16>, %[[K:.*]]: tensor<2x3x4xbf16>)
nn.function @statistics(%q: tensor<4x2x4xbf16>, %k: tensor<2x3x4xbf16>) -> (tensor<4x2x4xbf16>, tensor<4x2xf32>) {
  // CHECK: %[[S:.*]] = nn.select %{{.*}} : tensor<4x2x3xi1>, tensor<4x2x3xf32>
  // CHECK-NEXT: %[[M:.*]] = nn.reduce max %[[S]] axes [2] : tensor<4x2x3xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: %[[COLUMN:.*]] = nn.reshape %[[M]] : tensor<4x2xf32> -> tensor<4x2x1xf32>
  // CHECK-NEXT: %[[ROWS:.*]] = nn.broadcast %[[COLUMN]] : tensor<4x2x1xf32> -> tensor<4x2x3xf32>
  // CHECK-NEXT: %[[D:.*]] = nn.sub %[[S]], %[[ROWS]]
  // CHECK-NEXT: %[[E:.*]] = nn.exp %[[D]]
  // CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %[[E]] axes [2] : tensor<4x2x3xf32> -> tensor<4x2xf32>
  // CHECK-NEXT: %[[LOG:.*]] = nn.log %[[SUM]]
  // CHECK-NEXT: %[[STATISTICS:.*]] = nn.add %[[M]], %[[LOG]]
  // CHECK: nn.reshape %[[STATISTICS]] : tensor<4x2xf32> -> tensor<4x2x1xf32>
  // CHECK: nn.sub
  // CHECK-NEXT: nn.exp
  // CHECK-NOT: nn.softmax
  // CHECK: nn.matmul %{{.*}}, %[[K]] : tensor<2x4x3xbf16>, tensor<2x3x4xbf16> -> tensor<2x4x4xbf16>
  // CHECK-NEXT: %[[Y:.*]] = nn.reshape
  // CHECK-NEXT: nn.return %[[Y]], %[[STATISTICS]]
  %0, %1 = nn.attention_with_statistics %q, %k, %k causal scale 1.0 : (tensor<4x2x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3x4xbf16>) -> (tensor<4x2x4xbf16>, tensor<4x2xf32>)
  nn.return %0, %1 : tensor<4x2x4xbf16>, tensor<4x2xf32>
}

// -----

// CHECK-LABEL: nn.function @gradient(
// CHECK-SAME: %[[DY:.*]]: tensor<4x2x5xbf16>, %[[Q:.*]]: tensor<4x2x4xbf16>, %[[K:.*]]: tensor<2x3x4xbf16>, %[[V:.*]]: tensor<2x3x5xbf16>, %[[Y:.*]]: tensor<4x2x5xbf16>, %[[S:.*]]: tensor<4x2xf32>)
nn.function @gradient(%dy: tensor<4x2x5xbf16>, %q: tensor<4x2x4xbf16>, %k: tensor<2x3x4xbf16>, %v: tensor<2x3x5xbf16>, %y: tensor<4x2x5xbf16>, %s: tensor<4x2xf32>) -> (tensor<4x2x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3x5xbf16>) {
  // CHECK: %[[E:.*]] = nn.exp
  // CHECK-NEXT: %[[P:.*]] = nn.reshape %[[E]] : tensor<4x2x3xf32> -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[ROWS:.*]] = nn.reshape %[[DY]] : tensor<4x2x5xbf16> -> tensor<2x4x5xbf16>
  // CHECK-NEXT: %[[DP:.*]] = nn.matmul %[[ROWS]], %[[V]] transpose_rhs : tensor<2x4x5xbf16>, tensor<2x3x5xbf16> -> tensor<2x4x3xf32>
  // CHECK: %[[PRODUCT:.*]] = nn.mul {{.*}} : tensor<2x4x5xf32>
  // CHECK-NEXT: nn.reduce sum %[[PRODUCT]] axes [2] : tensor<2x4x5xf32> -> tensor<2x4xf32>
  // CHECK: %[[SUM:.*]] = nn.broadcast {{.*}} -> tensor<2x4x3xf32>
  // CHECK-NEXT: %[[D:.*]] = nn.sub %[[DP]], %[[SUM]]
  // CHECK-NEXT: %[[DS:.*]] = nn.mul %[[P]], %[[D]]
  // CHECK-NEXT: %[[HALF:.*]] = nn.constant dense<5.000000e-01>
  // CHECK-NEXT: %[[SCALED:.*]] = nn.mul %[[DS]], %[[HALF]]
  // CHECK-NEXT: %[[NARROW:.*]] = nn.cast %[[SCALED]]
  // CHECK: %[[DQ:.*]] = nn.matmul %[[NARROW]], %[[K]] : tensor<2x4x3xbf16>, tensor<2x3x4xbf16> -> tensor<2x4x4xbf16>
  // CHECK: nn.reshape %[[DQ]] : tensor<2x4x4xbf16> -> tensor<4x2x4xbf16>
  // CHECK: nn.matmul %[[NARROW]], %{{.*}} transpose_lhs : tensor<2x4x3xbf16>, tensor<2x4x4xbf16> -> tensor<2x3x4xbf16>
  // CHECK: %[[W:.*]] = nn.cast %[[P]]
  // CHECK: nn.matmul %[[W]], %[[ROWS]] transpose_lhs : tensor<2x4x3xbf16>, tensor<2x4x5xbf16> -> tensor<2x3x5xbf16>
  %0, %1, %2 = nn.attention_grad %dy, %q, %k, %v, %y, %s scale 0.5 : (tensor<4x2x5xbf16>, tensor<4x2x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3x5xbf16>, tensor<4x2x5xbf16>, tensor<4x2xf32>) -> (tensor<4x2x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3x5xbf16>)
  nn.return %0, %1, %2 : tensor<4x2x4xbf16>, tensor<2x3x4xbf16>, tensor<2x3x5xbf16>
}
