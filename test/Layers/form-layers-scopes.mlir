// RUN: pp-opt %s --split-input-file --pp-form-layers | FileCheck %s

// Nodes are grouped by the numbered scope in their names. The residual
// addition at the end of h.0 has no scope and ends the layer whose values it
// joins; the look-up comes before the first layer, the logits after the last.

// CHECK-LABEL: pp.model @scoped_nodes
pp.parameter @"transformer.wte.weight" : tensor<16x4xf32> = dense<0.0> : tensor<16x4xf32>
pp.parameter @"transformer.h.0.fc.weight" : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @"transformer.h.1.fc.weight" : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @scoped_nodes(%ids: tensor<2xi64> = #pp.input_spec<"ids", axis = 0>) {
  %wte = pp.get_parameter @"transformer.wte.weight" : tensor<16x4xf32>
  // CHECK-NEXT: %[[X0:.*]] = pp.block "transformer/wte" {
  // CHECK-NEXT:   %[[WTE:.*]] = pp.get_parameter @transformer.wte.weight
  // CHECK-NEXT:   %[[X:.*]] = nn.gather %[[WTE]], %{{.*}} axis 0
  // CHECK-NEXT:   pp.yield %[[X]]
  // CHECK-NEXT: } : tensor<2x4xf32>
  %x = nn.gather %wte, %ids axis 0 : tensor<16x4xf32>, tensor<2xi64> -> tensor<2x4xf32> loc("/transformer/wte/Gather")
  // CHECK-NEXT: %[[X1:.*]] = pp.block "transformer/h.0" {
  // CHECK:        %[[M:.*]] = nn.matmul %[[X0]]
  // CHECK-NEXT:   %[[A:.*]] = nn.add %[[X0]], %[[M]]
  // CHECK-NEXT:   pp.yield %[[A]]
  %w0 = pp.get_parameter @"transformer.h.0.fc.weight" : tensor<4x4xf32>
  %m0 = nn.matmul %x, %w0 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/transformer/h.0/fc/MatMul")
  %a0 = nn.add %x, %m0 : tensor<2x4xf32> loc("Add_5")
  // CHECK:      %[[X2:.*]] = pp.block "transformer/h.1" {
  // CHECK:        nn.matmul %[[X1]]
  // CHECK:        nn.add %[[X1]]
  %w1 = pp.get_parameter @"transformer.h.1.fc.weight" : tensor<4x4xf32>
  %m1 = nn.matmul %a0, %w1 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/transformer/h.1/fc/MatMul")
  %a1 = nn.add %a0, %m1 : tensor<2x4xf32> loc("/transformer/h.1/Add")
  // CHECK:      %[[Y:.*]] = pp.block "lm_head" {
  // CHECK:        %[[TIED:.*]] = pp.get_parameter @transformer.wte.weight
  // CHECK:        nn.matmul %[[X2]], %[[TIED]] transpose_rhs
  %y = nn.matmul %a1, %wte transpose_rhs : tensor<2x4xf32>, tensor<16x4xf32> -> tensor<2x16xf32> loc("/lm_head/MatMul")
  // CHECK:      pp.return outputs ["y"] %[[Y]]
  pp.return outputs ["y"] %y : tensor<2x16xf32>
}

// -----

// What lies before and after the layers in several scopes has a name of its
// own; what no scope names between its ops stays with them.

// CHECK-LABEL: pp.model @embeddings_and_head
// CHECK: pp.block "embeddings"
// CHECK: nn.add
// CHECK: pp.block "h.0"
// CHECK: pp.block "head"
// CHECK: nn.gather
// CHECK-COUNT-2: nn.matmul
pp.parameter @w : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @embeddings_and_head(%ids: tensor<4xi64> = #pp.input_spec<"ids", axis = 0>) {
  %w = pp.get_parameter @w : tensor<4x4xf32>
  %wte = nn.gather %w, %ids axis 0 : tensor<4x4xf32>, tensor<4xi64> -> tensor<4x4xf32> loc("/wte/Gather")
  %wpe = nn.gather %w, %ids axis 0 : tensor<4x4xf32>, tensor<4xi64> -> tensor<4x4xf32> loc("/wpe/Gather")
  %e = nn.add %wte, %wpe : tensor<4x4xf32> loc("/Add")
  %h = nn.matmul %e, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> loc("/h.0/MatMul")
  %first = nn.constant dense<0> : tensor<1xi64>
  %t = nn.gather %h, %first axis 0 : tensor<4x4xf32>, tensor<1xi64> -> tensor<1x4xf32> loc("/Gather")
  %f = nn.matmul %t, %w : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<1x4xf32> loc("/pooler/MatMul")
  %r = nn.relu %f : tensor<1x4xf32> loc("/Relu")
  %y = nn.matmul %r, %w : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<1x4xf32> loc("/classifier/MatMul")
  pp.return outputs ["y"] %y : tensor<1x4xf32>
}

