// RUN: pp-opt %s --split-input-file --nn-differentiate | FileCheck %s
// RUN: pp-opt %s --split-input-file --pp-set-precision=precision=bf16 --nn-differentiate | FileCheck %s --check-prefix=NARROW

// Each row's gradient is a product with its expert's matrix, the other way
// round; that of the weights is a sum per expert, added to the accumulator
// without being rounded. Values are checked by the unit tests.

// CHECK-LABEL: pp.model @experts
// CHECK: nn.function @moe.b(%[[E:.*]]: tensor<6xi64>, %[[W:.*]]: tensor<3x4x5xf32>, %[[DY:.*]]: tensor<6x5xf32>)
// CHECK: nn.expert_matmul %[[DY]], %[[W]], %[[E]] transpose_weights
// CHECK: nn.function @moe.w(%[[X:.*]]: tensor<6x4xf32>, %[[E:.*]]: tensor<6xi64>, %[[DY:.*]]: tensor<6x5xf32>, %[[SUM:.*]]: tensor<3x4x5xf32>)
// CHECK: %[[DW:.*]] = nn.expert_outer %[[X]], %[[DY]], %[[E]]
// CHECK: nn.accumulate %[[SUM]], %[[DW]]
// NARROW-LABEL: pp.model @experts
// NARROW: %[[DW:.*]] = nn.expert_outer {{.*}} : tensor<6x4xbf16>, tensor<6x5xbf16>, tensor<6xi64> -> tensor<3x4x5xf32>
// NARROW: nn.accumulate %{{.*}}, %[[DW]] : tensor<3x4x5xf32>
pp.parameter @e.weight trainable : tensor<6x4xf32> = dense<0.0> : tensor<6x4xf32>
pp.parameter @w trainable : tensor<3x4x5xf32> = dense<0.0> : tensor<3x4x5xf32>
pp.model @experts(%x: tensor<6x4xf32> = #pp.input_spec<"x", axis = 0>, %e: tensor<6xi64> = #pp.input_spec<"e", axis = 0>) {
  %0 = pp.layer "e" @e(%x) parameters [@e.weight] : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = pp.layer "moe" @moe(%0, %e) parameters [@w] : (tensor<6x4xf32>, tensor<6xi64>) -> tensor<6x5xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<6x5xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @e(%x: tensor<6x4xf32>, %w: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = nn.add %x, %w : tensor<6x4xf32>
  nn.return %0 : tensor<6x4xf32>
}
nn.function @moe(%x: tensor<6x4xf32>, %e: tensor<6xi64>, %w: tensor<3x4x5xf32>) -> tensor<6x5xf32> {
  %0 = nn.expert_matmul %x, %w, %e : tensor<6x4xf32>, tensor<3x4x5xf32>, tensor<6xi64> -> tensor<6x5xf32>
  nn.return %0 : tensor<6x5xf32>
}
nn.function @sum(%x: tensor<6x5xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<6x5xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// Rows that moved are moved back, by the same two lists; they keep their type.

// CHECK-LABEL: pp.model @moved
// CHECK: nn.function @move.f(%{{.*}}: tensor<6x4xf32>, %[[TO:.*]]: tensor<6xi64>)
// CHECK: %[[FROM:.*]] = nn.invert_indices %[[TO]] : tensor<6xi64> -> tensor<9xi64>
// CHECK: nn.permute_rows %{{.*}}, %[[FROM]], %[[TO]] : tensor<6x4xf32>, tensor<9xi64>, tensor<6xi64> -> tensor<9x4xf32>
// CHECK: nn.return %{{.*}}, %[[FROM]] :
// CHECK: nn.function @move.b(%[[TO:.*]]: tensor<6xi64>, %[[FROM:.*]]: tensor<9xi64>, %[[DY:.*]]: tensor<9x4xf32>)
// CHECK: nn.permute_rows %[[DY]], %[[TO]], %[[FROM]] : tensor<9x4xf32>, tensor<6xi64>, tensor<9xi64> -> tensor<6x4xf32>
// NARROW-LABEL: pp.model @moved
// NARROW: nn.permute_rows {{.*}} : tensor<6x4xbf16>, tensor<9xi64>, tensor<6xi64> -> tensor<9x4xbf16>
// NARROW: nn.permute_rows {{.*}} : tensor<9x4xbf16>, tensor<6xi64>, tensor<9xi64> -> tensor<6x4xbf16>
pp.parameter @w trainable : tensor<5x4xf32> = dense<0.0> : tensor<5x4xf32>
pp.model @moved(%x: tensor<6x5xf32> = #pp.input_spec<"x", axis = 0>, %to: tensor<6xi64> = #pp.input_spec<"to", axis = 0>) {
  %0 = pp.layer "fc" @fc(%x) parameters [@w] : (tensor<6x5xf32>) -> tensor<6x4xf32>
  %1 = pp.layer "move" @move(%0, %to) parameters [] : (tensor<6x4xf32>, tensor<6xi64>) -> tensor<9x4xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<9x4xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @fc(%x: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> tensor<6x4xf32> {
  %0 = nn.matmul %x, %w : tensor<6x5xf32>, tensor<5x4xf32> -> tensor<6x4xf32>
  nn.return %0 : tensor<6x4xf32>
}
nn.function @move(%x: tensor<6x4xf32>, %to: tensor<6xi64>) -> tensor<9x4xf32> {
  %from = nn.invert_indices %to : tensor<6xi64> -> tensor<9xi64>
  %0 = nn.permute_rows %x, %from, %to : tensor<6x4xf32>, tensor<9xi64>, tensor<6xi64> -> tensor<9x4xf32>
  nn.return %0 : tensor<9x4xf32>
}
nn.function @sum(%x: tensor<9x4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1] : tensor<9x4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
