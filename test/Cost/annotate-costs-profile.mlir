// RUN: pp-opt %s --pp-annotate-costs="device=%inputs/even-device.toml profile=%inputs/links-profile.json" --verify-diagnostics | FileCheck %s

// Layers that the profile does not have keep their cost by formula; those with
// one function are named once.

// CHECK-LABEL: pp.model @unmeasured
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @unmeasured(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.layer "fc1" {{.*}}source = formula>
  // expected-remark-re @below {{layer 'fc1' has no measurement in '{{.*}}links-profile.json'; its cost is by formula, and that of 1 layer like it}}
  %0 = pp.layer "fc1" @fc(%x) parameters [@w] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: pp.layer "fc2" {{.*}}source = formula>
  %1 = pp.layer "fc2" @fc(%0) parameters [@w] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-remark-re @below {{layer 'act' has no measurement in '{{.*}}links-profile.json'; its cost is by formula}}
  %2 = pp.layer "act" @act(%1) parameters [] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  pp.return outputs ["y"] %2 : tensor<2x4xf32>
}
nn.function @fc(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
  nn.return %0 : tensor<2x4xf32>
}
nn.function @act(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = nn.tanh %x : tensor<2x4xf32>
  nn.return %0 : tensor<2x4xf32>
}