// -----

// Flat node names: the scopes of the parameters count. The product with an
// unnamed weight goes with the bias that is added to it, and so does the view
// of its operand; the activation ends the layer that it follows.

// CHECK-LABEL: pp.model @scoped_parameters
pp.parameter @"onnx::MatMul_1" : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @"bert.layer.0.fc.bias" : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.parameter @"onnx::MatMul_2" : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @"bert.layer.1.fc.bias" : tensor<4xf32> = dense<0.0> : tensor<4xf32>
pp.model @scoped_parameters(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK:      %[[X1:.*]] = pp.block "bert/layer.0" {
  // CHECK:        nn.matmul
  // CHECK:        nn.add
  // CHECK-NEXT:   nn.relu
  // CHECK-NEXT:   pp.yield
  %w0 = pp.get_parameter @"onnx::MatMul_1" : tensor<4x4xf32>
  %m0 = nn.matmul %x, %w0 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("MatMul_1")
  %b0 = pp.get_parameter @"bert.layer.0.fc.bias" : tensor<4xf32>
  %b0b = nn.broadcast %b0 : tensor<4xf32> -> tensor<2x4xf32> loc("Add_2")
  %a0 = nn.add %m0, %b0b : tensor<2x4xf32> loc("Add_2")
  // CHECK:      pp.block "bert/layer.1" {
  // CHECK-NEXT:   nn.reshape %[[X1]]
  // CHECK:        nn.matmul
  // CHECK:        nn.add
  // CHECK:      pp.return
  %r0 = nn.relu %a0 : tensor<2x4xf32> loc("Relu_3")
  %w1 = pp.get_parameter @"onnx::MatMul_2" : tensor<4x4xf32>
  %v1 = nn.reshape %r0 : tensor<2x4xf32> -> tensor<2x4xf32> loc("MatMul_4")
  %m1 = nn.matmul %v1, %w1 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("MatMul_4")
  %b1 = pp.get_parameter @"bert.layer.1.fc.bias" : tensor<4xf32>
  %b1b = nn.broadcast %b1 : tensor<4xf32> -> tensor<2x4xf32> loc("Add_5")
  %a1 = nn.add %m1, %b1b : tensor<2x4xf32> loc("Add_5")
  pp.return outputs ["y"] %a1 : tensor<2x4xf32>
}

// -----

// A mask that follows from a model input is computed in each layer that uses
// it; only the activations cross.

// CHECK-LABEL: pp.model @mask_is_copied
pp.parameter @"h.0.weight" : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @"h.1.weight" : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @mask_is_copied(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>, %m: tensor<4xi64> = #pp.input_spec<"m", axis = 0>) {
  %zero = nn.constant dense<0> : tensor<4xi64>
  %c = nn.compare eq %m, %zero : tensor<4xi64> -> tensor<4xi1>
  %mask = nn.broadcast %c : tensor<4xi1> -> tensor<4x4xi1>
  %f = nn.constant dense<0.0> : tensor<4x4xf32>
  // CHECK:      %[[X1:.*]] = pp.block "h.0" {
  // CHECK:        nn.matmul
  // CHECK:        nn.compare eq
  // CHECK:        nn.broadcast
  // CHECK:        nn.select
  // CHECK:      } : tensor<4x4xf32>
  %w0 = pp.get_parameter @"h.0.weight" : tensor<4x4xf32>
  %m0 = nn.matmul %x, %w0 : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> loc("h.0/MatMul")
  %s0 = nn.select %mask, %f, %m0 : tensor<4x4xi1>, tensor<4x4xf32> loc("h.0/Where")
  // CHECK:      pp.block "h.1" {
  // CHECK:        nn.matmul %[[X1]]
  // CHECK:        nn.compare eq
  // CHECK:        nn.broadcast
  // CHECK:        nn.select
  %w1 = pp.get_parameter @"h.1.weight" : tensor<4x4xf32>
  %m1 = nn.matmul %s0, %w1 : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32> loc("h.1/MatMul")
  %s1 = nn.select %mask, %f, %m1 : tensor<4x4xi1>, tensor<4x4xf32> loc("h.1/Where")
  pp.return outputs ["y"] %s1 : tensor<4x4xf32>
}
