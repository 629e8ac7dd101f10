// RUN: pp-opt %s --split-input-file --pp-form-layers | FileCheck %s

// Without scopes, a layer begins at the last position before a contraction
// where one tensor is live: the activation stays with the layer before.

// CHECK-LABEL: pp.model @flat_names
pp.parameter @w1 : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w2 : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @flat_names(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK:      pp.block "layer.0" {
  // CHECK-NEXT:   pp.get_parameter @w1
  // CHECK-NEXT:   nn.matmul
  // CHECK-NEXT:   nn.relu
  // CHECK:      pp.block "layer.1" {
  // CHECK-NEXT:   pp.get_parameter @w2
  // CHECK-NEXT:   nn.matmul
  // CHECK-NEXT:   nn.tanh
  // CHECK:      pp.return
  %w1 = pp.get_parameter @w1 : tensor<4x4xf32>
  %w2 = pp.get_parameter @w2 : tensor<4x4xf32>
  %m1 = nn.matmul %x, %w1 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("MatMul_0")
  %r1 = nn.relu %m1 : tensor<2x4xf32> loc("Relu_1")
  %m2 = nn.matmul %r1, %w2 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("MatMul_2")
  %t2 = nn.tanh %m2 : tensor<2x4xf32> loc("Tanh_3")
  pp.return outputs ["y"] %t2 : tensor<2x4xf32>
}

// -----

// A skip connection over two linear layers does not join them to one, and
// layers are named after the module of their contraction.

// CHECK-LABEL: pp.model @skip_connection
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @skip_connection(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK:      %[[Y1:.*]] = pp.block "fc1" {
  // CHECK:      %[[Y2:.*]] = pp.block "fc2" {
  // CHECK:      pp.block "fc3" {
  // CHECK:        %[[M3:.*]] = nn.matmul %[[Y2]]
  // CHECK-NEXT:   nn.add %[[Y1]], %[[M3]]
  %w = pp.get_parameter @w : tensor<4x4xf32>
  %m1 = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/fc1/MatMul")
  %m2 = nn.matmul %m1, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/fc2/MatMul")
  %m3 = nn.matmul %m2, %w : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/fc3/MatMul")
  %a3 = nn.add %m1, %m3 : tensor<2x4xf32> loc("/Add")
  pp.return outputs ["y"] %a3 : tensor<2x4xf32>
}

// -----

// Attention is one layer: its products of one value are branches, and its
// inner values are live together.

// CHECK-LABEL: pp.model @attention
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @attention(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK:      pp.block "layer.0" {
  // CHECK-COUNT-1: nn.matmul
  // CHECK:      pp.block "layer.1" {
  // CHECK-COUNT-5: nn.matmul
  // CHECK-NEXT:   nn.add
  // CHECK-NEXT:   pp.yield
  %w = pp.get_parameter @w : tensor<4x4xf32>
  %e = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %q = nn.matmul %e, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %k = nn.matmul %e, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %v = nn.matmul %e, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %s = nn.matmul %q, %k transpose_rhs : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %p = nn.softmax %s axis 1 : tensor<4x4xf32>
  %a = nn.matmul %p, %v : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %y = nn.add %e, %a : tensor<4x4xf32>
  pp.return outputs ["y"] %y : tensor<4x4xf32>
}

// -----

// A model without contractions is one layer; what follows from inputs alone
// is returned by it too.

// CHECK-LABEL: pp.model @nothing_to_cut
pp.model @nothing_to_cut(%x: tensor<4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK-NEXT: %[[Y:.*]] = pp.block "layer.0" {
  // CHECK-NEXT:   %[[R:.*]] = nn.relu
  // CHECK-NEXT:   pp.yield %[[R]]
  // CHECK-NEXT: } : tensor<4xf32>
  // CHECK-NEXT: pp.return outputs ["y"] %[[Y]]
  %y = nn.relu %x : tensor<4xf32>
  pp.return outputs ["y"] %y : tensor<4xf32>
}

// -----

// One numbered scope around everything tells no layers apart.

// CHECK-LABEL: pp.model @one_scope
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @one_scope(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.block "gpu_0" {
  // CHECK: pp.block "gpu_0.1" {
  %w = pp.get_parameter @w : tensor<4x4xf32>
  %a = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> loc("gpu_0/conv1")
  %b = nn.relu %a : tensor<4x4xf32> loc("gpu_0/relu1")
  %c = nn.matmul %b, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> loc("gpu_0/conv2")
  pp.return outputs ["c"] %c : tensor<4x4xf32>
}
