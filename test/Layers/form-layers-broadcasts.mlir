// RUN: pp-opt %s --pp-form-layers | FileCheck %s
// RUN: pp-opt %s --pp-form-layers --pp-outline-layers | FileCheck %s --check-prefix=ALIKE

// A table that a layer computes is given to others as small as it is, and each
// repeats it for itself: so layers that do the same with it share a function.

// CHECK-LABEL: pp.model @tables
// CHECK: %[[T:.*]]:2 = pp.block "embeddings"
// CHECK: pp.yield %{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<1x4xf32>
// CHECK: pp.block "transformer/h.0"
// CHECK: %[[R0:.*]] = nn.reshape %[[T]]#1 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK: nn.broadcast %[[R0]] : tensor<4xf32> -> tensor<2x4xf32>
// CHECK: pp.yield %{{.*}} : tensor<2x4xf32>
// CHECK: pp.block "transformer/h.1"
// CHECK: %[[R1:.*]] = nn.reshape %[[T]]#1 : tensor<1x4xf32> -> tensor<4xf32>
// CHECK: nn.broadcast %[[R1]] : tensor<4xf32> -> tensor<2x4xf32>

// ALIKE: pp.layer "transformer/h.0" @[[F:.*]](%{{.*}}) parameters [@w0]
// ALIKE: pp.layer "transformer/h.1" @[[F]](%{{.*}}) parameters [@w1]

pp.parameter @wte : tensor<16x4xf32> = dense<0.0> : tensor<16x4xf32>
pp.parameter @table : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w0 : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.parameter @w1 : tensor<4x4xf32> = dense<0.0> : tensor<4x4xf32>
pp.model @tables(%ids: tensor<2xi64> = #pp.input_spec<"ids", axis = 0>, %at: tensor<1x4xf32> = #pp.input_spec<"at", axis = -1>) {
  %wte = pp.get_parameter @wte : tensor<16x4xf32>
  %x = nn.gather %wte, %ids axis 0 : tensor<16x4xf32>, tensor<2xi64> -> tensor<2x4xf32> loc("/transformer/wte/Gather")
  %table = pp.get_parameter @table : tensor<4x4xf32>
  %t = nn.matmul %at, %table : tensor<1x4xf32>, tensor<4x4xf32> -> tensor<1x4xf32> loc("/transformer/rotary/MatMul")
  %r = nn.reshape %t : tensor<1x4xf32> -> tensor<4xf32> loc("/transformer/h.0/Reshape")
  %b = nn.broadcast %r : tensor<4xf32> -> tensor<2x4xf32> loc("/transformer/h.0/Expand")
  %w0 = pp.get_parameter @w0 : tensor<4x4xf32>
  %p0 = nn.mul %x, %b : tensor<2x4xf32> loc("/transformer/h.0/Mul")
  %m0 = nn.matmul %p0, %w0 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/transformer/h.0/fc/MatMul")
  %w1 = pp.get_parameter @w1 : tensor<4x4xf32>
  %p1 = nn.mul %m0, %b : tensor<2x4xf32> loc("/transformer/h.1/Mul")
  %m1 = nn.matmul %p1, %w1 : tensor<2x4xf32>, tensor<4x4xf32> -> tensor<2x4xf32> loc("/transformer/h.1/fc/MatMul")
  pp.return outputs ["y"] %m1 : tensor<2x4xf32>
}
