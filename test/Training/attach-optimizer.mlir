// RUN: pp-opt %s --nn-differentiate --nn-attach-optimizer=optimizer=sgd --pp-verify-training 2>&1 | FileCheck %s

// A tied parameter has one update from all layers with a gradient for it, in
// order; one without a gradient has none.

// CHECK: warning: parameter 'unused' is not trained: no gradient of the loss reaches it
// CHECK: module attributes {pp.phase = #pp.phase<training>}
// CHECK: pp.parameter @tied trainable
// CHECK: pp.parameter @unused :
// CHECK: pp.update_rule {{ ?}}sgd
// CHECK: pp.update @tied from layers [0, 2]
// CHECK-NOT: pp.update
pp.parameter @tied trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @unused trainable : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @m(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  %0 = pp.layer "first" @scale(%x) parameters [@tied] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pp.layer "between" @square(%0) parameters [] : (tensor<4xf32>) -> tensor<4xf32>
  %2 = pp.layer "last" @scale(%1) parameters [@tied] : (tensor<4xf32>) -> tensor<4xf32>
  %3 = pp.layer "unused" @scale(%1) parameters [@unused] : (tensor<4xf32>) -> tensor<4xf32>
  %4 = pp.layer "loss" @sum(%2) parameters [] : (tensor<4xf32>) -> tensor<f32>
  pp.return outputs ["other"] %3 : tensor<4xf32> loss %4, %4 : tensor<f32>, tensor<f32>
}
nn.function @scale(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %w : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @square(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.mul %x, %x : tensor<4xf32>
  nn.return %0 : tensor<4xf32>
}
nn.function @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = nn.reduce sum %x axes [0] : tensor<4xf32> -> tensor<f32>
  nn.return %0 : tensor<f32>
}
