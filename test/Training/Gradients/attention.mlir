// RUN: pp-opt %s --nn-differentiate --split-input-file | FileCheck %s

// Forward hands its operands to backward, and no weights: backward computes
// those once for all three gradients. Values are checked by the unit tests.

// CHECK: nn.function @attend.f(%{{.*}}: tensor<2x4x8xf32>, %{{.*}}: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
// CHECK-NEXT: nn.attention
// CHECK-NEXT: nn.return
// CHECK: nn.function @attend.b(
// CHECK-COUNT-1: nn.softmax %
// CHECK-NOT: nn.softmax %
// CHECK: nn.softmax_grad
// CHECK-NOT: nn.softmax_grad
// CHECK: nn.function @sum.f
pp.parameter @q trainable : tensor<2x4x8xf32> = dense<0.0> : tensor<2x4x8xf32>
pp.parameter @k trainable : tensor<2x4x8xf32> = dense<0.0> : tensor<2x4x8xf32>
pp.model @attention(%x: tensor<2x4x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "q" @shift(%x) parameters [@q] : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = pp.layer "k" @shift(%x) parameters [@k] : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = pp.layer "attend" @attend(%0, %1) parameters [] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = pp.layer "loss" @sum(%2) parameters [] : (tensor<2x4x8xf32>) -> tensor<f32>
  pp.return outputs [] loss %3, %3 : tensor<f32>, tensor<f32>
}
nn.function @shift(%x: tensor<2x4x8xf32>, %w: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.add %x, %w : tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}
nn.function @attend(%q: tensor<2x4x8xf32>, %k: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.attention %q, %k, %k scale 0.5 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}
nn.function @sum(%x: tensor<2x4x8xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// With statistics backward reads those, and one op makes all three gradients.

// CHECK: nn.function @attend.f({{.*}}) -> (tensor<2x4x8xf32>, tensor<2x4x8xbf16>, tensor<2x4xf32>) {
// CHECK: nn.attention_with_statistics
// CHECK: nn.function @attend.b(
// CHECK-COUNT-1: nn.attention_grad
// CHECK-NOT: nn.attention
// CHECK: nn.derivative @attend forward @attend.f backward @attend.b
pp.parameter @q trainable : tensor<2x4x8xf32> = dense<0.0> : tensor<2x4x8xf32>
pp.parameter @k trainable : tensor<2x4x8xf32> = dense<0.0> : tensor<2x4x8xf32>
pp.model @statistics(%x: tensor<2x4x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "q" @shift(%x) parameters [@q] : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = pp.layer "k" @shift(%x) parameters [@k] : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = pp.layer "attend" @attend(%0, %1) parameters [] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %3 = pp.layer "loss" @sum(%2) parameters [] : (tensor<2x4x8xf32>) -> tensor<f32>
  pp.return outputs [] loss %3, %3 : tensor<f32>, tensor<f32>
}
nn.function @shift(%x: tensor<2x4x8xf32>, %w: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.add %x, %w : tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}
nn.function @attend(%q: tensor<2x4x8xf32>, %k: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.cast %q : tensor<2x4x8xf32> -> tensor<2x4x8xbf16>
  %1 = nn.cast %k : tensor<2x4x8xf32> -> tensor<2x4x8xbf16>
  %2, %3 = nn.attention_with_statistics %0, %1, %1 scale 0.5 : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4xf32>)
  %4 = nn.cast %2 : tensor<2x4x8xbf16> -> tensor<2x4x8xf32>
  nn.return %4 : tensor<2x4x8xf32>
}
nn.function @sum(%x: tensor<2x4x8xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}

// -----

// Gradients have the types of the operands, also the only one that is wanted:
// the op is no product that could leave its sums in f32.

// CHECK: nn.function @attend.b(
// CHECK: %[[DQ:.*]], %{{.*}}, %{{.*}} = nn.attention_grad {{.*}} -> (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>)
// CHECK-NEXT: nn.cast %[[DQ]] : tensor<2x4x8xbf16> -> tensor<2x4x8xf32>
pp.parameter @q trainable : tensor<2x4x8xf32> = dense<0.0> : tensor<2x4x8xf32>
pp.model @queries(%x: tensor<2x4x8xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "q" @shift(%x) parameters [@q] : (tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %1 = pp.layer "attend" @attend(%0, %x) parameters [] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %2 = pp.layer "loss" @sum(%1) parameters [] : (tensor<2x4x8xf32>) -> tensor<f32>
  pp.return outputs [] loss %2, %2 : tensor<f32>, tensor<f32>
}
nn.function @shift(%x: tensor<2x4x8xf32>, %w: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.add %x, %w : tensor<2x4x8xf32>
  nn.return %0 : tensor<2x4x8xf32>
}
nn.function @attend(%q: tensor<2x4x8xf32>, %k: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = nn.cast %q : tensor<2x4x8xf32> -> tensor<2x4x8xbf16>
  %1 = nn.cast %k : tensor<2x4x8xf32> -> tensor<2x4x8xbf16>
  %2, %3 = nn.attention_with_statistics %0, %1, %1 scale 0.5 : (tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>) -> (tensor<2x4x8xbf16>, tensor<2x4xf32>)
  %4 = nn.cast %2 : tensor<2x4x8xbf16> -> tensor<2x4x8xf32>
  nn.return %4 : tensor<2x4x8xf32>
}
nn.function @sum(%x: tensor<2x4x8xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0, 1, 2] : tensor<2x4x8xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
