// RUN: pp-opt %s --split-input-file --pp-annotate-costs="device=%inputs/even-device.toml" | FileCheck %s

// Without a derivative, B and W cost as much as the contractions of F. The
// product does 2*2*4*8 FLOPs on 32 + 128 + 64 bytes, which take longer; the
// activation does 16 on 64 + 64.

// CHECK: module attributes {pp.phase = #pp.phase<cost>}
// CHECK-LABEL: pp.model @forward_only
pp.parameter @w : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>
pp.model @forward_only(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.layer "fc" {{.*}} cost <flops_f = 144, flops_b = 128, flops_w = 128, picoseconds_f = 352000, picoseconds_b = 224000, picoseconds_w = 224000, activation_bytes = 64, residual_bytes = 128, picoseconds_r = 128000, selective_bytes = 64, source = formula>
  %y = pp.layer "fc" @fc(%x) parameters [@w] : (tensor<2x4xf32>) -> tensor<2x8xf32>
  pp.return outputs ["y"] %y : tensor<2x8xf32>
}
nn.function @fc(%x: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %m = nn.matmul %x, %w : tensor<2x4xf32>, tensor<4x8xf32> -> tensor<2x8xf32>
  %r = nn.relu %m : tensor<2x8xf32>
  nn.return %r : tensor<2x8xf32>
}

// -----

// With a derivative, each role is priced by its own function. Kept for
// backward are what F saves (64 bytes) and the argument that W reads; the
// model input of the first layer is there anyway.

// CHECK-LABEL: pp.model @with_derivative
pp.parameter @w trainable : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @with_derivative(%x: tensor<4x4xf32> = #pp.input_spec<"x", axis = 0>) {
  // CHECK: pp.layer "fc1" {{.*}} cost <flops_f = 288, flops_b = 128, flops_w = 144, {{.*}} activation_bytes = 64, residual_bytes = 64, selective_bytes = 64, source = formula>
  // CHECK: pp.layer "fc2" {{.*}} cost <flops_f = 288, flops_b = 128, flops_w = 144, {{.*}} activation_bytes = 64, residual_bytes = 128, selective_bytes = 128, input_bytes = 64, source = formula>
  %h = pp.layer "fc1" @fc(%x) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = pp.layer "fc2" @fc(%h) parameters [@w] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %y : tensor<4x4xf32>
}
nn.function @fc(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %t = nn.tanh %m : tensor<4x4xf32>
  nn.return %t : tensor<4x4xf32>
}
nn.function @fc.f(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %m = nn.matmul %x, %w : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %t = nn.tanh %m : tensor<4x4xf32>
  nn.return %t, %m : tensor<4x4xf32>, tensor<4x4xf32>
}
nn.function @fc.b(%dy: tensor<4x4xf32>, %m: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %dx = nn.matmul %dy, %w transpose_rhs : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  nn.return %dx : tensor<4x4xf32>
}
nn.function @fc.w(%dy: tensor<4x4xf32>, %x: tensor<4x4xf32>, %dw: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %g = nn.matmul %x, %dy transpose_lhs : tensor<4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
  %a = nn.accumulate %dw, %g : tensor<4x4xf32>
  nn.return %a : tensor<4x4xf32>
}
nn.derivative @fc forward @fc.f
  backward @fc.b operands [#nn.operand<cotangent 0>, #nn.operand<saved 0>, #nn.operand<argument 1>] gradients [0]
  weight @fc.w operands [#nn.operand<cotangent 0>, #nn.operand<argument 0>, #nn.operand<accumulator 1>] gradients [1]

// -----

// Two rows read two of eight matrices, however they are routed: 2*2*4*8 FLOPs
// on 32 + 16 + 2*128 + 64 bytes.

// CHECK-LABEL: pp.model @experts
pp.parameter @w : tensor<8x4x8xf32> = dense<0.0> : tensor<8x4x8xf32>
pp.model @experts(%x: tensor<2x4xf32> = #pp.input_spec<"x", axis = 0>, %e: tensor<2xi64> = #pp.input_spec<"e", axis = 0>) {
  // CHECK: pp.layer "moe" {{.*}} cost <flops_f = 128, flops_b = 128, flops_w = 128, picoseconds_f = 368000,
  %y = pp.layer "moe" @moe(%x, %e) parameters [@w] : (tensor<2x4xf32>, tensor<2xi64>) -> tensor<2x8xf32>
  pp.return outputs ["y"] %y : tensor<2x8xf32>
}
nn.function @moe(%x: tensor<2x4xf32>, %e: tensor<2xi64>, %w: tensor<8x4x8xf32>) -> tensor<2x8xf32> {
  %m = nn.expert_matmul %x, %w, %e : tensor<2x4xf32>, tensor<8x4x8xf32>, tensor<2xi64> -> tensor<2x8xf32>
  nn.return %m : tensor<2x8xf32>
}

// -----

// To find which of three rows is at which of four places reads 24 bytes and
// writes 32, and 24 of them again; to move rows of 16 bytes reads 48 + 32 and
// writes 64.

// CHECK-LABEL: pp.model @moved_rows
pp.model @moved_rows(%x: tensor<3x4xf32> = #pp.input_spec<"x", axis = 0>, %to: tensor<3xi64> = #pp.input_spec<"to", axis = 0>) {
  // CHECK: pp.layer "move" {{.*}} cost <flops_f = 0, flops_b = 0, flops_w = 0, picoseconds_f = 224000,
  %y = pp.layer "move" @move(%x, %to) parameters [] : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<4x4xf32>
  pp.return outputs ["y"] %y : tensor<4x4xf32>
}
nn.function @move(%x: tensor<3x4xf32>, %to: tensor<3xi64>) -> tensor<4x4xf32> {
  %from = nn.invert_indices %to : tensor<3xi64> -> tensor<4xi64>
  %y = nn.permute_rows %x, %from, %to : tensor<3x4xf32>, tensor<4xi64>, tensor<3xi64> -> tensor<4x4xf32>
  nn.return %y : tensor<4x4xf32>
}
