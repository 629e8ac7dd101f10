// RUN: pp-opt %s --split-input-file --pp-outline-layers --pp-verify-layers | FileCheck %s

// Two layers that differ in their parameters call one function.

// CHECK: module attributes {pp.phase = #pp.phase<layers>}
// CHECK-LABEL: pp.model @equal_layers
pp.parameter @a : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @b : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @equal_layers(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK-NEXT: %[[H:.*]] = pp.layer "fc1" @fc1(%{{.*}}) parameters [@a] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[Y:.*]] = pp.layer "fc2" @fc1(%[[H]]) parameters [@b] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: pp.return outputs ["y"] %[[Y]]
  %h = pp.block "fc1" {
    %w = pp.get_parameter @a : tensor<4x4xf32>
    %m = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    pp.yield %m : tensor<2x4xf32>
  } : tensor<2x4xf32>
  %y = pp.block "fc2" {
    %w = pp.get_parameter @b : tensor<4x4xf32>
    %m = nn.matmul %h, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    pp.yield %m : tensor<2x4xf32>
  } : tensor<2x4xf32>
  pp.return outputs ["y"] %y : tensor<2x4xf32>
}
// CHECK: nn.function @fc1(%[[X:.*]]: tensor<2x4xf32>, %[[W:.*]]: tensor<4x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT: nn.matmul %[[X]], %[[W]]
// CHECK-NOT: nn.function

// -----

// A parameter that is read twice is passed once; a layer that reads two
// parameters in its place is another function, and so is one whose parameter
// is not trained.

// CHECK-LABEL: pp.model @unequal_layers
pp.parameter @a trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @b trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @c : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @unequal_layers(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK-NEXT: pp.layer "twice" @twice(%{{.*}}) parameters [@a]
  // CHECK-NEXT: pp.layer "two" @two(%{{.*}}) parameters [@a, @b]
  // CHECK-NEXT: pp.layer "frozen" @frozen(%{{.*}}) parameters [@c]
  %1 = pp.block "twice" {
    %w = pp.get_parameter @a : tensor<4x4xf32>
    %m = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %v = pp.get_parameter @a : tensor<4x4xf32>
    %n = nn.matmul %m, %v : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    pp.yield %n : tensor<2x4xf32>
  } : tensor<2x4xf32>
  %2 = pp.block "two" {
    %w = pp.get_parameter @a : tensor<4x4xf32>
    %m = nn.matmul %1, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %v = pp.get_parameter @b : tensor<4x4xf32>
    %n = nn.matmul %m, %v : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    pp.yield %n : tensor<2x4xf32>
  } : tensor<2x4xf32>
  %3 = pp.block "frozen" {
    %w = pp.get_parameter @c : tensor<4x4xf32>
    %m = nn.matmul %2, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %n = nn.matmul %m, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    pp.yield %n : tensor<2x4xf32>
  } : tensor<2x4xf32>
  pp.return outputs ["y"] %3 : tensor<2x4xf32>
}

// -----

// Each layer gets a random key of its own, so streams are numbered from 0 in
// each and both layers share a function.

// CHECK-LABEL: pp.model @dropout
pp.parameter @a : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @b : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @dropout(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK-NEXT: %[[K0:.*]] = pp.random_key layer 0
  // CHECK-NEXT: %[[H:.*]] = pp.layer "h.0" @h.0(%{{.*}}, %[[K0]]) parameters [@a]
  // CHECK-NEXT: %[[K1:.*]] = pp.random_key layer 1
  // CHECK-NEXT: pp.layer "h.1" @h.0(%[[H]], %[[K1]]) parameters [@b]
  %h = pp.block "h.0" {
    %w = pp.get_parameter @a : tensor<4x4xf32>
    %m = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %key = pp.random_key layer 0 : tensor<2xi64>
    %mask = nn.dropout_mask %key ratio 0.5 stream 6 : tensor<2xi64> -> tensor<2x4xf32>
    %d = nn.mul %m, %mask : tensor<2x4xf32>
    pp.yield %d : tensor<2x4xf32>
  } : tensor<2x4xf32>
  %y = pp.block "h.1" {
    %w = pp.get_parameter @b : tensor<4x4xf32>
    %m = nn.matmul %h, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32>
    %key = pp.random_key layer 0 : tensor<2xi64>
    %mask = nn.dropout_mask %key ratio 0.5 stream 7 : tensor<2xi64> -> tensor<2x4xf32>
    %d = nn.mul %m, %mask : tensor<2x4xf32>
    pp.yield %d : tensor<2x4xf32>
  } : tensor<2x4xf32>
  pp.return outputs ["y"] %y : tensor<2x4xf32>
}
// CHECK: nn.function @h.0(%{{.*}}: tensor<2x4xf32>, %[[KEY:.*]]: tensor<2xi64>, %{{.*}}: tensor<4x4xf32>)
// CHECK: nn.dropout_mask %[[KEY]] ratio 5.000000e-01 stream 0
// CHECK-NOT: nn.function
