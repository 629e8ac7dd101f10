// RUN: pp-opt %s --nn-differentiate | FileCheck %s

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
