// RUN: pp-opt %s --pp-set-precision | FileCheck %s
// RUN: pp-opt %s --pp-set-precision --nn-differentiate | FileCheck %s --check-prefix=GRADIENT

// What is trained is kept in f32 and converted where it is read, as late as
// possible: of the table, only the rows that are looked up. What is not trained
// stays as it is.

// CHECK-DAG: pp.parameter @table trainable : tensor<16x8xf32> = #pp.external<"/w.bin", offset = 0, length = 256, stored = bf16>
// CHECK-DAG: pp.parameter @w trainable : tensor<8x8xf32> = dense<1.500000e+00> : tensor<8x8xf32>
// CHECK-DAG: pp.parameter @shard trainable shards 2 : tensor<2xf32> = dense<1.500000e+00> : tensor<4xf32>
// CHECK-DAG: pp.parameter @fixed : tensor<8x8xbf16>
// CHECK-LABEL: pp.model @trained
pp.parameter @table trainable : tensor<16x8xbf16> = #pp.external<"/w.bin", offset = 0, length = 256>
pp.parameter @w trainable : tensor<8x8xbf16> = dense<1.5> : tensor<8x8xbf16>
pp.parameter @shard trainable shards 2 : tensor<2xbf16> = dense<1.5> : tensor<4xbf16>
pp.parameter @fixed : tensor<8x8xbf16> = dense<1.5> : tensor<8x8xbf16>
pp.model @trained(%ids: tensor<4xi64> = #pp.input_spec<"ids", axis = 0>) {
  %y = pp.layer "all" @all(%ids) parameters [@table, @w, @fixed] : (tensor<4xi64>) -> tensor<4x8xbf16>
  %l:2 = pp.layer "loss" @loss(%y) parameters [] : (tensor<4x8xbf16>) -> (tensor<f32>, tensor<f32>)
  pp.return outputs ["y"] %y : tensor<4x8xbf16> loss %l#0, %l#1 : tensor<f32>, tensor<f32>
}
// CHECK-LABEL: nn.function @all
// CHECK-SAME: (%[[IDS:.*]]: tensor<4xi64>, %[[TABLE:.*]]: tensor<16x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[FIXED:.*]]: tensor<8x8xbf16>)
nn.function @all(%ids: tensor<4xi64>, %table: tensor<16x8xbf16>, %w: tensor<8x8xbf16>, %fixed: tensor<8x8xbf16>) -> tensor<4x8xbf16> {
  // CHECK: %[[WIDE:.*]] = nn.gather %[[TABLE]], %[[IDS]] axis 0 : tensor<16x8xf32>
  // CHECK: %[[ROWS:.*]] = nn.cast %[[WIDE]] : tensor<4x8xf32> -> tensor<4x8xbf16>
  // CHECK: %[[TURNED:.*]] = nn.transpose %[[W]] [1, 0] : tensor<8x8xf32>
  // CHECK: %[[COLUMNS:.*]] = nn.cast %[[TURNED]] : tensor<8x8xf32> -> tensor<8x8xbf16>
  // CHECK: nn.matmul %[[ROWS]], %[[COLUMNS]]
  %rows = nn.gather %table, %ids axis 0 : tensor<16x8xbf16>, tensor<4xi64> -> tensor<4x8xbf16>
  %turned = nn.transpose %w [1, 0] : tensor<8x8xbf16> -> tensor<8x8xbf16>
  %0 = nn.matmul %rows, %turned : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  %1 = nn.matmul %0, %fixed : tensor<4x8xbf16>, tensor<8x8xbf16> -> tensor<4x8xbf16>
  nn.return %1 : tensor<4x8xbf16>
}
nn.function @loss(%y: tensor<4x8xbf16>) -> (tensor<f32>, tensor<f32>) {
  %wide = nn.cast %y : tensor<4x8xbf16> -> tensor<4x8xf32>
  %0 = nn.reduce sum %wide axes [0, 1] : tensor<4x8xf32> -> tensor<f32>
  nn.return %0, %0 : tensor<f32>, tensor<f32>
}

// Their gradients are never rounded to 16 bits, nor is what they are summed in.

// GRADIENT-LABEL: nn.function @all.w
// GRADIENT: nn.matmul {{.*}} : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<8x8xf32>
// GRADIENT: nn.accumulate {{.*}} : tensor<8x8xf32>
// GRADIENT: nn.scatter_add {{.*}} -> tensor<16x8xf32>
// GRADIENT: nn.accumulate {{.*}} : tensor<16x8xf32>
